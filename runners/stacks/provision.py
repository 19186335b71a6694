"""Where a stack comes from that no runner builds: the host itself, or an image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.devices.device import Card
from runners.stacks.container import Contained, contained
from runners.stacks.facts import stack_facts
from runners.stacks.host import host_program, host_python
from runners.stacks.measured import measured_versions
from runners.stacks.wheels import as_ordered
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
    """

    name: str
    registry: str
    devices: Sequence[str]
    home: Path
    folders: Sequence[Path]
    variables: Mapping[str, str]


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


def observed(order: StackOrder, python: Path, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the versions that a stack's programs tell of, by component. Raises ProbeError."""
    build = order.build
    if isinstance(build, BuildOrder):
        found = as_ordered(measured_versions(python), build.wheels)
    else:
        found = stack_facts(python, variables=variables).observed
    image = {IMAGE: f"{build.image}@{build.digest}"} if isinstance(build, ContainerOrder) else {}
    launcher = {} if order.launch.program is None else {LAUNCHER: order.launch.program}
    return {**found, **image, **launcher}
