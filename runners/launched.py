"""A server that is up and the client beside it, and what the server told of itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from runners.benchmarks import server as asking
from runners.benchmarks import tools
from runners.benchmarks.client import ClientBrokenError, Tool
from runners.benchmarks.profile import NotProfiledError, batch_of, profiled
from runners.benchmarks.repeat import Bench, Repeat
from runners.benchmarks.server import ServerRefusedError, ServerSilentError
from runners.preflight import communication
from runners.preflight import serving as serving_checks
from runners.preflight.capacity import compared, estimate
from runners.preflight.communication import Heard
from runners.preflight.layers import Breaks, Check, Skipped
from runners.preflight.serving import Answer
from runners.run_job import LayerBrokenError, Prepared, Stop, StoppedError
from runners.stacks.container import EngineError
from runners.stacks.keeper import descendants
from runners.stacks.kept import NotStartedError
from runners.stacks.overlay import OverlayError, require_served, with_overlay
from runners.stacks.plugin_lines import complaint, plugins_of
from runners.stacks.profiling import with_profiling
from runners.stacks.server import LOOPBACK, Server, ServerError
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.redaction import redacted_bytes
from service.domain.resolution import Fact
from service.domain.stack import Stack
from service.formats.communications import ARTEFACT as COMMUNICATION
from service.formats.orders import JobOrder
from service.formats.reports import GateFinding
from service.formats.tools.server_start import resolved

# A server has told what it settled long before its log is as long as this.
START_LOG_BYTES = 4 * 2**20
# A log is looked through for secrets in pieces of whole lines.
PIECE_BYTES = 2**20
PROFILER = "the server's profiler was asked for one batch"


@dataclass(frozen=True, slots=True)
class Told:
    """What a server told of itself once it was up. has_metrics: whether it offers its counters."""

    server_info: Mapping[str, Any]
    resolution: Mapping[str, Fact]
    has_metrics: bool


def told_by(server: asking.Server, log: Path, *, inherited: Mapping[str, str]) -> Told:
    """Ask a server what it settled, and look into what it wrote while it started.

    inherited: variables of the host that it saw, and that neither stack nor condition asked for.
    Raises ServerSilentError and ServerRefusedError.
    """
    info, metrics = server.info(), server.counters()
    with log.open("rb") as stream:
        start = stream.read(START_LOG_BYTES).decode(errors="replace")
    settled = resolved(info, log=start, metrics=metrics)
    seen = {f"environment.{name}": value for name, value in inherited.items()}
    return Told(info, {**settled, **seen}, metrics is not None)


def texts_of(order: JobOrder, prepared: Prepared, told: Told, heard: Heard) -> Mapping[str, bytes]:
    """Return what is kept of a launch beside its log: what decides its cards' messages."""
    first = order.condition_of(order.launch.cells[0])
    found = communication.seen(prepared.model, first, told.resolution, heard)
    return {} if found is None else {COMMUNICATION: found.model_dump_json(indent=1).encode()}


def require_plugin(log: Path, *, stack: Stack, expects: Sequence[str]) -> None:
    """Raise LayerBrokenError when a server is up with part of its plugin missing.

    log: as it is once the server is up. expects: what the stack file asks the log to hold.
    """
    with log.open("rb") as stream:
        start = stream.read(START_LOG_BYTES).decode(errors="replace")
    found = complaint(start, plugins=plugins_of(stack), expects=expects)
    if found is not None:
        raise LayerBrokenError(found.layer, found.finding, found.remedy)


def require_overlay(prepared: Prepared, pid: int, *, variables: Mapping[str, str]) -> None:
    """Raise LayerBrokenError unless a server has loaded the wheels laid over its Python, if any.

    pid: of the server, or of the program that runs it in an image. variables: of the launch.
    """
    if prepared.overlay is None:
        return
    try:
        image = prepared.contained
        roots = frozenset({pid}) if image is None else image.pids()
        pids = roots.union(*map(descendants, roots))
        require_served(prepared.overlay, pids, prepared.python, variables)
    except EngineError as error:
        raise LayerBrokenError(Layer.RUNTIME, str(error)) from error
    except OverlayError as error:
        raise LayerBrokenError(Layer.PACKAGES, str(error), error.remedy) from error


@dataclass(frozen=True, slots=True)
class ServerAndClient:
    """A server that is up and the client beside it; what breaks names its layer.

    kept: texts of the launch, by name.
    """

    server: Server
    bench: Bench
    told: Told
    kept: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def start_up_s(self) -> float:
        """How long the server took to come up."""
        return self.server.started_seconds

    def info(self) -> Mapping[str, Any]:
        """Return what the server says of itself."""
        return self.told.server_info

    def resolution(self) -> Mapping[str, Fact]:
        """Return what the server settled by itself."""
        return self.told.resolution

    def texts(self) -> Mapping[str, bytes]:
        """Return what is kept of the launch, by name."""
        return self.kept

    def capacity(self, conditions: Sequence[Condition]) -> Check:
        """Return the check of the room in the KV cache."""
        settled, cards = self.told.resolution, conditions[0].cards.count if conditions else 1
        before = estimate(Path(self.bench.target.model_path), conditions, cards=cards)
        beside = compared(settled, before)
        return Check(Layer.CAPACITY, lambda _: serving_checks.capacity(settled, conditions, beside))

    def answer(self) -> Answer:
        """Return what the fixed prompts gave."""
        try:
            return serving_checks.answer(self.bench.server)
        except (ServerRefusedError, KeyError, TypeError, ValueError) as error:
            return Answer(Breaks(f"{type(error).__name__}: {error}"))

    def answer_under(self, condition: Condition) -> Answer:
        """Return what the fixed prompts gave in batches as full as a condition's load."""
        try:
            return serving_checks.answer_under(self.bench.server, condition)
        except (ServerRefusedError, KeyError, TypeError, ValueError) as error:
            # It was measured all the same: that such a batch is refused breaks nothing.
            return Answer(Skipped(f"not asked under load: {type(error).__name__}: {error}"))

    def probe(self, condition: Condition) -> tuple[GateFinding, ...]:
        """Return a failure unless a cell's exact lengths are served."""
        return self.bench.probe(condition)

    def repeat(
        self, condition: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        """Measure one repeat; a failed one is a broken layer if it took the server along."""
        repeat = self.bench.repeat(condition, name=name, seed=seed, stopped=stopped)
        # Values of a server that is gone would be those of another one that took its port.
        self.server.require_alive()
        if not repeat.values and not self.bench.server.healthy():
            finding = f"the server is not healthy any more: {repeat.findings[0].message}"
            # Its log says why; the process itself may take a moment more to be gone.
            raise ServerError(finding, log=self.server.log)
        return repeat

    def profile(self, condition: Condition, *, name: str, on_cards: bool) -> Mapping[str, bytes]:
        """Return what one batch told under the server's profiler; one that fails is no result.

        Raises ServerError where the server went with it, and LayerBrokenError where its profiler
        left nothing that tells anything.
        """
        try:
            return profiled(
                self.bench.server,
                batch_of(condition),
                self.bench.folder / name,
                ranks=condition.cards.count,
                on_cards=on_cards,
            )
        except (NotProfiledError, ServerRefusedError, ServerSilentError) as error:
            # Whoever starts a profiler may end a scheduler: then its log says why.
            if not self.bench.server.healthy():
                raise ServerError(f"{PROFILER}: {error}", log=self.server.log) from error
            raise LayerBrokenError(Layer.SERVER, f"{PROFILER}: {error}") from error


def variables_of(order: JobOrder, prepared: Prepared) -> Mapping[str, str]:
    """Return a server's variables: those ordered, and with wheels and a profiler laid beside it.

    Raises LayerBrokenError.
    """
    ordered = with_overlay(order.launch.server_environment, prepared.overlay)
    if not order.launch.profile:
        return ordered
    try:
        return with_profiling(ordered, prepared.python, folder=prepared.folder)
    except OverlayError as error:
        raise LayerBrokenError(Layer.PACKAGES, str(error), error.remedy) from error


def tools_of(order: JobOrder) -> list[Tool]:
    """Return the tools that drive an order's cells, each once."""
    conditions = [order.condition_of(cell) for cell in order.launch.cells]
    return list(dict.fromkeys(tools.tool_of(condition) for condition in conditions))


def target_of(server: Server, model: Path) -> tools.Target:
    """Return a server as a tool is told of it."""
    address = urlsplit(server.base_url)
    return tools.Target(address.hostname or LOOPBACK, address.port or 80, str(model))


@contextmanager
def layers_named(stop: Stop) -> Iterator[None]:
    """Turn what a server or a client raises into the layer it tells of, unless we stop anyway."""
    try:
        yield
    except ServerError as error:
        raise _stopped_or(stop, error.layer, error, error.remedy) from error
    except (ServerSilentError, ServerRefusedError, NotStartedError) as error:
        raise _stopped_or(stop, Layer.SERVER, error) from error
    except ClientBrokenError as error:
        raise _stopped_or(stop, Layer.CLIENT, error) from error


def _stopped_or(stop: Stop, layer: Layer, error: Exception, remedy: str = "") -> RuntimeError:
    if stop.given():
        return StoppedError(stop.reason)
    return LayerBrokenError(layer, str(error), remedy)


def end_of(path: Path, size: int) -> bytes:
    """Return the last bytes of a file; none where there is no such file."""
    if not path.is_file():
        return b""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - size))
        return stream.read()


@contextmanager
def kept_without_secrets(folder: Path) -> Iterator[None]:
    """Take secrets out of the files of a launch once nobody writes to them any more."""
    try:
        yield
    finally:
        for path in (*folder.glob("*.log"), *folder.glob("*.jsonl")):
            _without_secrets(path)


def _without_secrets(path: Path) -> None:
    clean = path.with_name(f".{path.name}")
    changed = False
    with path.open("rb") as stream, clean.open("wb") as output:
        while piece := stream.read(PIECE_BYTES):
            whole_lines = piece + stream.readline()
            written = redacted_bytes(whole_lines)
            changed = changed or written != whole_lines
            output.write(written)
    if changed:
        clean.replace(path)
    else:
        clean.unlink()
