"""The answer of an attribution: what the two stacks differ in, what was measured, what it was."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt

from service.domain.attribution import CAUSES, Attribution, Cause, Level, Part, State, Step
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.verdicts import VerdictRead

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Person = Annotated[str, Field(min_length=1, max_length=128)]
# A search asks for a combo more than its steps are only where steps interact.
COMBOS_MAX = 200


class PartRead(Message):
    """One thing in which the stacks differ; '(absent)' where one lacks it."""

    name: str
    good: str
    bad: str
    scope: SwapScope

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return a part as it is answered."""
        return cls(name=part.name, good=part.good, bad=part.bad, scope=part.scope)


class StepRead(Message):
    """Parts that move together, one candidate. held: of the host, and nobody said yes."""

    parts: tuple[PartRead, ...]
    held: bool = False

    @classmethod
    def of(cls, step: Step, *, held: bool = False) -> Self:
        """Return a step as it is answered."""
        return cls(parts=tuple(map(PartRead.of, step.parts)), held=held)


class ComboRead(Message):
    """One combo that was measured in turn with the good stack, and where its number lies.

    at_bad: the parts that it has from the bad stack. candidates: the parts among which it was to
    tell. verdict: of the metric that is followed, and None where the combo broke. cached: an
    earlier session had measured it in this way already.
    """

    at_bad: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    stack_key: Key
    stack_name: str
    level: Level
    verdict: VerdictRead | None
    broken: str | None
    session_id: UUID
    cached: bool


class FollowedRead(Message):
    """The cell and metric that is followed: the one in which the bad stack is surest to be worse.

    explained: what the two servers settled differently, told before any combo is measured.
    """

    condition_key: Key
    title: str
    verdict: VerdictRead
    session_id: UUID
    cached: bool
    explained: tuple[str, ...]


class AttributionAnswer(Message):
    """What an attribution came to.

    outcome: of the bad stack against the good one. followed: None where it is not regressed, so
    there is nothing to attribute. most_combos: what a single culprit takes at most. cause, found,
    reason: what was found; None where nothing was searched. explained: what stored launches of the
    two stacks settled differently, told before anything is measured. stopped: why it ended before
    it could tell, empty where it did not.
    """

    version: Literal[1] = 1
    plan: str
    good: str
    bad: str
    outcome: Outcome
    steps: tuple[StepRead, ...]
    most_combos: int
    followed: FollowedRead | None
    combos: Annotated[tuple[ComboRead, ...], Field(max_length=COMBOS_MAX)] = ()
    explained: tuple[str, ...] = ()
    stopped: str = ""
    cause: Cause | None = None
    found: tuple[StepRead, ...] = ()
    reason: str = ""

    @property
    def is_named(self) -> bool:
        """Whether a culprit or an interaction was named."""
        return self.cause in {Cause.SINGLE, Cause.INTERACTION}

    def ended(self, attribution: Attribution) -> Self:
        """Return the answer with what was found."""
        return self.model_copy(
            update={
                "cause": attribution.cause,
                "found": tuple(map(StepRead.of, attribution.steps)),
                "reason": CAUSES[attribution.cause],
            }
        )


class AttributionReport(Message):
    """How far a search is, as whoever searches tells it; a later report replaces it.

    incident_id: of the incident whose cause is searched for, None where a person named the stacks.
    budget_card_s: card-seconds that it may spend, None for no limit. launches, card_s: what it
    spent so far; what was measured before cost nothing.
    """

    incident_id: UUID | None = None
    good_stack_key: Key
    bad_stack_key: Key
    state: State
    budget_card_s: Seconds | None = None
    launches: NonNegativeInt = 0
    card_s: Seconds = 0.0
    answer: AttributionAnswer
    who: Person | None = None


class AttributionRead(Message):
    """An attribution as it is stored: how far it is, what it cost, and its answer so far."""

    id: UUID
    incident_id: UUID | None
    good_stack_key: Key
    bad_stack_key: Key
    state: State
    started_at: AwareDatetime
    started_by: str
    changed_at: AwareDatetime
    budget_card_s: float | None
    launches: NonNegativeInt
    card_s: float
    answer: AttributionAnswer
