"""What an event lists that can be measured again: the orders of both stacks, as they once ran."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from service.domain.cell import Cell
from service.domain.confirm import Suspect
from service.domain.key import content_key
from service.domain.metric import METRICS
from service.domain.regime import regime_of
from service.domain.screen import EVERY
from service.formats.orders import CellOrder, LaunchOrder
from service.store import events, jobs, launches, looks, runs
from service.store.database import ReadSession
from service.store.events import StoredEvent, StoredMoved
from service.store.jobs import StoredJob
from service.store.runs import StoredRun
from service.store.series import SeriesKey
from service.usecases.screen_memory import WATCHED
from service.usecases.sides import JUDGED

# As many runs of each stack, and listed series, as are looked through.
RUNS = 5_000
SERIES = 500


@dataclass(frozen=True, slots=True)
class Ordered:
    """How a stack was last measured in a cell: the order of its launch, and what it took.

    start_s, measure_s: seconds until the server answered, and of the cell.
    """

    session_id: UUID
    launch: LaunchOrder
    cell: CellOrder
    start_s: float
    measure_s: float


@dataclass(frozen=True, slots=True)
class Measurable:
    """A suspect that both stacks were measured in, and how."""

    suspect: Suspect
    baseline: Ordered
    candidate: Ordered


def measurable(
    session: ReadSession, event: StoredEvent, baseline: str, candidate: str
) -> tuple[Measurable, ...]:
    """Return the series of an event that moved its way and that both stacks have a launch of.

    Where the sum of a group alarmed and lists none, those of the group. What was imported, or
    measured on another host, has no order that could be given again.
    """
    moved = _listed(session, event) or _of_group(session, event)
    keys = {each.series.cell.condition_key for each in moved}
    before = last_ordered(session, baseline, keys, event.host)
    after = last_ordered(session, candidate, keys, event.host)
    found = (
        _measurable(each, before[each.series.cell], after[each.series.cell])
        for each in moved
        if each.series.cell in before and each.series.cell in after
    )
    return tuple(found)


def _listed(session: ReadSession, event: StoredEvent) -> list[StoredMoved]:
    return [
        each
        for each in events.moved(session, [event.id])[:SERIES]
        if each.series.host == event.host and _is_suspect(each, event)
    ]


def _of_group(session: ReadSession, event: StoredEvent) -> list[StoredMoved]:
    """Return the series of the group whose sum alarmed: all alike, so the cheapest come first.

    Many cells may move together, each too little to be listed by itself.
    """
    size = event.change or 0.0
    looked = looks.runs(session, [event.seen_look], metrics=WATCHED)[event.seen_look]
    cells = dict.fromkeys((run.cell, metric) for run in looked for metric in run.medians)
    found = [
        StoredMoved(
            event.id, SeriesKey(cell, metric, event.host), _as_value(size, metric), 1.0,
            event.change_look,
        )
        for cell, metric in cells
        if event.trigger in {EVERY, regime_of(metric)}
    ]  # fmt: skip
    return found[:SERIES]


def _as_value(worsening: float, metric: str) -> float:
    """Return the change of a value that is a worsening: direction is turned both ways alike."""
    return METRICS[metric].worsening(worsening)


def _is_suspect(moved: StoredMoved, event: StoredEvent) -> bool:
    metric = METRICS[moved.series.metric]
    return metric in JUDGED and (metric.worsening(moved.change) > 0) is event.worse


def _measurable(moved: StoredMoved, before: Ordered, after: Ordered) -> Measurable:
    return Measurable(
        suspect=Suspect(
            cell=moved.series.cell,
            metric=moved.series.metric,
            evidence=moved.evidence,
            group=content_key([_server(before.launch), _server(after.launch)]),
            start_s=max(before.start_s, after.start_s),
            measure_s=max(before.measure_s, after.measure_s),
            cards=max(before.launch.cards, after.launch.cards),
            change=METRICS[moved.series.metric].worsening(moved.change),
        ),
        baseline=before,
        candidate=after,
    )


def _server(launch: LaunchOrder) -> Mapping[str, object]:
    """Return what a server is started with: cells of the same one share a launch."""
    return launch.model_dump(mode="json", exclude={"cells"})


def last_ordered(
    session: ReadSession, stack_key: str, condition_keys: Collection[str], host: str
) -> Mapping[Cell, Ordered]:
    """Return how a stack was last measured in each cell of some conditions on a host."""
    found = runs.of_stack(session, stack_key, conditions=condition_keys, host=host, limit=RUNS)
    newest = {run.cell: run for run in found if run.may_be_judged and not run.is_imported}
    start_s = launches.start_ups(session, {run.launch_id for run in newest.values()})
    asked = {
        job_id: jobs.read(session, job_id)
        for job_id in {run.job_id for run in newest.values()}
        if job_id is not None
    }
    return {
        cell: ordered
        for cell, run in newest.items()
        if run.job_id is not None
        and (ordered := _order_of(run, asked[run.job_id], start_s.get(run.launch_id, 0.0)))
    }


def _order_of(run: StoredRun, job: StoredJob, start_s: float) -> Ordered | None:
    launch = LaunchOrder.model_validate(job.launch)
    cells: Sequence[CellOrder] = [
        cell for cell in launch.cells if Cell(cell.condition_key, cell.protocol_key) == run.cell
    ]
    measure_s = (run.finished_at - run.measured_at).total_seconds()
    return Ordered(job.session_id, launch, cells[0], start_s, measure_s) if cells else None
