"""Looks at this host, layer by layer: `python -m runners.preflights`, child of the command line.

stdin: a question; stdout: its answer, one JSON document each. stderr is for the person who waits.
Settings are the runner's, so its cache is looked into, and its cards are held meanwhile.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from runners.cards import CardsTakenError, HostTakenError, held_cards, held_host
from runners.config import Settings
from runners.devices.allocation import AllocationError, allocated
from runners.devices.device import (
    Card,
    Device,
    DeviceInterfaceError,
    UnknownChipError,
    device_for,
)
from runners.devices.host import DeviceError
from runners.launch_checks import (
    Ground,
    card_layers,
    host_layers,
    packages_layer,
    plugin_layer,
    skipped,
    without_platform,
)
from runners.preflight.capacity import RANK_BYTES
from runners.preflight.card_numbers import LIMIT_S as NUMBERS_LIMIT_S
from runners.preflight.card_numbers import numbered
from runners.preflight.layers import Breaks, Check, broken, checked
from runners.preflight.limits import HostLimits
from runners.refusal import refused, wrong
from runners.stacks import container
from runners.stacks.container import EngineError
from runners.stacks.environment import BUILD_ERRORS, Recipe, build, built
from runners.stacks.host import NotOnHostError
from runners.stacks.measured import ProbeError
from runners.stacks.provision import Site, device_nodes, found_program, provisioned
from runners.stacks.provision import observed as seen_inside
from service.client import RefusedError, ServiceAwayError, connected
from service.domain.difference import ABSENT
from service.domain.layer import Layer
from service.domain.redaction import redacted_text
from service.domain.release import ReleasesApartError
from service.domain.stack import Stack, SwapScope
from service.formats.identities import BuildOrder, ContainerOrder, HostOrder, StackOrder
from service.formats.preflights import PreflightAnswer, PreflightQuestion

INSIDE = (
    Layer.PACKAGES,
    Layer.CLIENT,
    Layer.MEMORY,
    Layer.COPY,
    Layer.STREAM,
    Layer.OPERATOR,
    Layer.GRAPH,
    Layer.COLLECTIVES,
    Layer.PLUGIN,
)
ABOVE = (Layer.WEIGHTS, Layer.CAPACITY, Layer.SERVER, Layer.ANSWER)
NO_STACK = "no stack is named: --stack says inside which Python to look"
NO_MODEL = "it is looked at when a plan's model is served"
NO_ENGINE = "check the container engine, KUNLINE_REGISTRY and the image's digest"
NO_CLIENT = "the client belongs to a plan and is looked at with it"


ANYWAY = "--anyway looks all the same"
# A service that does not answer so soon is away, and nobody is kept waiting for it.
ASKED_S = 3.0


class NotBuiltError(LookupError):
    """The environment of a stack is not on this host."""


class NotNowError(RuntimeError):
    """The cards of this host are others' now."""


REFUSED = (
    NotNowError,
    CardsTakenError,
    HostTakenError,
    UnknownChipError,
    DeviceInterfaceError,
    OSError,
)


def main() -> int:
    """Answer the question on stdin; a layer that is broken is an answer as well."""
    try:
        settings = Settings()
        question = PreflightQuestion.model_validate_json(sys.stdin.buffer.read())
    except ValidationError as error:
        return wrong("these settings or this question", error)
    try:
        if not question.anyway:
            require_now(settings, now=datetime.now(UTC))
        answer = answered(question, settings)
    except REFUSED as error:
        return refused(error)
    sys.stdout.write(answer.model_dump_json())
    return 0


def require_now(settings: Settings, *, now: datetime) -> None:
    """Raise NotNowError outside the host's window, and while a runner of it is drained.

    Whether one is, is asked of the service that is set; one that is away says nothing.
    """
    if settings.window is not None and not settings.window.is_open(now):
        raise NotNowError(f"the window of this host is closed now; {ANYWAY}")
    drained = _drained(settings) if "url" in settings.model_fields_set else ()
    if drained:
        names = ", ".join(drained)
        raise NotNowError(
            f"this host is being drained ({names}): `kunline host resume` takes it back; {ANYWAY}"
        )


def _drained(settings: Settings) -> Sequence[str]:
    token = settings.token.get_secret_value() if settings.token else None
    try:
        with connected(settings.url, token=token, timeout_s=ASKED_S) as client:
            every = client.runners()
    except (ServiceAwayError, RefusedError, ReleasesApartError, ValidationError) as error:
        log(f"whether this host is drained is not known: {error}")
        return ()
    ours = (runner for runner in every if runner.host == settings.host_name)
    return [runner.name for runner in ours if runner.state == "draining"]


def answered(question: PreflightQuestion, settings: Settings) -> PreflightAnswer:
    """Return what each layer shows of the cards that are ours.

    Raises CardsTakenError and HostTakenError while a runner measures.
    """
    device = device_for(question.chip)
    try:
        every = allocated(device.cards(), settings.allocated, os.environ)
    except DeviceError as error:
        amiss = Breaks(str(error), "make the vendor's tool answer on this host first")
        return _answer([Check(Layer.DEVICE, lambda _: amiss)])
    except AllocationError as error:
        other = Breaks(str(error), "ask whoever allocates, or set KUNLINE_ALLOCATED")
        return _answer([Check(Layer.DEVICE, lambda _: other)])
    asked = question.cards or max(len(every), 1)
    with (
        held_host(settings.lock_dir, alone=False),
        held_cards(
            every,
            chip=question.chip,
            count=min(asked, len(every)),
            folder=settings.lock_dir,
            wait_s=0,
        ) as cards,
        ExitStack() as ends,
    ):
        checks = settings.limits.given(_checks(question, settings, device, cards, asked, ends))
        return _answer([_within(check, question.limit_s) for check in checks])


def _within(check: Check, limit_s: float | None) -> Check:
    return replace(check, limit_s=min(check.limit_s, limit_s or check.limit_s))


def _answer(checks: Sequence[Check]) -> PreflightAnswer:
    findings = checked(checks, before_each=lambda at: log(f"checking {at}"))
    worst = broken(findings)
    return PreflightAnswer(layers=findings, broken_at=worst.layer if worst else None)


def log(text: str) -> None:
    """Tell the person who waits."""
    sys.stderr.write(f"kunline: {text}\n")


def _checks(
    question: PreflightQuestion,
    settings: Settings,
    device: Device,
    cards: Sequence[Card],
    asked: int,
    ends: ExitStack,
) -> Sequence[Check]:
    """Return the checks of every layer. ends: what is to be ended once they are made."""
    below = _ground(question.stack, device, cards, asked, limits=settings.limits)
    lower = host_layers(below)
    if question.stack is None:
        return (*lower, *skipped(INSIDE, NO_STACK), *skipped(ABOVE, NO_MODEL))
    try:
        python = _python(question.stack, question, settings, cards, ends)
        installed = seen_inside(question.stack, python, below.variables)
    except EngineError as error:
        amiss = Breaks(redacted_text(str(error)), NO_ENGINE)
        return (*lower, Check(Layer.RUNTIME, lambda _: amiss))
    except (NotBuiltError, NotOnHostError, ProbeError, *BUILD_ERRORS) as error:
        amiss = Breaks(redacted_text(str(error)), "build it with --build, or put it there")
        return (*lower, Check(Layer.PACKAGES, lambda _: amiss))
    observed = _with_absent(question.stack.stack, {**installed, **below.observed})
    limit_s = min(NUMBERS_LIMIT_S, question.limit_s or NUMBERS_LIMIT_S)
    cards = numbered(device, cards, python, without_platform(below.variables), limit_s)
    ground = replace(below, held=cards, observed=observed, python=python)
    return (
        *host_layers(ground),
        packages_layer(ground),
        *skipped([Layer.CLIENT], NO_CLIENT),
        *card_layers(ground),
        plugin_layer(ground),
        *skipped(ABOVE, NO_MODEL),
    )


def _ground(
    order: StackOrder | None,
    device: Device,
    cards: Sequence[Card],
    asked: int,
    *,
    limits: HostLimits,
) -> Ground:
    """Return what is there below a measured Python; ours stands for it until that is known."""
    passed_on = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
    own = {name: os.environ[name] for name in passed_on if name in os.environ}
    built_here = order.build if order else None
    return Ground(
        stack=order.stack if order else Stack("none", ()),
        device=device,
        held=cards,
        asked=asked,
        python=Path(sys.executable),
        variables={**own, **(order.stack.server_environment if order else {})},
        platform=built_here.platform if isinstance(built_here, BuildOrder) else None,
        observed=device.facts(),
        needed_bytes=RANK_BYTES,
        limits=limits,
    )


def _python(
    order: StackOrder,
    question: PreflightQuestion,
    settings: Settings,
    cards: Sequence[Card],
    ends: ExitStack,
) -> Path:
    """Return the measured Python of a stack on this host: found, built, or of its image.

    Raises NotOnHostError for one that is not there, NotBuiltError for one that is not built, and
    EngineError for an image that cannot be run.
    """
    if isinstance(order.build, HostOrder | ContainerOrder):
        home = Path(ends.enter_context(TemporaryDirectory(prefix="kunline-preflight-")))
        nodes = device_nodes(question.chip, cards)
        cache = settings.cache_dir
        site = Site(home.name, settings.registry, nodes, home, (cache,), os.environ, cache)
        there = provisioned(order.build, order.launch, site)
        ends.callback(container.end, there.contained)
        return there.python
    if isinstance(order.build, BuildOrder) and question.lock is not None:
        python = _built(order, order.build, question.lock, settings, build_it=question.build)
    else:
        raise NotBuiltError(f"stack {order.stack.name} says of no Python on this host")
    found_program(order.launch, python, os.environ)
    return python


def _built(
    order: StackOrder, wanted: BuildOrder, lock: bytes, settings: Settings, *, build_it: bool
) -> Path:
    recipe = Recipe(lock, wanted.torch, wanted.platform)
    environment = built(recipe, cache=settings.cache_dir)
    if environment is None and not build_it:
        raise NotBuiltError(f"stack {order.stack.name} is not built here")
    environment = environment or build(
        recipe,
        cache=settings.cache_dir,
        variables=os.environ,
        progress=lambda text, _fraction: log(redacted_text(text)),
    )
    return environment.python


def _with_absent(stack: Stack, observed: Mapping[str, str]) -> Mapping[str, str]:
    """Return what was observed, and '(absent)' for packages that are pinned and not there."""
    absent = {
        each.name: ABSENT
        for each in stack.components
        if not each.recorded and each.scope is SwapScope.PROCESS and each.name not in observed
    }
    return {**observed, **absent}


if __name__ == "__main__":
    sys.exit(main())
