"""Read incidents: a page of them, or one with what was done to it; and how right Kunline was."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from service.domain.audit import Noun
from service.domain.cell import title
from service.domain.incident import Incident, IncidentCell, record_of
from service.formats.audits import AuditRead
from service.formats.incidents import (
    IncidentCellRead,
    IncidentDetail,
    IncidentPage,
    IncidentRead,
    RecordRead,
)
from service.store import audits, conditions, incidents, marks, stacks
from service.store.confirms import ConfirmFilter
from service.store.database import ReadSession
from service.store.incidents import MOST, IncidentFilter
from service.usecases.keep_attribution import list_attributions
from service.usecases.read_confirms import confirms_of, count_confirms
from service.usecases.read_runs import cursor_of, read_cursor


def rests_on(session: ReadSession) -> str:
    """Return a text that is another one whenever a page of incidents may be."""
    return marks.of_incidents(session)


def list_incidents(
    session: ReadSession, wanted: IncidentFilter, *, limit: int, cursor: str | None
) -> IncidentPage:
    """Return a page of incidents, the newest opened first. Raises CursorError."""
    before = None if cursor is None else read_cursor(cursor)
    found = incidents.newest(session, wanted, before=before, limit=limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return IncidentPage(
        incidents=told(session, page),
        cursor=cursor_of(page[-1].opened_at, page[-1].id) if more else None,
    )


def read_incident(session: ReadSession, incident_id: UUID) -> IncidentDetail:
    """Return one incident and what was done to it. Raises UnknownIncidentError."""
    (incident,) = told(session, [incidents.read(session, incident_id)])
    history = audits.of_thing(session, Noun.INCIDENT, str(incident_id))
    return IncidentDetail(
        incident=incident,
        history=tuple(map(AuditRead.of, history)),
        attributions=list_attributions(session, incident_id=incident_id),
        confirms=confirms_of(session, ConfirmFilter(incident_id=incident_id)),
    )


def read_record(session: ReadSession) -> RecordRead:
    """Return how often people called an incident noise, and how long verdicts took."""
    confirmed = count_confirms(session)
    record = record_of(incidents.newest(session, IncidentFilter(), limit=MOST))
    return RecordRead(
        opened=record.opened,
        answered=record.answered,
        noise=record.noise,
        false_alarm_rate=record.false_alarm_rate,
        to_verdict_s=_seconds(record.to_verdict),
        to_triage_s=_seconds(record.to_triage),
        confirms=confirmed,
        screen_false_alarm_rate=confirmed.false_alarm_rate,
    )


def told(session: ReadSession, found: Sequence[Incident]) -> tuple[IncidentRead, ...]:
    """Return incidents as they are answered, with the cells of those that are part of them."""
    merged: dict[UUID, list[UUID]] = defaultdict(list)
    for part in incidents.parts(session, [each.id for each in found]):
        if part.merged_into is not None:
            merged[part.merged_into].append(part.id)
    ids = [*(each.id for each in found), *(part for of in merged.values() for part in of)]
    listed = incidents.cells(session, ids)
    keys = {each.cell.condition_key for of in listed.values() for each in of}
    titles = {key: title(under) for key, under in conditions.by_key(session, keys).items()}
    names = stacks.names(session, {key for each in found for key in _stacks(each)})
    return tuple(
        _told(
            each,
            merged=tuple(merged[each.id]),
            cells=tuple(
                _cell(cell, titles[cell.cell.condition_key])
                for incident_id in (each.id, *merged[each.id])
                for cell in listed.get(incident_id, ())
            ),
            names=names,
        )
        for each in found
    )


def _stacks(incident: Incident) -> list[str]:
    verified = [incident.verified_stack_key] if incident.verified_stack_key else []
    return [incident.baseline_stack_key, incident.candidate_stack_key, *verified]


def _told(
    incident: Incident,
    *,
    merged: tuple[UUID, ...],
    cells: tuple[IncidentCellRead, ...],
    names: Mapping[str, str],
) -> IncidentRead:
    answer, verified = incident.answer, incident.verified_stack_key
    return IncidentRead(
        id=incident.id,
        title=incident.title,
        direction=incident.direction,
        is_open=incident.holds_baseline,
        triage=answer.triage,
        owner=answer.owner,
        due=answer.due,
        comment=answer.comment,
        links=answer.links,
        baseline_stack_key=incident.baseline_stack_key,
        baseline_stack_name=names[incident.baseline_stack_key],
        candidate_stack_key=incident.candidate_stack_key,
        candidate_stack_name=names[incident.candidate_stack_key],
        host=incident.host,
        event_id=incident.event_id,
        opened_at=incident.opened_at,
        opened_by=incident.opened_by,
        seen_at=incident.seen_at,
        triaged_at=incident.triaged_at,
        verified_at=incident.verified_at,
        verified_stack_key=verified,
        verified_stack_name=names[verified] if verified else None,
        merged_into=incident.merged_into,
        merged=merged,
        cells=cells,
    )


def _cell(listed: IncidentCell, words: str) -> IncidentCellRead:
    return IncidentCellRead(
        condition_key=listed.cell.condition_key,
        protocol_key=listed.cell.protocol_key,
        title=words,
        metric=listed.metric,
        change=listed.change,
        low=listed.low,
        high=listed.high,
        session_id=listed.session_id,
        run_ids=listed.run_ids,
    )


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()
