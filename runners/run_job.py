"""One job, from its order to its reports: the straight script."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from runners import reports
from runners.benchmarks.repeat import Repeat, RepeatStoppedError
from runners.benchmarks.rotation import rotated
from runners.benchmarks.tools import UnsupportedTrafficError
from runners.devices.device import Card
from runners.preflight.layers import Check, Found, broken, checked
from runners.preflight.serving import Answer, saturating
from runners.stacks.container import Contained
from runners.stacks.overlay import Overlay
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.resolution import Fact
from service.formats.known_failures import remedy_of
from service.formats.orders import CellOrder, JobOrder, Progress
from service.formats.reports import Broken, GateFinding, LaunchReport, LayerFinding, RunReport

# The fixed prompts are the first that a server computes, so kernels may be compiled for them.
ANSWER_LIMIT_S = 300.0
# Full batches of the largest load are computed as often as the fixed prompts need.
LOADED_LIMIT_S = 1800.0
CPU = "cpu"


class StoppedError(RuntimeError):
    """The launch is to stop at once: its job was cancelled or lost, or the runner is to end."""


class LayerBrokenError(RuntimeError):
    """A layer of the stack does not work. That is a result, and it is reported as one."""

    def __init__(self, layer: Layer, finding: str, remedy: str = "") -> None:
        super().__init__(f"{layer}: {finding}")
        self.layer = layer
        self.finding = finding
        self.remedy = remedy or remedy_of(finding)


class Stop:
    """The sign to stop, which any thread may give; the first reason is kept."""

    def __init__(self) -> None:
        self._event = Event()
        self.reason = ""

    def give(self, reason: str) -> None:
        """Ask the launch to stop."""
        self.reason = self.reason or reason
        self._event.set()

    def given(self) -> bool:
        """Return whether somebody asked for a stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise StoppedError if somebody asked for a stop."""
        if self.given():
            raise StoppedError(self.reason)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is ready before a launch: two Pythons, the model's files, a folder of this launch.

    observed: versions by component name, as seen on the host and inside the measured Python.
    program: what starts the server in place of SGLang's own. contained: how both are run in an
    image; None outside of one. cards: those of the launch, with their numbers inside torch.
    overlay: wheels that are laid over the measured Python; None where there are none.
    """

    python: Path
    client_python: Path
    model: Path
    folder: Path
    observed: Mapping[str, str]
    program: Path | None = None
    contained: Contained | None = None
    cards: Sequence[Card] = ()
    overlay: Overlay | None = None


class Launched(Protocol):
    """A server that is up, and the client beside it."""

    @property
    def start_up_s(self) -> float:
        """How long the server took to come up."""
        ...

    def info(self) -> Mapping[str, Any]:
        """Return what the server says of itself."""
        ...

    def resolution(self) -> Mapping[str, Fact]:
        """Return what the server settled by itself."""
        ...

    def texts(self) -> Mapping[str, bytes]:
        """Return what is kept of the launch beside its log, by name."""
        ...

    def capacity(self, conditions: Sequence[Condition]) -> Check:
        """Return the check of the room in the KV cache."""
        ...

    def answer(self) -> Answer:
        """Return what the fixed prompts gave."""
        ...

    def answer_under(self, condition: Condition) -> Answer:
        """Return what the fixed prompts gave in batches as full as a condition's load."""
        ...

    def probe(self, condition: Condition) -> tuple[GateFinding, ...]:
        """Return a failure unless a cell's exact lengths are served."""
        ...

    def repeat(
        self, condition: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        """Measure one repeat."""
        ...

    def profile(self, condition: Condition, *, name: str, on_cards: bool) -> Mapping[str, bytes]:
        """Return what one batch of a cell told under the server's profiler, as texts by name."""
        ...


Tell = Callable[[Progress], None]


class Steps(Protocol):
    """What a job needs of the host. Each step raises LayerBrokenError when its layer breaks."""

    @property
    def host(self) -> str:
        """The host's name."""
        ...

    def prepare(self, order: JobOrder, tell: Tell) -> Prepared:
        """Build the environments and bring the model here."""
        ...

    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        """Return the checks to be made before anything is started."""
        ...

    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> AbstractContextManager[Launched]:
        """Bring client and server up; on leaving, no process of the server is left."""
        ...

    def let_go(self, idle_s: float) -> None:
        """Let go of what stands by for a next launch, where none came for so long."""
        ...

    def server_log(self, prepared: Prepared) -> bytes:
        """Return what the server wrote; nothing where it was never started."""
        ...


@dataclass(slots=True)
class Job:
    """A job under way: its order, how to reach out of it, and what is known so far."""

    order: JobOrder
    steps: Steps
    deliver: Callable[[RunReport | LaunchReport], None]
    progress: Tell
    stop: Stop
    now: Callable[[], datetime]
    notes: reports.LaunchNotes
    reported: set[CellOrder]

    def tell(self, told: Progress) -> None:
        """Say how far the job is. Raises StoppedError when it is to stop: steps tell often."""
        self.stop.check()
        self.progress(told)

    def report_run(self, cell: CellOrder, report: RunReport) -> None:
        """Deliver a cell's report and remember that it has one."""
        self.deliver(report)
        self.reported.add(cell)


def run_job(
    order: JobOrder,
    steps: Steps,
    *,
    deliver: Callable[[RunReport | LaunchReport], None],
    progress: Tell,
    stop: Stop,
    now: Callable[[], datetime],
) -> None:
    """Bring a stack up, measure its cells, and deliver a report of each and one of the launch.

    A stack that breaks is a report as well: it names the layer, for the launch and for each cell
    that was not measured.
    Raises StoppedError once everything it started is gone; cells that were not complete then have
    no report and are measured again, in a new launch.
    """
    notes = reports.LaunchNotes(order, steps.host, started_at=now())
    job = Job(order, steps, deliver, progress, stop, now, notes, set())
    try:
        _measure(job)
    except LayerBrokenError as error:
        notes.broken = reports.broken_at(error.layer, error.finding, error.remedy)
        for cell in order.launch.cells:
            if cell not in job.reported:
                report = reports.broken_run(order, cell, at=now(), broken=notes.broken)
                job.report_run(cell, report)
    notes.stopped_at = now()
    deliver(notes.report())


def _measure(job: Job) -> None:
    order, steps = job.order, job.steps
    job.tell(Progress(phase="build", text="looking for what is built already", fraction=0.0))
    prepared = steps.prepare(order, job.tell)
    # What is built is built once, and is nobody's card time.
    job.notes.started_at = job.now()
    job.notes.observed = prepared.observed
    _pass(job, steps.checks(order, prepared))
    job.tell(Progress(phase="start", text="starting the server", fraction=None))
    with _log_kept(job, prepared), steps.launched(order, prepared, job.tell, job.stop) as launched:
        _look(job, launched)
        too_large = _too_large(job, launched)
        _ask(job, launched)
        job.deliver(job.notes.report())
        for cell, at in too_large.items():
            job.report_run(cell, reports.broken_run(job.order, cell, at=job.now(), broken=at))
        if order.launch.profile:
            _profile_cells(job, launched)
        else:
            _measure_cells(job, launched)
        job.progress(Progress(phase="stop", text="stopping the server", fraction=None))


@contextmanager
def _log_kept(job: Job, prepared: Prepared) -> Iterator[None]:
    """Keep the server's log once it is down, whatever took it down."""
    try:
        yield
    finally:
        job.notes.server_log = job.steps.server_log(prepared)


def _pass(job: Job, checks: Sequence[Check]) -> None:
    """Make checks and note them. Raises LayerBrokenError at the first that breaks."""

    def tell(layer: Layer) -> None:
        job.tell(Progress(phase="preflight", text=f"checking {layer}"))

    findings = checked(checks, before_each=tell)
    job.notes.preflight += findings
    if worst := broken(findings):
        raise LayerBrokenError(worst.layer, worst.finding, worst.remedy)


def _look(job: Job, launched: Launched) -> None:
    """Note what the server settled."""
    job.notes.start_up_s = launched.start_up_s
    job.notes.server_info = launched.info()
    job.notes.resolution = launched.resolution()
    job.notes.texts = launched.texts()


def _too_large(job: Job, launched: Launched) -> Mapping[CellOrder, Broken]:
    """Return the cells that the KV cache cannot hold, broken at capacity; the others go on.

    Raises LayerBrokenError when it holds none of them.
    """
    order = job.order
    found: dict[CellOrder, Broken] = {}
    for cell in order.launch.cells:
        if worst := broken(checked([launched.capacity([order.condition_of(cell)])])):
            found[cell] = reports.broken_at(worst.layer, worst.finding, worst.remedy)
    # Where none fits, it is the launch that breaks; else it is checked with those that do.
    kept = [cell for cell in order.launch.cells if cell not in found] or list(found)
    _pass(job, [launched.capacity([order.condition_of(cell) for cell in kept])])
    return found


def _ask(job: Job, launched: Launched) -> None:
    """Check the server's answers before any load."""
    healthy = LayerFinding(
        layer=Layer.SERVER, state="works", finding="healthy", seconds=launched.start_up_s
    )
    job.notes.preflight += (healthy,)

    def find(_limit_s: float) -> Found:
        answer = launched.answer()
        job.notes.answer = answer.log_probabilities
        return answer.found

    _pass(job, [Check(Layer.ANSWER, find, limit_s=ANSWER_LIMIT_S)])


def _measure_cells(job: Job, launched: Launched) -> None:
    """Measure every repeat of every cell, rotated; report a cell once its repeats are complete."""
    left = [cell for cell in job.order.launch.cells if cell not in job.reported]
    cells = [cell for cell in left if not _refused(job, launched, cell)]
    turns = rotated([len(cell.seeds) for cell in cells])
    done: dict[int, list[Repeat]] = {number: [] for number in range(len(cells))}
    for position, turn in enumerate(turns):
        cell = cells[turn.cell]
        text = f"cell {turn.cell + 1} of {len(cells)}, repeat {turn.repeat + 1}"
        told = Progress(phase="measure", text=text, fraction=position / len(turns))
        job.tell(told)
        done[turn.cell].append(_repeat(job, launched, cell, turn.repeat))
        if len(done[turn.cell]) == len(cell.seeds):
            job.report_run(cell, reports.run_report(job.order, cell, done[turn.cell]))
    _ask_under_load(job, launched, [job.order.condition_of(cell) for cell in cells])


def _profile_cells(job: Job, launched: Launched) -> None:
    """Let each cell pass once under the profiler; its run says so, and holds no value."""
    cells = [cell for cell in job.order.launch.cells if cell not in job.reported]
    for number, cell in enumerate(cells):
        text = f"cell {number + 1} of {len(cells)} under the profiler"
        job.tell(Progress(phase="measure", text=text, fraction=number / len(cells)))
        begun = job.now()
        texts = launched.profile(
            job.order.condition_of(cell),
            name=f"{cell.condition_key[:12]}-profile",
            on_cards=job.order.stack.chip != CPU,
        )
        report = reports.profiled_run(job.order, cell, begun=begun, ended=job.now(), texts=texts)
        job.report_run(cell, report)


def _ask_under_load(job: Job, launched: Launched, conditions: Sequence[Condition]) -> None:
    """Ask the fixed prompts once more in a full batch, when no figure can be touched any more."""
    condition = saturating(conditions)
    if condition is None:
        return

    def find(_limit_s: float) -> Found:
        answer = launched.answer_under(condition)
        job.notes.loaded_answer = reports.loaded_answer(condition, answer.log_probabilities)
        return answer.found

    _pass(job, [Check(Layer.ANSWER, find, limit_s=LOADED_LIMIT_S)])


def _refused(job: Job, launched: Launched, cell: CellOrder) -> bool:
    """Return whether a cell cannot be measured as ordered; that is reported, and nothing else."""
    job.tell(Progress(phase="measure", text="probing the exact lengths", fraction=0.0))
    findings = launched.probe(job.order.condition_of(cell))
    if findings:
        report = reports.failed_run(job.order, cell, at=job.now(), findings=findings)
        job.report_run(cell, report)
    return bool(findings)


def _repeat(job: Job, launched: Launched, cell: CellOrder, number: int) -> Repeat:
    condition = job.order.condition_of(cell)
    name = f"{cell.condition_key[:12]}-{cell.protocol_key[:6]}-{number + 1}"
    try:
        return launched.repeat(
            condition, name=name, seed=cell.seeds[number], stopped=job.stop.given
        )
    except RepeatStoppedError as error:
        raise StoppedError(job.stop.reason) from error
    except UnsupportedTrafficError as error:
        at = job.now().timestamp()
        finding = GateFinding(
            code="unsupported_traffic",
            severity="failure",
            message=str(error),
            observed=condition.traffic.load,
            required="",
        )
        return Repeat(cell.seeds[number], at, at, 0.0, {}, (finding,), {})
