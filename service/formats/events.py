"""What the screen answers of stored series, and the events that it saw in them."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, NonNegativeInt

from service.domain.screen import Answer
from service.formats.confirms import ConfirmRead
from service.formats.identities import Key
from service.formats.messages import Message


class SeriesScreen(Message):
    """Where the screen stands in one series: one metric of one cell on one host.

    smallest_effect: the smallest lasting change that would be seen, a ratio; null where none
    would. tolerance: the largest worsening accepted. runs: how many are of the present level.
    event_id: the event that this level began with. run_id, stack_key: seen last.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    host: str
    answer: Answer
    smallest_effect: float | None
    tolerance: float
    runs: NonNegativeInt
    event_id: UUID | None
    run_id: UUID
    stack_key: Key
    looked_at: AwareDatetime


class ScreenPage(Message):
    """Screens in the order of their series; cursor asks for those after them."""

    screens: tuple[SeriesScreen, ...]
    cursor: str | None


class EventMoved(Message):
    """A series that an event lists. change: a ratio of its value. evidence: standard errors.

    stack_key: of the first look at its new level. answer: what the screen says of it now; null
    where the series is not watched any more.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    host: str
    change: float
    evidence: float
    stack_key: Key
    answer: Answer | None


class EventPresumed(Message):
    """A series that had no value when an event was seen: it is not known to have stayed."""

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    host: str


class EventRead(Message):
    """One candidate event: what alarmed, since when, and which series moved with it.

    host: the one host that is what moved; null where it is not known to be. hosts: where it was
    seen. trigger: the metric of the series that alarmed, or the group whose sum did. metric: the
    triggering series' own, or the strongest listed. change: the median of those listed, a ratio
    signed so that positive is worse. stack_key: the first stack of the new level; before: the
    stack of the look before. change_at: when it was measured. moved: the strongest first.
    """

    id: UUID
    direction: Literal["worse", "better"]
    host: str | None
    hosts: tuple[str, ...]
    trigger: str
    metric: str | None
    change: float | None
    stack_key: Key
    stack_name: str
    before_stack_key: Key | None
    before_stack_name: str | None
    change_at: AwareDatetime
    seen_at: AwareDatetime
    seen_stack_key: Key
    seen_stack_name: str
    moved: tuple[EventMoved, ...]
    presumed: tuple[EventPresumed, ...]


class EventDetail(Message):
    """An event with the runs it came from: those of the listed cells, from its change on.

    confirms: the newest asked first.
    """

    event: EventRead
    run_ids: tuple[UUID, ...]
    confirms: tuple[ConfirmRead, ...] = ()


class EventPage(Message):
    """Events, the newest seen first; cursor asks for those before them."""

    events: tuple[EventRead, ...]
    cursor: str | None


class ChangePoint(Message):
    """Where the level of a series changed. run_id: the first run of the new level.

    change: a ratio of the value. run_id is null where that run does not count any more.
    """

    event_id: UUID
    host: str
    run_id: UUID | None
    stack_key: Key
    direction: Literal["worse", "better"]
    change: float
    seen_at: AwareDatetime


class AnswersTold(Message):
    """How many series the screen has no alarm for, and how many it suspects."""

    no_alarm: NonNegativeInt
    suspect: NonNegativeInt
