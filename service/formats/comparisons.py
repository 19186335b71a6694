"""Comparisons of what is stored: per cell whether and how it changed, or why it is not judged."""

from typing import Literal, Self
from uuid import UUID

from service.domain.creep import Creep
from service.domain.verdict import Outcome
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.verdicts import ComparisonRead, DifferenceRead

# The baseline stack measured in the same session, the pinned baseline's stored launches, or
# whatever is stored of the two sides that were asked for.
Against = Literal["control", "pinned", "stored"]


class CreepRead(Message):
    """A metric beyond its tolerance since the baseline, to which the last step added less.

    worsening, low, high: against the baseline; step: against the last accepted stack. Ratios,
    positive is worse.
    """

    metric: str
    worsening: float
    low: float
    high: float
    step: float
    tolerance: float

    @classmethod
    def of(cls, creep: Creep) -> Self:
        """Return a creep as it is answered."""
        return cls(
            metric=creep.metric,
            worsening=creep.worsening,
            low=creep.low,
            high=creep.high,
            step=creep.step,
            tolerance=creep.tolerance,
        )


class CellComparison(Message):
    """One cell of a candidate stack against its baseline.

    baseline_stack_key: None where no baseline is known. resolution: what the two servers settled
    differently by themselves, which may explain a change. accepted: the candidate against the last
    stack that was accepted between the two, None where there is none. creep: the metrics whose sum
    of steps is beyond the tolerance, and no step of them.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    candidate_stack_key: Key
    candidate_stack_name: str
    baseline_stack_key: Key | None
    baseline_stack_name: str | None
    host: str | None
    against: Against | None
    baseline_launches: int
    candidate_launches: int
    resolution: tuple[DifferenceRead, ...]
    comparison: ComparisonRead
    accepted_stack_key: Key | None = None
    accepted_stack_name: str | None = None
    accepted: ComparisonRead | None = None
    creep: tuple[CreepRead, ...] = ()


class SessionVerdicts(Message):
    """Every cell of a session's candidate stacks, in the order of its plan."""

    session_id: UUID
    finished: bool
    outcome: Outcome
    cells: tuple[CellComparison, ...]


class CellsCompared(Message):
    """Two runs or two stacks compared; where no condition is shared, only the fields that differ.

    baseline, candidate: the run ids or stack keys, in full.
    """

    baseline: str
    candidate: str
    comparable: bool
    outcome: Outcome
    differences: tuple[DifferenceRead, ...]
    cells: tuple[CellComparison, ...]
