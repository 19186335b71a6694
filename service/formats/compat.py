"""The compatibility table as the API answers it: stacks, cells, pivots, histories."""

from datetime import date
from typing import Self
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveInt

from service.domain.compat import CellCompat, CompatState
from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.formats.compat_words import Said
from service.formats.identities import Key
from service.formats.messages import Message


class CompatCell(Message):
    """One stack in one cell; ratios, positive is worse; nats a token for the answers.

    layer, finding: where it broke and what was seen, or why runs of an untested cell do not count.
    usable, broken, spoiled: runs that may be judged, that broke, that count for nothing. metric
    and the four after it: the metric that worsened most against the baseline. distance: how far
    answers moved from the baseline's, asked one by one; distance_tolerance: what launches of one
    stack differ by; the three loaded: the same at saturation, with so many requests in flight.
    run_id, host, measured_at: the newest run, which is the evidence.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    cards: NonNegativeInt
    state: CompatState
    layer: Layer | None
    finding: str
    usable: NonNegativeInt
    broken: NonNegativeInt
    spoiled: NonNegativeInt
    baseline_stack_key: Key | None
    outcome: Outcome | None
    metric: str | None
    worsening: float | None
    low: float | None
    high: float | None
    tolerance: float | None
    kv_tokens: NonNegativeInt | None
    distance: float | None
    distance_tolerance: float | None
    loaded_distance: float | None = None
    loaded_tolerance: float | None = None
    loaded_concurrency: PositiveInt | None = None
    measured_at: AwareDatetime | None
    host: str | None
    run_id: UUID | None

    @classmethod
    def of(cls, found: CellCompat, *, title: str, cards: int) -> Self:
        """Return a cell as it is answered."""
        worst, idle, loaded = found.worst, found.quality.idle, found.quality.loaded
        return cls(
            condition_key=found.cell.condition_key,
            protocol_key=found.cell.protocol_key,
            title=title,
            cards=cards,
            state=found.state,
            layer=found.layer,
            finding=found.finding,
            usable=found.seen.usable,
            broken=found.seen.broken,
            spoiled=found.seen.spoiled,
            baseline_stack_key=found.baseline_stack_key,
            outcome=found.outcome,
            metric=worst.metric if worst else None,
            worsening=worst.worsening.center if worst else None,
            low=worst.worsening.low if worst else None,
            high=worst.worsening.high if worst else None,
            tolerance=worst.tolerance if worst else None,
            kv_tokens=found.kv_tokens,
            distance=idle.distance if idle else None,
            distance_tolerance=idle.tolerance if idle else None,
            loaded_distance=loaded.distance if loaded else None,
            loaded_tolerance=loaded.tolerance if loaded else None,
            loaded_concurrency=found.quality.concurrency,
            measured_at=found.measured_at,
            host=found.host,
            run_id=found.run_id,
        )


class CompatTold(Message):
    """What is told of a stack for one model on one kind of card, as it is kept.

    cells: how many in each state. chief: the cell that speaks for them: the lowest broken layer,
    else the worst worsening. kv_tokens: the fewest of any cell.
    """

    cells: dict[CompatState, NonNegativeInt] = Field(default_factory=dict)
    chief: CompatCell | None = None
    kv_tokens: NonNegativeInt | None = None
    distance: float | None = None
    distance_tolerance: float | None = None
    loaded_distance: float | None = None
    loaded_tolerance: float | None = None
    loaded_concurrency: PositiveInt | None = None


class CompatEntry(Message):
    """One line of the table. model, card_model: None for a stack without a run anywhere.

    contradictions: where what was measured and what somebody declared are at odds;
    contradicted: the same in both languages.
    """

    stack_key: Key
    stack_name: str
    chip: str
    built_at: date
    card_model: str | None
    model: str | None
    state: CompatState
    measured_at: AwareDatetime | None
    told: CompatTold
    components: dict[str, str]
    contradictions: tuple[str, ...] = ()
    contradicted: tuple[Said, ...] = ()


class CompatPage(Message):
    """Lines of the table, the newest built first; cursor asks for more and is None at the end.

    due: stacks about which something changed and that are being told anew.
    """

    entries: tuple[CompatEntry, ...]
    cursor: str | None
    due: NonNegativeInt = 0


class CompatCells(Message):
    """One stack, cell by cell."""

    stack_key: Key
    stack_name: str
    cells: tuple[CompatCell, ...]


class CompatPivotSquare(Message):
    """Stacks with one version of each of two components: how many are in each state."""

    row: str
    column: str
    states: dict[CompatState, NonNegativeInt]
    measured_at: AwareDatetime | None


class CompatPivot(Message):
    """The table turned: versions of one component down, of another across."""

    row: str
    column: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    squares: tuple[CompatPivotSquare, ...]


class CompatPast(Message):
    """One stack in the history of a cell. version: of the component that is followed."""

    stack_key: Key
    stack_name: str
    built_at: date
    version: str | None
    cell: CompatCell


class CompatHistory(Message):
    """A cell's stacks, oldest built first, and in a sentence where it turned, in both languages."""

    condition_key: Key
    title: str
    component: str | None
    sentence: str
    said: Said
    past: tuple[CompatPast, ...]
