"""Gates as they are asked for, and how far one is; what it answers is in gate_answers."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from service.domain.ci_gate import Looks, Standing
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateBase, GateCandidate
from service.formats.identities import Key, Name
from service.formats.messages import Message
from service.formats.sessions import SessionOrder, SessionRead

Words = Annotated[tuple[str, ...], Field(max_length=200)]


class GateCellOrder(Message):
    """One cell of a gate in the words of its plan. reproduce: a command that measures it alone."""

    condition_key: Key
    protocol_key: Key
    workload: Name
    layout: Name
    why: str
    standing: Standing
    reproduce: Words


class GateRules(Message):
    """When enough was measured, and what of it counts; see the plan file's section.

    budget_card_s: of card time. cached_control_s: how old a control may be; 0 for none.
    """

    looks: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=5)]
    fail_fast: bool = True
    inconclusive_blocks: bool = True
    informing: tuple[str, ...] = ()
    budget_card_s: PositiveFloat | None = None
    cached_control_s: NonNegativeFloat = 0.0

    @model_validator(mode="after")
    def _has_rising_looks(self) -> Self:
        Looks(self.looks)
        return self


class GateOrder(Message):
    """A candidate to be judged beside its base, in one session on one host.

    cells: in the order of the plan, the canary first. expected_s: of each launch of the session.
    """

    version: Literal[1] = 1
    session: SessionOrder
    base: GateBase
    candidate: GateCandidate
    cells: tuple[GateCellOrder, ...] = Field(min_length=1, max_length=500)
    expected_s: tuple[NonNegativeFloat, ...]
    rules: GateRules
    mode: Literal["local", "remote"] = "remote"
    reproduce: Words = ()
    notes: Words = ()
    who: str | None = Field(default=None, min_length=1, max_length=128)

    @model_validator(mode="after")
    def _fits_its_session(self) -> Self:
        stacks = {stack.key for stack in self.session.stacks}
        if {self.base.stack_key, self.candidate.stack_key} != stacks:
            raise ValueError("the session measures other stacks than base and candidate")
        if self.session.baseline_stack_key != self.base.stack_key:
            raise ValueError("the session is held to another stack than the base")
        if len(self.expected_s) != len(self.session.launches):
            raise ValueError("expected_s has one figure for each launch")
        asked = {(cell.condition_key, cell.protocol_key) for cell in self.cells}
        measured = {
            (cell.condition_key, cell.protocol_key)
            for launch in self.session.launches
            for cell in launch.cells
        }
        if asked != measured:
            raise ValueError("the session measures other cells than the gate judges")
        return self


class GateRead(Message):
    """A gate, how far its session is, and what it says by now; answer.state: if that is all."""

    id: UUID
    session: SessionRead
    answer: GateAnswer


class GateListed(Message):
    """A gate in a list: as little as tells which it is, and what it says.

    outcome, exit_code: as its answer has them now, with the waivers and incidents of now; None as
    long as it runs, and where it was not told yet. host: where it was measured, or None.
    """

    id: UUID
    session_id: UUID
    plan: str
    candidate: str
    base: str
    state: Literal["running", "finished", "cancelled"]
    asked_by: str
    asked_at: AwareDatetime
    outcome: Outcome | None = None
    exit_code: int | None = Field(default=None, ge=0, le=6)
    finished_at: AwareDatetime | None = None
    mode: Literal["local", "remote"] = "remote"
    host: str | None = None
    channel: str | None = None
    base_stack_key: Key | None = None
    candidate_stack_key: Key | None = None
