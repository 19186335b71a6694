"""Qualifications on the wire: an upgrade as a procedure, and the dossier that comes out of it."""

from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt

from service.domain.advice import Answer, Standing
from service.domain.qualification import Decision, Phase, Role, Step, Way
from service.domain.stack import SwapScope
from service.domain.stack_difference import ComponentChange
from service.domain.verdict import Outcome
from service.formats.identities import Name, StackOrder
from service.formats.matrix_view import MetricVerdict
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed

Note = Annotated[str, Field(max_length=2000)]
Who = Annotated[str | None, Field(max_length=200)]


class QualificationOrder(Message):
    """An upgrade to be qualified.

    plan: what is measured. canary: the host that is changed, or that measures both stacks in turn.
    control: one that is not changed; only a crossover needs it. way: None for the one that the
    swap scope of what changes asks for.
    """

    from_stack: StackOrder
    to_stack: StackOrder
    plan: Name
    canary: Name
    control: Name | None = None
    way: Way | None = None
    who: Who = None


class PhaseSessions(Message):
    """The sessions that measure the hosts in a phase; both stacks in turn have no control."""

    phase: Phase
    canary: UUID
    control: UUID | None = None


class ActDone(Message):
    """A person says that the change, or the rollback, is made, and each point of its list done."""

    step: Step
    ticked: tuple[Name, ...] = ()
    note: Note = ""
    who: Who = None


class DecisionMade(Message):
    """A person keeps the change, or wants it rolled back."""

    decision: Decision
    note: Note = ""
    who: Who = None


class DoneRead(Message):
    """What a person did, when, and what they noted."""

    by: str
    at: AwareDatetime
    note: str


class QualificationContent(Message):
    """What is kept of a qualification beside its two stacks."""

    plan: str
    canary: str
    control: str | None
    way: Way = Way.CROSSOVER
    sessions: dict[Phase, dict[Role, UUID]] = Field(default_factory=dict)
    changed: DoneRead | None = None
    decision: Decision | None = None
    decided: DoneRead | None = None
    rolled_back: DoneRead | None = None


class QualificationRead(Message):
    """A qualification and its next step. checklist: what to tick where that is a person's."""

    id: UUID
    baseline: StackNamed
    candidate: StackNamed
    changes: tuple[ComponentChange, ...]
    scope: SwapScope | None
    step: Step
    checklist: tuple[str, ...]
    content: QualificationContent
    created_at: AwareDatetime
    created_by: str


class DossierCell(Message):
    """One cell of a dossier: the change on the canary less that on the control, or interleaved.

    control: how far the control moved by itself, worst metric first, as a ratio; None without
    one. launches: that count, of the canary before and after and of the control before and
    after; of the old and the new stack where both were measured in turn.
    """

    title: str
    standing: Standing
    outcome: Outcome
    finding: str
    verdicts: tuple[MetricVerdict, ...]
    control: float | None
    launches: tuple[NonNegativeInt, ...]


class DossierRead(Message):
    """One page to sign: what was asked, what was seen, and what was not looked at.

    restored: the same after the rollback, against before; None where nothing was rolled back.
    """

    qualification: QualificationRead
    answer: Answer
    cells: tuple[DossierCell, ...]
    restored: tuple[DossierCell, ...] | None
    not_tested: tuple[str, ...]
    at: AwareDatetime
