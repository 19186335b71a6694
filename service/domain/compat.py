"""The compatibility table: what was seen of a stack in a cell, and of all its cells together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.domain.answer import Quality, Shift
from service.domain.cell import Cell
from service.domain.layer import Layer
from service.domain.stack import Stack
from service.domain.verdict import Outcome
from service.stats.interval import Interval

# What a server calls the tokens that its KV cache holds.
KV_TOKENS = "max_total_num_tokens"
# Packages that people ask for by name; the other hundred come with a lock.
ASKED_FOR = frozenset({"torch", "xpytorch", "xmlir", "transformers", "triton", "python"})


class CompatState(StrEnum):
    """What the table says; members stand in order of precedence over many cells.

    Never typed by a person: it follows from stored runs, and changes when they do.
    """

    BROKEN = "broken"
    REGRESSED = "works, regressed"
    WORKS = "works"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Seen:
    """The runs of one stack in one cell, as far as the table needs them.

    usable, broken, spoiled: runs that may be judged, that broke, and that count for nothing.
    """

    usable: int
    broken: int
    spoiled: int


@dataclass(frozen=True, slots=True)
class Worst:
    """The metric of a cell that worsened most for its tolerance. worsening: a ratio."""

    metric: str
    worsening: Interval
    tolerance: float

    @property
    def weight(self) -> float:
        """How often the tolerance goes into the worsening."""
        return self.worsening.center / self.tolerance


@dataclass(frozen=True, slots=True)
class CellCompat:
    """What the table says of one stack in one cell.

    layer, finding: of the newest broken run; of an untested cell, why its runs do not count.
    outcome, worst, quality: against the baseline, empty where there is none. kv_tokens: the fewest
    that a launch had room for. run_id, host, measured_at: of the newest run, the evidence.
    """

    cell: Cell
    state: CompatState
    layer: Layer | None = None
    finding: str = ""
    seen: Seen = Seen(0, 0, 0)
    baseline_stack_key: str | None = None
    outcome: Outcome | None = None
    worst: Worst | None = None
    kv_tokens: int | None = None
    quality: Quality = field(default_factory=Quality)
    measured_at: datetime | None = None
    host: str | None = None
    run_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """What a deployment serves on what: the model of the cards, and the model's id."""

    card_model: str
    model: str


@dataclass(frozen=True, slots=True)
class StackCompat:
    """What the table says of one stack for one model on one kind of card.

    cells: how many there are in each state. chief: the cell that speaks for all of them: the
    lowest broken layer, else the worst worsening, else the one measured last. quality: of each
    kind the answers that moved most for their tolerance.
    """

    served: Served
    state: CompatState
    cells: Mapping[CompatState, int]
    chief: CellCompat
    kv_tokens: int | None
    quality: Quality
    measured_at: datetime | None


def state_of(seen: Seen, outcome: Outcome | None) -> CompatState:
    """Return what runs and a verdict say of a cell.

    A cell in which a stack ever broke is broken until that run is withdrawn, as it is for every
    verdict: what works on one host of three is not what one deploys. An inconclusive verdict is
    no regression.
    """
    if seen.broken:
        return CompatState.BROKEN
    if not seen.usable:
        return CompatState.UNTESTED
    return CompatState.REGRESSED if outcome is Outcome.REGRESSED else CompatState.WORKS


def together(served: Served, cells: Sequence[CellCompat], *, expected: int = 0) -> StackCompat:
    """Return what some cells of a stack say together; at least one.

    expected: how many cells a baseline is pinned in that the stack has no run in.
    """
    counts = {state: sum(cell.state is state for cell in cells) for state in CompatState}
    counts[CompatState.UNTESTED] += expected
    state = next(state for state in CompatState if counts[state])
    return StackCompat(
        served=served,
        state=state,
        cells={state: count for state, count in counts.items() if count},
        chief=_chief([cell for cell in cells if cell.state is state] or cells),
        kv_tokens=min((cell.kv_tokens for cell in cells if cell.kv_tokens), default=None),
        quality=_moved_most([cell.quality for cell in cells]),
        measured_at=max((cell.measured_at for cell in cells if cell.measured_at), default=None),
    )


def _moved_most(found: Sequence[Quality]) -> Quality:
    def weight(shift: Shift | None) -> float:
        return shift.distance / shift.tolerance if shift else -1.0

    idle = max((each.idle for each in found), key=weight, default=None)
    under = max(found, key=lambda each: weight(each.loaded), default=Quality())
    return Quality(idle, under.loaded, under.concurrency)


def tower(stack: Stack) -> Mapping[str, str]:
    """Return the components that people ask about: all but the packages that a lock brings."""
    return {
        part.name: part.version
        for part in stack.components
        if not part.recorded and (part.layer is not Layer.PACKAGES or part.name in ASKED_FOR)
    }


def _chief(cells: Sequence[CellCompat]) -> CellCompat:
    order = list(Layer)

    def rank(cell: CellCompat) -> tuple[int, float, float]:
        layer = order.index(cell.layer) if cell.layer else len(order)
        weight = cell.worst.weight if cell.worst else float("-inf")
        moment = cell.measured_at.timestamp() if cell.measured_at else 0.0
        return layer, -weight, -moment

    return min(cells, key=rank)


@dataclass(frozen=True, slots=True)
class Told:
    """One stack in the history of a cell. version: of the component that is followed."""

    stack_name: str
    version: str | None
    state: CompatState
    layer: Layer | None


@dataclass(frozen=True, slots=True)
class Until:
    """Where a history turned: the last that worked, and the first after it that did not.

    first_broken is None where the newest that was tested works.
    """

    last_worked: Told | None
    first_broken: Told | None


def turned(history: Iterable[Told]) -> Until:
    """Return where a history turned. history: oldest built first; untested stacks tell nothing."""
    worked: Told | None = None
    broken: Told | None = None
    for told in history:
        if told.state is CompatState.UNTESTED:
            continue
        if told.state is CompatState.BROKEN:
            broken = broken or told
        else:
            worked, broken = told, None
    return Until(worked, broken)
