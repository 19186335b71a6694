"""The steps of a job as this host takes them: real environments, servers and clients."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from subprocess import SubprocessError
from urllib.parse import urlsplit

from runners import reports
from runners.benchmarks import client as benchmark_client
from runners.benchmarks import server as asking
from runners.benchmarks import tools
from runners.benchmarks.card_watch import CardWatch, Samples, sampled
from runners.benchmarks.client import Tool
from runners.benchmarks.repeat import Bench
from runners.benchmarks.server_facts import ServerFacts, capacity_before, server_facts
from runners.devices.device import Card, Device, DeviceInterfaceError, UnknownChipError, device_for
from runners.launched import ServerAndClient, Told, kept_without_secrets, layers_named, told_by
from runners.preflight import host as host_checks
from runners.preflight.layers import Breaks, Check, Found, Works, not_on
from runners.preflight.measured import MeasuredPython
from runners.run_job import LayerBrokenError, Prepared, Stop, Tell
from runners.stacks import server as servers
from runners.stacks.build_step import BuildStepError
from runners.stacks.environment import NoSpaceError, Recipe, build
from runners.stacks.keeper import descendants
from runners.stacks.kept import NotStartedError
from runners.stacks.measured import ProbeError, measured_versions
from runners.stacks.platform_tree import UnknownPlatformError
from runners.stacks.server_flags import server_flags
from runners.stacks.tiny_model import MAKER, TinyLlama, TinyModelError, made
from runners.stacks.torch_build import UnreadableReportError
from runners.stacks.weights import tokenizer_digest, weights_digest
from service.client import RefusedError
from service.domain.difference import ABSENT
from service.domain.key import content_key, short
from service.domain.layer import Layer
from service.domain.redaction import redacted_text
from service.domain.server_arguments import Arguments, has_other_names, spelled
from service.domain.stack import Stack, SwapScope
from service.formats.identities import BuildOrder
from service.formats.orders import JobOrder, ModelOrder, Progress

LAUNCHES_KEPT = 20
# What a rank needs beside its share of the weights: Python, torch, SGLang, a small KV cache.
RANK_BYTES = 3 * 2**29
CPU = "cpu"
NOT_ON_A_CPU = (Layer.DRIVER, Layer.RUNTIME)
NOT_ON_A_CPU_EITHER = (Layer.COPY, Layer.STREAM)
LOG_READ_BYTES = reports.LOG_TAIL_BYTES
_BUILD_ERRORS = (
    BuildStepError,
    NoSpaceError,
    NotStartedError,
    SubprocessError,
    UnknownPlatformError,
    UnreadableReportError,
)


@dataclass(frozen=True, slots=True)
class HostSteps:
    """The steps on one host. fetch: bytes by digest, from the service. cards: those that are ours.

    A plugin that was found right in an environment is not looked up again: neither can change.
    """

    host: str
    cache: Path
    cards: Sequence[Card]
    variables: Mapping[str, str]
    fetch: Callable[[str], bytes]
    _plugins: dict[tuple[Path, str | None], Found] = field(default_factory=dict)

    def prepare(self, order: JobOrder, tell: Tell) -> Prepared:
        """Build the environments of stack and client, and bring the model here."""
        if order.stack.build is None:
            finding = (
                f"stack {order.stack.stack.name} has no build section that a runner can follow"
            )
            raise LayerBrokenError(Layer.PACKAGES, finding, "measure it on a host that has it")
        device = self._device(order)
        limit_s = order.limits.build_s
        python = self._environment(order.stack.build, tell, Layer.PACKAGES, limit_s=limit_s)
        client_python = self._environment(order.client.build, tell, Layer.CLIENT, limit_s=limit_s)
        tell(Progress(phase="build", text="making the model", fraction=None))
        model = self._model(order.model)
        try:
            observed = {**measured_versions(python), **device.facts()}
        except ProbeError as error:
            raise LayerBrokenError(Layer.PACKAGES, str(error)) from error
        folder = self._launch_folder(order)
        return Prepared(
            python, client_python, model, folder, with_absent(order.stack.stack, observed)
        )

    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        """Return the checks from the metal up to the weights."""
        device, asked = self._device(order), order.launch.cards
        measured = MeasuredPython(prepared.python, self._script_variables(order))
        plugin = order.stack.build.platform if order.stack.build else None
        needed = self._bytes_needed(order, prepared)
        above, between = _skipped(order.stack.chip)
        return (
            Check(Layer.DEVICE, lambda _: host_checks.device(device.name, self.cards, asked)),
            *above,
            Check(
                Layer.PACKAGES,
                lambda _: host_checks.packages(order.stack.stack, prepared.observed),
            ),
            Check(Layer.CLIENT, lambda _: client_release(prepared, order.client.version)),
            Check(
                Layer.MEMORY,
                lambda _: host_checks.memory(device, self._cards(order), needed_bytes=needed),
            ),
            *between,
            Check(Layer.OPERATOR, measured.operator),
            *not_on(order.stack.chip, [Layer.GRAPH], "graphs are not checked by this release"),
            Check(Layer.COLLECTIVES, lambda limit_s: measured.collectives(asked, limit_s)),
            Check(Layer.PLUGIN, lambda limit_s: self._plugin(measured, plugin, limit_s)),
            Check(Layer.WEIGHTS, lambda _: weights(prepared.model, order.model)),
        )

    @contextmanager
    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> Iterator[ServerAndClient]:
        """Bring server and client up; the client imports while the server starts."""
        launch = self._launch(order, prepared)
        environment = benchmark_client.client_environment(self.variables, home=prepared.folder)
        before = sampled(self._device(order).samples)
        with (
            kept_without_secrets(prepared.folder),
            layers_named(stop),
            benchmark_client.client(
                prepared.client_python,
                _tools(order),
                environment=environment,
                log=prepared.folder / "client.log",
            ) as client,
            servers.serving(
                launch,
                inherited=self.variables,
                start_limit_s=order.limits.start_s,
                stop_limit_s=order.limits.stop_s,
                progress=lambda text, fraction: tell(
                    Progress(phase="start", text=text, fraction=fraction)
                ),
            ) as server,
            asking.asked(server.base_url, limit_s=order.limits.repeat_s) as asked,
        ):
            client.wait_ready(limit_s=order.limits.start_s, stopped=stop.given)
            told = told_by(asked, server.log)
            bench = Bench(
                client=client,
                server=asked,
                target=_target(server, prepared.model),
                server_log=server.log,
                folder=prepared.folder,
                environment=environment,
                limit_s=order.limits.repeat_s,
                cards=self._watch(order, server, before),
                settled=self._settled(order, told),
                has_metrics=told.has_metrics,
            )
            yield ServerAndClient(server, bench, told)

    def _watch(self, order: JobOrder, server: servers.Server, before: Samples | None) -> CardWatch:
        return CardWatch(
            self._device(order).samples,
            leased=[card.number for card in self._cards(order)],
            before=before,
            server_pids=lambda: {server.pid, *descendants(server.pid)},
        )

    def _settled(self, order: JobOrder, told: Told) -> ServerFacts:
        """Return what the gates ask of the server, its capacity in the session's other launches."""
        facts = server_facts(told.resolution)
        launch = order.launch.model_dump(mode="json", exclude={"cells"})
        name = content_key({"session": str(order.session_id), "launch": launch})
        before = capacity_before(self.cache / "capacities", name, facts.kv_capacity)
        return replace(facts, kv_capacity_before=before)

    def _launch(self, order: JobOrder, prepared: Prepared) -> servers.Launch:
        """Return what starts the server of an order on its own cards."""
        return servers.Launch(
            python=prepared.python,
            model=prepared.model,
            served_name=order.model.id,
            arguments=self._arguments(order, prepared),
            variables={
                **self._device(order).environment(self._cards(order)),
                **order.launch.server_environment,
            },
            log=prepared.folder / "server.log",
        )

    def _arguments(self, order: JobOrder, prepared: Prepared) -> Arguments:
        """Return the server's arguments as its release calls them; most never had another name."""
        arguments = order.launch.server_arguments
        if not has_other_names(arguments):
            return arguments
        try:
            told = server_flags(prepared.python, cache=self.cache, variables=self.variables)
        except ProbeError:
            return arguments  # the server's own complaint says more than a probe's
        return spelled(arguments, {word for flag in told.flags for word in flag.spellings})

    def server_log(self, prepared: Prepared) -> bytes:
        """Return the end of what the server wrote; nothing where it was never started."""
        path = prepared.folder / "server.log"
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - LOG_READ_BYTES))
            return stream.read()

    def _device(self, order: JobOrder) -> Device:
        try:
            return device_for(order.stack.chip)
        except (UnknownChipError, DeviceInterfaceError) as error:
            raise LayerBrokenError(Layer.DEVICE, str(error)) from error

    def _cards(self, order: JobOrder) -> Sequence[Card]:
        return self.cards[: order.launch.cards]

    def _environment(
        self, ordered: BuildOrder, tell: Tell, layer: Layer, *, limit_s: float
    ) -> Path:
        deadline = time.monotonic() + limit_s

        def progress(text: str, fraction: float | None) -> None:
            if time.monotonic() > deadline:
                finding = f"not built within {limit_s:.0f} s; the last step was: {text}"
                raise LayerBrokenError(
                    layer, finding, "allow more for build_s in the plan's limits"
                )
            tell(Progress(phase="build", text=redacted_text(text)[:400], fraction=fraction))

        try:
            recipe = Recipe(self._lock(ordered.lock), ordered.torch, ordered.platform)
            built = build(recipe, cache=self.cache, variables=self.variables, progress=progress)
        except _BUILD_ERRORS as error:
            remedy = "read the build's log; it is built anew on the next attempt"
            raise LayerBrokenError(layer, str(error), remedy) from error
        except RefusedError as error:
            finding = f"the service does not hand out the lock {short(ordered.lock)}: {error}"
            raise LayerBrokenError(layer, finding, "submit the plan again") from error
        return built.python

    def _lock(self, digest: str) -> bytes:
        """Return a lock's bytes, asked of the service once and kept here under their digest."""
        kept = self.cache / "locks" / digest
        if kept.is_file() and sha256(content := kept.read_bytes()).hexdigest() == digest:
            return content
        content = self.fetch(digest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(f".{os.getpid()}")
        half.write_bytes(content)
        half.rename(kept)
        return content

    def _plugin(self, measured: MeasuredPython, name: str | None, limit_s: float) -> Found:
        known = self._plugins.get((measured.python, name))
        if known is None:
            known = measured.plugin(name, limit_s)
            if isinstance(known, Works):
                self._plugins[measured.python, name] = known
        return known

    def _model(self, ordered: ModelOrder) -> Path:
        if ordered.path is not None:
            return Path(ordered.path)
        maker = dict(ordered.maker or {})
        kind = maker.pop("kind", None)
        if kind != MAKER:
            finding = f"model {ordered.id}: no path, and no maker {kind!r}; there is {MAKER!r}"
            raise LayerBrokenError(Layer.WEIGHTS, finding)
        try:
            shape = TinyLlama(**{name: int(value) for name, value in maker.items()})
        except (TypeError, ValueError, TinyModelError) as error:
            raise LayerBrokenError(Layer.WEIGHTS, f"model {ordered.id}: {error}") from error
        return made(shape, cache=self.cache)

    def _launch_folder(self, order: JobOrder) -> Path:
        """Make the folder of this launch, and drop those of launches long over."""
        launches = self.cache / "launches"
        folder = launches / str(reports.launch_id_of(order))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        every = sorted(launches.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in every[LAUNCHES_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        return folder

    def _script_variables(self, order: JobOrder) -> Mapping[str, str]:
        passed_on = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
        own = {name: self.variables[name] for name in passed_on if name in self.variables}
        device = self._device(order)
        cards = self._cards(order)
        chosen = device.environment(cards) if cards else {}
        return {**own, **chosen, **order.launch.server_environment}

    def _bytes_needed(self, order: JobOrder, prepared: Prepared) -> int:
        """Return what a card must have free; the cores of a CPU share one memory."""
        whole, ranks = host_checks.weights_bytes(prepared.model), order.launch.cards
        share = whole // ranks + RANK_BYTES
        return share * ranks if order.stack.chip == CPU else share


def _skipped(chip: str) -> tuple[Sequence[Check], Sequence[Check]]:
    """Return the checks of the layers that are not looked at on a chip, in two places."""
    if chip == CPU:
        why = "a CPU has no such layer of its own"
        return not_on(chip, NOT_ON_A_CPU, why), not_on(chip, NOT_ON_A_CPU_EITHER, why)
    why = "not checked by this release"
    return not_on(chip, NOT_ON_A_CPU, why), not_on(chip, NOT_ON_A_CPU_EITHER, why)


def with_absent(stack: Stack, observed: Mapping[str, str]) -> Mapping[str, str]:
    """Return what was observed, and '(absent)' for pins of the environment that are not in it."""
    absent = {
        component.name: ABSENT
        for component in stack.components
        if not component.recorded
        and component.scope is SwapScope.PROCESS
        and component.name not in observed
    }
    return {**observed, **absent}


def _tools(order: JobOrder) -> list[Tool]:
    """Return the tools that drive an order's cells, each once."""
    conditions = [order.condition_of(cell) for cell in order.launch.cells]
    return list(dict.fromkeys(tools.tool_of(condition) for condition in conditions))


def _target(server: servers.Server, model: Path) -> tools.Target:
    address = urlsplit(server.base_url)
    return tools.Target(address.hostname or servers.LOOPBACK, address.port or 80, str(model))


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
    """Check the model's files against the digests ordered."""
    return host_checks.weights(
        folder,
        ordered={"tokenizer": ordered.tokenizer_digest, "weights": ordered.weights_digest},
        digest={"tokenizer": tokenizer_digest, "weights": weights_digest},
    )
