"""Incidents: what is asked about them, and what is answered."""

from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt

from service.domain.incident import Direction, Triage
from service.formats.attributions import AttributionRead
from service.formats.audits import AuditRead
from service.formats.confirms import ConfirmCounts, ConfirmRead
from service.formats.identities import Key
from service.formats.messages import Message

Words = Annotated[str, Field(min_length=1, max_length=1000)]
Person = Annotated[str, Field(min_length=1, max_length=128)]
Link = Annotated[str, Field(min_length=8, max_length=500, pattern=r"^https?://[^\s]+$")]


class IncidentOrder(Message):
    """Which event an incident is opened from by a person, and why."""

    event_id: UUID
    why: Words
    who: Person | None = None


class TriageOrder(Message):
    """A person's answer: triage, and what is known beside it. None leaves a field as it is.

    why: kept in the audit. channel: where `accept` pins the candidate, in the incident's cells;
    a cell without a baseline there gets none.
    """

    triage: Triage
    why: Words
    owner: Person | None = None
    due: date | None = None
    comment: str | None = Field(default=None, max_length=4000)
    links: tuple[Link, ...] | None = Field(default=None, max_length=20)
    channel: Annotated[str, Field(min_length=1, max_length=128)] = "main"
    who: Person | None = None


class MergeOrder(Message):
    """The incident that another becomes part of, and why."""

    into: UUID
    why: Words
    who: Person | None = None


class SplitOrder(Message):
    """The conditions whose cells become an incident of their own, and why."""

    condition_keys: tuple[Key, ...] = Field(min_length=1, max_length=2000)
    why: Words
    who: Person | None = None


class ReopenOrder(Message):
    """Why an incident is opened again, or taken out of the one that it is part of."""

    why: Words
    who: Person | None = None


class IncidentCellRead(Message):
    """A metric of a cell that an incident lists. change, low, high: ratios, positive is worse.

    low, high: null where only the screen saw it. run_ids: the runs that the numbers came from.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    change: float
    low: float | None
    high: float | None
    session_id: UUID | None
    run_ids: tuple[UUID, ...]


class IncidentRead(Message):
    """An incident; is_open: whether the baselines of its cells are frozen.

    host: where the host itself is what moved. verified_at: when a later stack was seen back inside
    the baseline. merged: the incidents that are part of it. cells: theirs as well.
    """

    id: UUID
    title: str
    direction: Direction
    is_open: bool
    triage: Triage
    owner: str | None
    due: date | None
    comment: str
    links: tuple[str, ...]
    baseline_stack_key: Key
    baseline_stack_name: str
    candidate_stack_key: Key
    candidate_stack_name: str
    host: str | None
    event_id: UUID | None
    opened_at: AwareDatetime
    opened_by: str
    seen_at: AwareDatetime
    triaged_at: AwareDatetime | None
    verified_at: AwareDatetime | None
    verified_stack_key: Key | None
    verified_stack_name: str | None
    merged_into: UUID | None
    merged: tuple[UUID, ...]
    cells: tuple[IncidentCellRead, ...]


class IncidentDetail(Message):
    """An incident, what was done to it, oldest first, and the searches for its cause.

    attributions: the newest begun first. confirms: the newest asked first.
    """

    incident: IncidentRead
    history: tuple[AuditRead, ...]
    attributions: tuple[AttributionRead, ...] = ()
    confirms: tuple[ConfirmRead, ...] = ()


class IncidentPage(Message):
    """Incidents, the newest opened first; cursor asks for those before them."""

    incidents: tuple[IncidentRead, ...]
    cursor: str | None


class RecordRead(Message):
    """How right Kunline was, as triage tells; seconds are medians, null where there are none.

    false_alarm_rate: noise among the answered, a ratio. to_verdict_s: from the first sight to the
    incident, to_triage_s: from there to the first answer. confirms: how many ended with which
    word; screen_false_alarm_rate: those that found nothing among those that could tell, a ratio.
    """

    opened: NonNegativeInt
    answered: NonNegativeInt
    noise: NonNegativeInt
    false_alarm_rate: float | None
    to_verdict_s: float | None
    to_triage_s: float | None
    confirms: ConfirmCounts = ConfirmCounts()
    screen_false_alarm_rate: float | None = None
