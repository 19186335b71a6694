"""Confirms: what is asked of them, how far one is, what it cost and what came of it."""

from typing import Self
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from service.domain.confirm import Cost, Ending, State
from service.domain.incident import Direction
from service.domain.verdict import Outcome
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.verdicts import VerdictRead


class CostRead(Message):
    """Launches and card-seconds; the loading of weights is part of each launch."""

    launches: NonNegativeInt
    card_s: NonNegativeFloat

    @classmethod
    def of(cls, cost: Cost) -> Self:
        """Return a cost as it is answered."""
        return cls(launches=cost.launches, card_s=cost.card_s)

    @property
    def cost(self) -> Cost:
        """The cost."""
        return Cost(self.launches, self.card_s)


class ConfirmOrder(Message):
    """Which event's cells are to be measured again by a person's wish, and why.

    launches, card_s: what this one may cost, instead of the service's setting for one event; what
    all may cost in 24 hours holds all the same.
    """

    event_id: UUID
    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)
    launches: PositiveInt | None = Field(default=None, le=2000)
    card_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class ConfirmCell(Message):
    """One metric of one cell that is measured again.

    evidence: of the screen, in standard errors. suspected: the change it saw, a ratio, positive is
    worse. verdict: of the newest look, by launches of this confirm alone; null before the first.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    evidence: float
    suspected: float
    verdict: VerdictRead | None = None
    baseline_launches: NonNegativeInt = 0
    candidate_launches: NonNegativeInt = 0
    run_ids: tuple[UUID, ...] = ()


class ConfirmLook(Message):
    """One planned look. launches: of each arm. confidence: of each cell's interval at this look.

    outcome: null where more launches were to tell.
    """

    launches: NonNegativeInt
    at: AwareDatetime
    confidence: float
    outcome: Outcome | None
    cells: tuple[ConfirmCell, ...]


class ConfirmRead(Message):
    """A confirm. planned: what it costs at most; spent: so far; limit: what it may cost.

    session_id: null where no launch was begun. interleaved: false where canary and control hosts
    spoke, before and after. counts: launches of each arm at the looks planned. burn_in: launches
    of each arm thrown away first. confidence: all cells and looks together. reason: why it waits,
    what it does, or why it ended so; reason_zh: the same in Chinese, what people and stacks said as
    it is. cells: as of the newest look.
    """

    id: UUID
    event_id: UUID
    incident_id: UUID | None
    session_id: UUID | None
    host: str
    direction: Direction
    baseline_stack_key: Key
    baseline_stack_name: str
    candidate_stack_key: Key
    candidate_stack_name: str
    state: State
    outcome: Outcome | None
    ended_by: Ending | None
    reason: str
    reason_zh: str = ""
    interleaved: bool
    counts: tuple[PositiveInt, ...]
    burn_in: NonNegativeInt
    confidence: float
    planned: CostRead
    spent: CostRead
    limit: CostRead
    looks: tuple[ConfirmLook, ...]
    cells: tuple[ConfirmCell, ...]
    asked_by: str
    asked_at: AwareDatetime
    why: str
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None


class ConfirmPage(Message):
    """Confirms, the newest asked first; cursor asks for those before them."""

    confirms: tuple[ConfirmRead, ...]
    cursor: str | None


class ConfirmCounts(Message):
    """How many confirms wait, run, or ended with which word."""

    waiting: NonNegativeInt = 0
    running: NonNegativeInt = 0
    regressed: NonNegativeInt = 0
    improved: NonNegativeInt = 0
    unchanged: NonNegativeInt = 0
    inconclusive: NonNegativeInt = 0

    @property
    def false_alarm_rate(self) -> float | None:
        """How many suspicions that were settled were nothing, a ratio; None where none was."""
        settled = self.regressed + self.improved + self.unchanged
        return self.unchanged / settled if settled else None


class BudgetRead(Message):
    """What confirms may cost. spent: of the last 24 hours; one that runs counts as planned."""

    automatic: bool
    night: CostRead
    each: CostRead
    spent: CostRead
    left: CostRead
