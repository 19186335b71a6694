"""The checks before a server is started, from the metal up to the plugin, for one set of cards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from runners.devices.device import Card, Device
from runners.preflight import host as host_checks
from runners.preflight import links, xccl_perf
from runners.preflight.card_numbers import said
from runners.preflight.card_probe import CardProbes
from runners.preflight.communication import Heard
from runners.preflight.layers import Breaks, Check, Found, Skipped, Works, not_on
from runners.preflight.limits import HostLimits
from runners.preflight.measured import WRONG, MeasuredPython
from runners.preflight.xccl_perf import XcclPerfError
from runners.run_job import Prepared
from runners.stacks.measured import ProbeError, measured_versions
from runners.stacks.plugin_check import kernel_check, plugin_check
from runners.stacks.staging import noted, unlike
from runners.stacks.weights import tokenizer_digest, weights_digest
from service.domain.difference import ABSENT
from service.domain.layer import Layer
from service.domain.stack import Stack
from service.formats.orders import ModelOrder

CPU = "cpu"
# Each layer's own limit. The first of a card waits for torch to be imported and the card to start.
CARD_LAYERS = (
    (Layer.COPY, 60.0),
    (Layer.STREAM, 60.0),
    (Layer.OPERATOR, 60.0),
    (Layer.GRAPH, 60.0),
)
BEFORE_TORCH = frozenset({"SGLANG_PLATFORM", "SGLANG_USE_XPU"})
FIRST_LIMIT_S = 120.0
COLLECTIVES_LIMIT_S = 180.0
PLUGIN_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Ground:
    """What a server would stand on. held: our cards. asked: how many of them it would use.

    python and variables: the measured environment. platform: the distribution of ours that brings
    SGLang's platform, or None. observed: versions by component. heard: filled by the check of
    collectives.
    """

    stack: Stack
    device: Device
    held: Sequence[Card]
    asked: int
    python: Path
    variables: Mapping[str, str]
    platform: str | None
    observed: Mapping[str, str]
    needed_bytes: int
    limits: HostLimits = field(default_factory=HostLimits)
    heard: Heard = field(default_factory=Heard)

    @property
    def cards(self) -> Sequence[Card]:
        """The cards that the server would use, in its order."""
        return self.held[: self.asked]


def host_layers(ground: Ground) -> Sequence[Check]:
    """Return the checks that need no measured environment: device, driver and runtime."""
    chip = ground.device.name
    rest_c = ground.limits.rest_c
    health = Check(
        Layer.DEVICE,
        lambda _: host_checks.health(ground.device, ground.held, ground.asked, rest_c=rest_c),
    )
    if chip == CPU:
        why = "a CPU has no such layer of its own"
        return (health, *not_on(chip, (Layer.DRIVER, Layer.RUNTIME), why))
    return (
        health,
        *(Check(layer, partial(_pins, ground, layer)) for layer in (Layer.DRIVER, Layer.RUNTIME)),
    )


def _pins(ground: Ground, layer: Layer, _limit_s: float) -> Found:
    return host_checks.pins(ground.stack, ground.observed, layer)


def packages_layer(ground: Ground) -> Check:
    """Return the check of every pin of the stack."""
    return Check(Layer.PACKAGES, lambda _: host_checks.packages(ground.stack, ground.observed))


def card_layers(ground: Ground) -> Sequence[Check]:
    """Return the checks of memory to collectives, which run inside the measured Python."""
    variables = without_platform(ground.variables)
    probes = CardProbes(ground.python, variables, ground.device, ground.cards)
    memory = Check(
        Layer.MEMORY, lambda limit_s: _memory(ground, probes, limit_s), FIRST_LIMIT_S, probes.end
    )
    return (
        memory,
        *(Check(layer, partial(probes.check, layer), limit) for layer, limit in CARD_LAYERS),
        Check(
            Layer.COLLECTIVES,
            lambda limit_s: _collectives(ground, probes, limit_s),
            COLLECTIVES_LIMIT_S,
        ),
    )


def _memory(ground: Ground, probes: CardProbes, limit_s: float) -> Found:
    room = host_checks.memory(ground.device, ground.cards, needed_bytes=ground.needed_bytes)
    if not isinstance(room, Works):
        return room
    taken = probes.check(Layer.MEMORY, limit_s)
    if not isinstance(taken, Works):
        return taken
    return Works("\n".join(filter(None, (room.finding, said(ground.cards), taken.finding))))


def _collectives(ground: Ground, probes: CardProbes, limit_s: float) -> Found:
    """Check collectives once the processes of the single cards are gone, which hold memory."""
    probes.end()
    chosen = ground.device.environment(ground.cards) if ground.cards else {}
    variables = {**without_platform(ground.variables), **chosen}
    inside, probe = MeasuredPython(ground.python, variables), ground.device.probe()
    found = inside.collectives(
        ground.asked,
        limit_s / 3,
        probe=probe,
        between=host_checks.between(ground.device, ground.cards),
        least_bytes_s=ground.limits.least_bytes_s(ground.device.name),
        heard=partial(setattr, ground.heard, "seconds"),
    )
    if not isinstance(found, Works) or ground.device.name == CPU:
        return found
    ground.heard.links = links.speeds(inside, ground.cards, probe, limit_s / 3)
    named = links.named(found, ground.device, ground.heard.links)
    if not isinstance(named, Works):
        return named
    return _vendor_measured(named, ground.asked, variables, limit_s / 3)


def _vendor_measured(
    found: Works, ranks: int, variables: Mapping[str, str], limit_s: float
) -> Found:
    """Return a finding with what the vendor's own tool measures, where it is on this host."""
    try:
        rows = xccl_perf.measured(ranks, variables, limit_s=limit_s)
    except XcclPerfError as error:
        return Works(f"{found.finding}\nxccl_perf tells nothing: {error}")
    if wrong := [row for row in rows if row.wrong]:
        seen = f"xccl_perf: {wrong[0].wrong} wrong values at {wrong[0].size_bytes} B"
        return Breaks(f"{found.finding}\n{seen}", WRONG)
    return Works("\n".join(filter(None, (found.finding, xccl_perf.sentence(rows)))))


def without_platform(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return variables under which torch comes up alone.

    With these two set, a Kunlun stack's sitecustomize acts before torch is imported, of which its
    launch program's source says that it can corrupt the allocator.
    """
    return {name: value for name, value in variables.items() if name not in BEFORE_TORCH}


def plugin_layer(ground: Ground, *, known: Callable[[float], Found] | None = None) -> Check:
    """Return the check of the plugin. known: what to ask instead of looking it up anew."""
    return Check(Layer.PLUGIN, known or (lambda limit_s: plugin(ground, limit_s)), PLUGIN_LIMIT_S)


def plugin(ground: Ground, limit_s: float) -> Found:
    """Check that SGLang finds the platform, and that all that a plugin hooks is there."""
    platform = MeasuredPython(ground.python, ground.variables).plugin(ground.platform, limit_s)
    if isinstance(platform, Breaks):
        return platform
    names = [each.name for each in ground.stack.components if each.layer is Layer.PLUGIN]
    kernels = [each.name for each in ground.stack.components if each.layer is Layer.OPERATOR]
    if not names:
        return platform
    try:
        hooks = plugin_check(ground.python, names, variables=ground.variables, limit_s=limit_s)
        libraries = kernel_check(
            ground.python, kernels, variables=ground.variables, limit_s=limit_s
        )
    except ProbeError as error:
        return Breaks(str(error), "install the plugin that the stack pins where its Python sees it")
    if hooks.unresolved:
        remedy = "install the plugin's commit that was written for this SGLang, or that SGLang"
        return Breaks(hooks.sentence, remedy)
    if libraries.unresolved:
        remedy = "install kernel packages and torch of one drop: they are linked together"
        return Breaks(libraries.sentence, remedy)
    said = platform.finding if isinstance(platform, Works) else ""
    kernel_words = f"kernels: {libraries.sentence}" if kernels else ""
    return Works("\n".join(filter(None, (said, f"hooks: {hooks.sentence}", kernel_words))))


def skipped(layers: Sequence[Layer], why: str) -> Sequence[Check]:
    """Return checks that say why these layers are not looked at."""
    return tuple(Check(layer, lambda _: Skipped(why)) for layer in layers)


def client_release(prepared: Prepared, wanted: str) -> Found:
    """Check that the client's environment holds the release that was ordered."""
    remedy = "build the client's environment anew"
    try:
        there = measured_versions(prepared.client_python).get("sglang", ABSENT)
    except ProbeError as error:
        return Breaks(str(error), remedy)
    if there != wanted:
        return Breaks(f"client {wanted} is ordered, and {there} is installed", remedy)
    return Works(f"sglang {there}")


def weights(folder: Path, ordered: ModelOrder) -> Found:
    """Check the model's files against the digests ordered, and against what was staged."""
    found = host_checks.weights(
        folder,
        ordered={"tokenizer": ordered.tokenizer_digest, "weights": ordered.weights_digest},
        digest={"tokenizer": tokenizer_digest, "weights": weights_digest},
    )
    note = noted(folder)
    if note is None or not isinstance(found, Works):
        return found
    if changed := unlike(folder, note):
        remedy = f"read it all again: kunline weights check {folder} --full"
        return Breaks(f"not as it was staged: {'; '.join(changed[:3])}", remedy)
    return Works(f"{found.finding}; {len(note.files)} files are as they were staged and hashed")
