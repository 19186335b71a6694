"""What both kinds of dossier rest on: the runs of one side in one cell, and what they tell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from service.domain.advice import CellEvidence
from service.domain.answer import LaunchAnswer, quality
from service.domain.cell import Cell
from service.domain.compat import KV_TOKENS
from service.domain.verdict import Outcome
from service.store import launches, samples
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.sides import JUDGED

Values = Mapping[UUID, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Arm:
    """The runs of one side in one cell, and their judged values."""

    runs: Sequence[StoredRun]
    values: Values

    @property
    def usable(self) -> Sequence[StoredRun]:
        """The runs that may be judged."""
        return [run for run in self.runs if run.may_be_judged]

    @property
    def broken(self) -> Sequence[StoredRun]:
        """The runs that broke."""
        return [run for run in self.runs if run.broken is not None]

    @property
    def launch_count(self) -> int:
        """How many launches count."""
        return len({run.launch_id for run in self.usable})

    @property
    def room(self) -> int | None:
        """The fewest KV tokens that a launch had room for."""
        rooms = [run.resolution.get(KV_TOKENS) for run in self.usable]
        return min((room for room in rooms if isinstance(room, int)), default=None)

    def launches(self, metric: str) -> Sequence[Sequence[float]]:
        """Return a metric's repeats, launch by launch."""
        found: dict[UUID, list[float]] = defaultdict(list)
        for run in self.usable:
            found[run.launch_id] += self.values[run.id].get(metric, ())
        return [sample for sample in found.values() if sample]


NOTHING = Arm((), {})


def arms(session: ReadSession, found: Iterable[StoredRun]) -> Mapping[Cell, Arm]:
    """Return runs of one side as arms, by cell."""
    by_cell: dict[Cell, list[StoredRun]] = defaultdict(list)
    for run in found:
        by_cell[run.cell].append(run)
    names = {metric.name for metric in JUDGED}
    ids = sorted(run.id for its in by_cell.values() for run in its)
    values = samples.of_runs(session, ids, metrics=names)
    return {cell: Arm(its, values) for cell, its in by_cell.items()}


def evidence(
    session: ReadSession, before: Arm, after: Arm, outcome: Outcome
) -> tuple[CellEvidence, str]:
    """Return what a cell's arms are evidence of, and a finding of what is odd; empty for none."""
    moved = quality(_answers(session, before), _answers(session, after))
    found = CellEvidence(
        measured=bool(after.usable),
        broken=bool(after.broken),
        outcome=outcome,
        moved=moved.is_beyond,
        kv_before=before.room,
        kv_after=after.room,
    )
    return found, _finding(after, "; ".join(moved.warnings))


def _finding(after: Arm, moved: str) -> str:
    for run in after.broken:
        told = run.broken or {}
        return f"{told.get('layer')}: {told.get('finding')}"
    drifted = [each for run in after.runs for each in run.drift]
    if drifted and not after.usable:
        each = drifted[0]
        return f"stack drift: {each['field']} {each['baseline']} ≠ {each['candidate']}"
    return moved


def _answers(session: ReadSession, arm: Arm) -> Sequence[LaunchAnswer]:
    return list(launches.answers(session, {run.launch_id for run in arm.usable}).values())
