"""Open an incident from an event, answer it, merge, split and open it again; all of it audited."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.cell import Cell
from service.domain.incident import (
    Answer,
    Direction,
    Incident,
    IncidentCell,
    IncidentStateError,
    Triage,
    require_mergeable,
    require_splittable,
)
from service.domain.metric import metric_named
from service.domain.notification import NotificationKind
from service.formats.baselines import BaselinePin
from service.formats.events import EventDetail, EventMoved
from service.formats.incidents import (
    IncidentOrder,
    IncidentRead,
    MergeOrder,
    ReopenOrder,
    SplitOrder,
    TriageOrder,
)
from service.store import audits, baselines, incidents, runs
from service.store.database import ReadSession, WriteSession
from service.usecases.notify import notify_incident
from service.usecases.pin_baseline import pin_baseline
from service.usecases.read_events import read_event
from service.usecases.read_incidents import told


class EventNotComparableError(ValueError):
    """An event has no stack before it, so nobody knows what changed."""

    def __init__(self, event_id: UUID) -> None:
        super().__init__(
            f"event {event_id} knows no stack before its change: nothing to hold it to"
        )


def open_incident(
    session: WriteSession, order: IncidentOrder, *, who: str, now: datetime
) -> IncidentRead:
    """Open an incident from an event and return it; from one event there is one, asked again.

    Raises UnknownEventError and EventNotComparableError.
    """
    incidents.hold(session)
    detail = read_event(session, order.event_id)
    if known := incidents.of_event(session, detail.event.id):
        return _read(session, known.id)
    incident = _of_event(detail, who, now)
    incidents.keep(session, incident, listed_of_event(session, detail))
    _audit(session, incident, Act.OPEN, who=who, why=order.why, now=now)
    notify_incident(session, NotificationKind.OPENED, incident, who=who, why=order.why, now=now)
    return _read(session, incident.id)


def triage_incident(
    session: WriteSession, incident_id: UUID, order: TriageOrder, *, who: str, now: datetime
) -> IncidentRead:
    """Answer an incident and return it; accepting it pins its candidate where a baseline is.

    Raises UnknownIncidentError, IncidentStateError, NothingToPinError and FrozenBaselineError.
    """
    incidents.hold(session)
    before = incidents.read(session, incident_id)
    if before.merged_into is not None:
        raise IncidentStateError(f"incident {before.id} is part of {before.merged_into}: name that")
    if order.triage is Triage.OPEN and before.is_over:
        raise IncidentStateError(
            f"incident {before.id} is over: `kunline incident reopen` opens it"
        )
    after = replace(
        before,
        answer=_answer(before.answer, order),
        triaged_at=before.triaged_at or (None if order.triage is Triage.OPEN else now),
    )
    incidents.change(session, after)
    _audit(session, after, Act.TRIAGE, who=who, why=order.why, now=now, before=before)
    if order.triage is Triage.ACCEPT and before.answer.triage is not Triage.ACCEPT:
        _accept(session, after, order, who, now)
    notify_incident(session, NotificationKind.ANSWERED, after, who=who, why=order.why, now=now)
    return _read(session, incident_id)


def merge_incident(
    session: WriteSession, incident_id: UUID, order: MergeOrder, *, who: str, now: datetime
) -> IncidentRead:
    """Make an incident, and what is part of it, part of another, and return that one.

    Raises UnknownIncidentError and IncidentStateError.
    """
    incidents.hold(session)
    part, whole = incidents.read(session, incident_id), incidents.read(session, order.into)
    require_mergeable(part, whole)
    for before in (part, *incidents.parts(session, [part.id])):
        after = replace(before, merged_into=whole.id)
        incidents.change(session, after)
        _audit(session, after, Act.MERGE, who=who, why=order.why, now=now, before=before)
    return _read(session, whole.id)


def split_incident(
    session: WriteSession, incident_id: UUID, order: SplitOrder, *, who: str, now: datetime
) -> IncidentRead:
    """Make some cells of an incident one of their own, open, and return that one.

    Raises UnknownIncidentError and IncidentStateError.
    """
    incidents.hold(session)
    whole = incidents.read(session, incident_id)
    cells = _cells(session, whole.id)
    apart = [cell for cell in cells if cell.condition_key in order.condition_keys]
    unknown = set(order.condition_keys) - {cell.condition_key for cell in cells}
    require_splittable(cells, [] if unknown else apart)
    new = replace(
        whole, id=uuid4(), opened_at=now, opened_by=who, event_id=None, answer=Answer(),
        triaged_at=None, verified_at=None, verified_stack_key=None,
    )  # fmt: skip
    incidents.keep(session, new, [])
    incidents.move_cells(session, apart, apart_from=whole.id, to=new.id)
    _audit(session, new, Act.SPLIT, who=who, why=order.why, now=now, before=whole)
    _audit(session, whole, Act.SPLIT, who=who, why=order.why, now=now)
    return _read(session, new.id)


def reopen_incident(
    session: WriteSession, incident_id: UUID, order: ReopenOrder, *, who: str, now: datetime
) -> IncidentRead:
    """Open an incident again that is over, or take it out of the one it is part of.

    Raises UnknownIncidentError and IncidentStateError.
    """
    incidents.hold(session)
    before = incidents.read(session, incident_id)
    if not before.is_over:
        raise IncidentStateError(f"incident {before.id} is open")
    after = replace(before, merged_into=None, verified_at=None, verified_stack_key=None)
    if before.merged_into is None:
        after = replace(after, answer=replace(before.answer, triage=Triage.OPEN))
    incidents.change(session, after)
    _audit(session, after, Act.REOPEN, who=who, why=order.why, now=now, before=before)
    notify_incident(session, NotificationKind.OPENED, after, who=who, why=order.why, now=now)
    return _read(session, incident_id)


def _of_event(detail: EventDetail, who: str, now: datetime) -> Incident:
    event = detail.event
    if event.before_stack_key is None:
        raise EventNotComparableError(event.id)
    return Incident(
        id=uuid4(),
        title=f"{event.trigger} {event.direction} since {event.stack_name}",
        direction=Direction(event.direction),
        baseline_stack_key=event.before_stack_key,
        candidate_stack_key=event.stack_key,
        opened_at=now,
        opened_by=who,
        seen_at=event.seen_at,
        host=event.host,
        event_id=event.id,
    )


def listed_of_event(session: ReadSession, detail: EventDetail) -> list[IncidentCell]:
    """Return each metric of each cell once, with the strongest host's change and all its runs."""
    of_cell: dict[Cell, list[UUID]] = {}
    for run_id in detail.run_ids:
        of_cell.setdefault(runs.read(session, run_id).cell, []).append(run_id)
    listed: dict[tuple[Cell, str], IncidentCell] = {}
    for moved in detail.event.moved:
        cell = Cell(moved.condition_key, moved.protocol_key)
        found = IncidentCell(
            cell, moved.metric, _worsening(moved), run_ids=tuple(of_cell.get(cell, ()))
        )
        listed.setdefault((cell, moved.metric), found)
    return [*listed.values()]


def _worsening(moved: EventMoved) -> float:
    return metric_named(moved.metric).worsening(moved.change)


def _answer(before: Answer, order: TriageOrder) -> Answer:
    return Answer(
        triage=order.triage,
        owner=before.owner if order.owner is None else order.owner,
        due=before.due if order.due is None else order.due,
        comment=before.comment if order.comment is None else order.comment,
        links=before.links if order.links is None else order.links,
    )


def _accept(
    session: WriteSession, incident: Incident, order: TriageOrder, who: str, now: datetime
) -> None:
    """Pin the candidate in the cells of an incident that have another baseline in the channel."""
    every = [incident.id, *(part.id for part in incidents.parts(session, [incident.id]))]
    cells = {cell for incident_id in every for cell in _cells(session, incident_id)}
    pinned = baselines.in_force(
        session, channel=order.channel, conditions={cell.condition_key for cell in cells}
    )
    moving = {
        cell.condition_key
        for cell, found in pinned.items()
        if cell in cells and found.pin.stack_key != incident.candidate_stack_key
    }
    if moving:
        wanted = BaselinePin(
            channel=order.channel,
            stack_key=incident.candidate_stack_key,
            condition_keys=tuple(sorted(moving)),
            why=f"incident {incident.id} accepted: {order.why}"[:1000],
        )
        pin_baseline(session, wanted, who=who, now=now, incident_id=incident.id)


def _cells(session: ReadSession, incident_id: UUID) -> list[Cell]:
    listed = incidents.cells(session, [incident_id]).get(incident_id, ())
    return list(dict.fromkeys(each.cell for each in listed))


def _audit(
    session: WriteSession,
    incident: Incident,
    act: Act,
    *,
    who: str,
    why: str,
    now: datetime,
    before: Incident | None = None,
) -> None:
    entry = Entry(
        at=now,
        actor=who,
        act=act,
        noun=Noun.INCIDENT,
        noun_id=str(incident.id),
        reason=why,
        before=None if before is None else _state(before),
        after=_state(incident),
    )
    audits.keep(session, [entry])


def _state(incident: Incident) -> Mapping[str, Any]:
    answer = incident.answer
    return {
        "id": str(incident.id),
        "triage": answer.triage.value,
        "owner": answer.owner,
        "due": answer.due.isoformat() if answer.due else None,
        "comment": answer.comment,
        "links": list(answer.links),
        "merged_into": str(incident.merged_into) if incident.merged_into else None,
    }


def _read(session: ReadSession, incident_id: UUID) -> IncidentRead:
    (found,) = told(session, [incidents.read(session, incident_id)])
    return found
