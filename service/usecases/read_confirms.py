"""Read confirms: a page of them, one, or those of an event or an incident."""

from collections.abc import Sequence
from uuid import UUID

from service.domain.confirm import Cost
from service.formats.confirms import ConfirmCounts, ConfirmPage, ConfirmRead, CostRead
from service.formats.reasons import in_chinese
from service.store import confirms, stacks
from service.store.confirms import MOST, ConfirmFilter, StoredConfirm
from service.store.database import ReadSession
from service.usecases.confirm_content import content_of, looks_of
from service.usecases.read_runs import cursor_of, read_cursor


def list_confirms(
    session: ReadSession, wanted: ConfirmFilter, *, limit: int, cursor: str | None
) -> ConfirmPage:
    """Return a page of confirms, the newest asked first. Raises CursorError."""
    before = None if cursor is None else read_cursor(cursor)
    found = confirms.newest(session, wanted, before=before, limit=limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return ConfirmPage(
        confirms=_told(session, page),
        cursor=cursor_of(page[-1].asked_at, page[-1].id) if more else None,
    )


def read_confirm(session: ReadSession, confirm_id: UUID) -> ConfirmRead:
    """Return one confirm. Raises UnknownConfirmError."""
    return _told(session, [confirms.read(session, confirm_id)])[0]


def confirms_of(session: ReadSession, wanted: ConfirmFilter) -> tuple[ConfirmRead, ...]:
    """Return the confirms of an event or an incident, the newest asked first."""
    return _told(session, confirms.newest(session, wanted, limit=MOST))


def count_confirms(session: ReadSession) -> ConfirmCounts:
    """Return how many confirms wait, run, or ended with which word."""
    return ConfirmCounts.model_validate(dict(confirms.counts(session)))


def _told(session: ReadSession, found: Sequence[StoredConfirm]) -> tuple[ConfirmRead, ...]:
    keys = {key for each in found for key in (each.baseline_stack_key, each.candidate_stack_key)}
    names = stacks.names(session, keys)
    return tuple(
        _read(each, names[each.baseline_stack_key], names[each.candidate_stack_key])
        for each in found
    )


def _read(confirm: StoredConfirm, baseline: str, candidate: str) -> ConfirmRead:
    content, looks = content_of(confirm), looks_of(confirm)
    return ConfirmRead(
        id=confirm.id,
        event_id=confirm.event_id,
        incident_id=confirm.incident_id,
        session_id=confirm.session_id,
        host=confirm.host,
        direction=confirm.direction,
        baseline_stack_key=confirm.baseline_stack_key,
        baseline_stack_name=baseline,
        candidate_stack_key=confirm.candidate_stack_key,
        candidate_stack_name=candidate,
        state=confirm.state,
        outcome=confirm.outcome,
        ended_by=confirm.ended_by,
        reason=confirm.reason,
        reason_zh=in_chinese(confirm.reason),
        interleaved=content.interleaved,
        counts=content.counts,
        burn_in=content.burn_in,
        confidence=content.confidence,
        planned=CostRead.of(Cost(confirm.planned_launches, confirm.planned_card_s)),
        spent=CostRead.of(confirm.spent),
        limit=content.limit,
        looks=looks,
        cells=looks[-1].cells if looks else content.cells,
        asked_by=confirm.asked_by,
        asked_at=confirm.asked_at,
        why=confirm.why,
        started_at=confirm.started_at,
        ended_at=confirm.ended_at,
    )
