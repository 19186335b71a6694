"""Where a stack comes from that no runner builds: the host itself, or an image."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.devices.device import Card
from runners.stacks.build_step import Progress
from runners.stacks.container import Contained, contained
from runners.stacks.facts import stack_facts
from runners.stacks.host import host_program, host_python
from runners.stacks.measured import measured_versions
from runners.stacks.overlay import Overlay, laid_over, seen_in, with_overlay
from runners.stacks.wheels import as_ordered, put_together
from service.domain.difference import ABSENT
from service.domain.stack import Stack, SwapScope
from service.formats.build_sections import IMAGE
from service.formats.identities import BuildOrder, ContainerOrder, HostOrder, StackOrder
from service.formats.launch_sections import LAUNCHER, LaunchSection

KUNLUN = "kunlun"


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A measured Python, and the program that starts its server where it has one of its own.

    contained: how both are run in an image; None outside of one.
    """

    python: Path
    program: Path | None = None
    contained: Contained | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """What a host gives to a launch. name: the launch's. registry: where images are taken from.

    devices: nodes of its cards. home: a folder of this launch. folders: what it reads besides.
    cache: the runner's; None where no bundle was ever loaded.
    """

    name: str
    registry: str
    devices: Sequence[str]
    home: Path
    folders: Sequence[Path]
    variables: Mapping[str, str]
    cache: Path | None = None


def provisioned(
    order: HostOrder | ContainerOrder, launch: LaunchSection, site: Site
) -> Provisioned:
    """Return the programs of a stack. Raises NotOnHostError and EngineError."""
    if isinstance(order, HostOrder):
        python = host_python(order.python, site.variables)
        return Provisioned(python, found_program(launch, python, site.variables))
    image = contained(
        order,
        launch=site.name,
        registry=site.registry,
        devices=site.devices,
        home=site.home,
        folders=site.folders,
        variables=site.variables,
        cache=site.cache,
    )
    python = image.program(order.python, site.home)
    program = None if launch.program is None else image.program(launch.program, site.home)
    return Provisioned(python, program, image)


def found_program(launch: LaunchSection, python: Path, variables: Mapping[str, str]) -> Path | None:
    """Return the launch program of a stack, None for SGLang's own. Raises NotOnHostError."""
    return None if launch.program is None else host_program(launch.program, python, variables)


def device_nodes(chip: str, cards: Sequence[Card]) -> tuple[str, ...]:
    """Return the device nodes that a container needs for some cards; a CPU has none."""
    if chip != KUNLUN:
        return ()
    minors = [card.number if card.minor is None else card.minor for card in cards]
    return (*(f"/dev/xpu{minor}" for minor in minors), "/dev/xpuctrl")


def overlay_of(
    order: StackOrder,
    python: Path,
    fetch: Callable[[str], bytes],
    *,
    folder: Path,
    variables: Mapping[str, str],
    progress: Progress,
) -> Overlay | None:
    """Return the wheels of an order laid over a host's or an image's Python, None where none are.

    fetch: bytes by digest. folder: of the launch. variables: of its programs.
    Raises OverlayError, WheelDamagedError and RefusedError.
    """
    build = order.build
    if build is None or isinstance(build, BuildOrder) or not build.wheels:
        return None
    wheels = {each: put_together(each, fetch) for each in build.wheels}
    return laid_over(python, wheels, folder=folder, variables=variables, progress=progress)


def observed(
    order: StackOrder, python: Path, variables: Mapping[str, str], overlay: Overlay | None = None
) -> Mapping[str, str]:
    """Return the versions that a stack's programs tell of, by component.

    Raises ProbeError, and OverlayError where anything else is loaded than an overlay brings.
    """
    build = order.build
    if isinstance(build, BuildOrder):
        found = as_ordered(measured_versions(python), build.wheels)
    else:
        found = stack_facts(python, variables=with_overlay(variables, overlay)).observed
    if overlay is not None:
        found = {**found, **seen_in(overlay, python, variables)}
    image = {IMAGE: f"{build.image}@{build.digest}"} if isinstance(build, ContainerOrder) else {}
    launcher = {} if order.launch.program is None else {LAUNCHER: order.launch.program}
    return {**found, **image, **launcher}


def with_absent(stack: Stack, seen: Mapping[str, str]) -> Mapping[str, str]:
    """Return what was observed, and '(absent)' for pins of the environment that are not in it."""
    absent = {
        component.name: ABSENT
        for component in stack.components
        if not component.recorded
        and component.scope is SwapScope.PROCESS
        and component.name not in seen
    }
    return {**seen, **absent}
