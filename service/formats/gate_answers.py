"""What `kunline gate` answers of a candidate build: JSON as it is, and the source of all it prints.

Ratios are ratios and positive is worse; times are seconds; nothing here is worded for one language
but the sentences that the service itself has found, which are shown as they are.
"""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat

from service.domain.ci_gate import Counts, Standing, Stop
from service.domain.layer import Layer
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.verdicts import DifferenceRead, VerdictRead


class GateWaiver(Message):
    """A person's word that a worsening does not count, until when, and why."""

    id: UUID
    who: str
    reason: str
    until: AwareDatetime


class GateVerdict(Message):
    """The verdict on one metric of a cell, and whether the exit code counts it.

    verdict.smallest_detectable is the smallest worsening that could have been seen. unit: of
    verdict.baseline and verdict.candidate. counts: "counted", or why not; `waiver` is set where it
    is "waived".
    """

    verdict: VerdictRead
    unit: str
    counts: Counts
    waiver: GateWaiver | None = None


class GateBroken(Message):
    """The first launch of a cell that did not work, and on which side that was."""

    side: Literal["baseline", "candidate"]
    layer: Layer
    finding: str
    remedy: str


class GateControl(Message):
    """Where the baseline's values come from.

    interleaved: measured in the candidate's session, in turn with it. cached: launches that were
    measured before on the same host, which the answer then rests on. none: there are no values.
    sessions, oldest: of cached launches. why: one sentence.
    """

    kind: Literal["interleaved", "cached", "none"]
    launches: NonNegativeInt
    sessions: NonNegativeInt = 0
    oldest: AwareDatetime | None = None
    why: str


class GateStop(Message):
    """Why a cell was measured less often than planned. word: of a closed list. why: a sentence."""

    word: Stop
    why: str


class GateIncident(Message):
    """An incident that is open on the baseline, so that the candidate is not blamed for it."""

    id: UUID
    title: str
    opened_at: AwareDatetime
    url: str | None = None


class GateCell(Message):
    """One cell of the gate's plan.

    why: the plan's own words for measuring it. standing: whether the cell gates or only informs.
    outcome: of all its metrics, whatever counts. counted: what of it the exit code counts; null
    where nothing of it does. reasons: sentences on a cell that is not judged (broken, invalid,
    missing, not comparable). differences: the fields of a refused comparison. resolution: what the
    two servers settled differently by themselves. reproduce: the words of a command.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    workload: str
    layout: str
    why: str
    canary: bool
    standing: Standing
    outcome: Outcome
    counted: Outcome | None
    reasons: tuple[str, ...] = ()
    verdicts: tuple[GateVerdict, ...]
    differences: tuple[DifferenceRead, ...] = ()
    resolution: tuple[DifferenceRead, ...] = ()
    warnings: tuple[str, ...] = ()
    broken: GateBroken | None = None
    control: GateControl
    baseline_launches: NonNegativeInt
    candidate_launches: NonNegativeInt
    planned_launches: NonNegativeInt
    stopped: GateStop | None = None
    incident: GateIncident | None = None
    reproduce: tuple[str, ...]
    url: str | None = None


class GateComponent(Message):
    """A component whose version differs between the two stacks, '(absent)' where one lacks it."""

    name: str
    layer: Layer
    scope: SwapScope
    recorded: bool
    baseline: str
    candidate: str


class GateOverride(Message):
    """What was asked for instead of a component of the baseline.

    asked: the option's own words. version: the candidate's. digest: SHA-256 of the wheel. commit:
    what the wheel was built from, where that is known.
    """

    component: str
    kind: Literal["version", "wheel", "git"]
    asked: str
    version: str
    digest: Key | None = None
    commit: str | None = None


class GateBase(Message):
    """The stack that the candidate is held to, and how it was found.

    how: "merge base" (what was pinned for it), "tip" (what is pinned now), "stack" (named by a
    person) or "plan" (named by the plan). found: one sentence.
    """

    stack_key: Key
    stack_name: str
    channel: str | None
    how: Literal["merge base", "tip", "stack", "plan"]
    found: str
    merge_base: str | None = None
    pinned_at: AwareDatetime | None = None


class GateCandidate(Message):
    """The stack under test: the baseline's with overrides, or one of a file of its own."""

    stack_key: Key
    stack_name: str
    file: str | None = None
    overrides: tuple[GateOverride, ...] = ()


class GateTime(Message):
    """Card time, in card-seconds: seconds times the cards that were held.

    planned: all launches, had nothing been stopped. spent: what launches took, start-ups included
    and the building of environments left out; a launch that was lost counts to its lease's end.
    unreported: of what was spent, by launches that were lost before their runner told of them,
    from their claim on. saved: planned launches that were not needed, as the answer was certain.
    unbegun: planned launches that were left out because a stack broke, the budget was spent or a
    person cancelled.
    """

    budget_card_s: PositiveFloat | None
    planned_card_s: NonNegativeFloat
    spent_card_s: NonNegativeFloat
    saved_card_s: NonNegativeFloat
    unbegun_card_s: NonNegativeFloat = 0.0
    unreported_card_s: NonNegativeFloat = 0.0


class GateLink(Message):
    """An address to look at. name: gate, session, baseline or candidate."""

    name: Literal["gate", "session", "baseline", "candidate"]
    url: str


class GateAnswer(Message):
    """All that a gate says of a candidate.

    outcome: the foremost of what is counted, in the precedence of exit codes; exit_code: its code,
    0 where an inconclusive outcome does not block. inconclusive_blocks: the plan's policy.
    reproduce: the words of the command that asks the same again. notes: sentences on the whole.
    """

    # Raised when a field changes its meaning; one that is added keeps it.
    version: Literal[1] = 1
    id: UUID
    session_id: UUID
    plan: str
    mode: Literal["local", "remote"]
    state: Literal["running", "finished", "cancelled"]
    outcome: Outcome
    exit_code: int = Field(ge=0, le=6)
    inconclusive_blocks: bool
    base: GateBase
    candidate: GateCandidate
    components: tuple[GateComponent, ...]
    arguments: tuple[DifferenceRead, ...] = ()
    scope: SwapScope | None
    cells: tuple[GateCell, ...]
    time: GateTime
    host: str | None
    asked_by: str
    asked_at: AwareDatetime
    finished_at: AwareDatetime | None
    links: tuple[GateLink, ...] = ()
    reproduce: tuple[str, ...]
    notes: tuple[str, ...] = ()
