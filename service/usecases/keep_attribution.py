"""Keep how far an attribution is, as whoever searches tells it, and read it again."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from service.domain.attribution import State
from service.domain.audit import Act, Noun
from service.formats.attributions import AttributionAnswer, AttributionRead, AttributionReport
from service.store import attributions, incidents, sessions, stacks
from service.store.attributions import StoredAttribution
from service.store.database import ReadSession, WriteSession
from service.store.stacks import UnknownStackError
from service.usecases.note_act import note_act

# As many attributions as an incident is shown with.
SHOWN = 20


class AttributionStateError(ValueError):
    """An attribution is told to be something that it cannot become."""


def keep_attribution(
    session: WriteSession,
    attribution_id: UUID,
    report: AttributionReport,
    *,
    who: str,
    now: datetime,
) -> AttributionRead:
    """Store how far a search is and return it; the same report again changes nothing.

    The answer follows from the sessions that it names, which have to be here. What has ended stays
    as it is. Raises UnknownIncidentError, UnknownStackError, UnknownSessionError and
    AttributionStateError.
    """
    before = attributions.find(session, attribution_id)
    content = report.answer.model_dump(mode="json")
    if before is not None:
        _require_going_on(before, report, content)
    _require_known(session, report)
    kept = StoredAttribution(
        id=attribution_id,
        incident_id=report.incident_id,
        good_stack_key=report.good_stack_key,
        bad_stack_key=report.bad_stack_key,
        state=report.state.value,
        budget_card_s=report.budget_card_s,
        launches=report.launches,
        card_s=report.card_s,
        content=content,
        started_at=now if before is None else before.started_at,
        started_by=who if before is None else before.started_by,
        changed_at=now,
    )
    if before is not None:
        attributions.change(session, kept)
        return _read(kept)
    attributions.keep(session, kept)
    if report.incident_id is not None:
        what = f"searched between {report.answer.good} and {report.answer.bad}"
        note_act(
            session, Act.ATTRIBUTE, Noun.INCIDENT, report.incident_id, who=who, what=what, now=now
        )
    return _read(kept)


def read_attribution(session: ReadSession, attribution_id: UUID) -> AttributionRead:
    """Return one attribution. Raises UnknownAttributionError."""
    return _read(attributions.read(session, attribution_id))


def list_attributions(
    session: ReadSession, *, incident_id: UUID | None = None, limit: int = SHOWN
) -> tuple[AttributionRead, ...]:
    """Return attributions, of one incident or of all, the newest begun first."""
    return tuple(map(_read, attributions.newest(session, incident_id=incident_id, limit=limit)))


def _require_going_on(
    before: StoredAttribution, report: AttributionReport, content: dict[str, object]
) -> None:
    of = (before.incident_id, before.good_stack_key, before.bad_stack_key)
    if of != (report.incident_id, report.good_stack_key, report.bad_stack_key):
        raise AttributionStateError(
            f"attribution {before.id} is of other stacks or of another incident: begin a new one"
        )
    is_over = before.state != State.SEARCHING.value
    if is_over and (before.state, before.content) != (report.state.value, content):
        raise AttributionStateError(f"attribution {before.id} is {before.state}: begin a new one")


def _require_known(session: ReadSession, report: AttributionReport) -> None:
    if report.incident_id is not None:
        incidents.read(session, report.incident_id)
    wanted = {report.good_stack_key, report.bad_stack_key}
    known = stacks.names(session, wanted)
    for key in sorted(wanted - known.keys()):
        raise UnknownStackError(key, found=())
    for session_id in _sessions(report.answer):
        sessions.read(session, session_id)


def _sessions(answer: AttributionAnswer) -> Collection[UUID]:
    followed = [answer.followed.session_id] if answer.followed else []
    return {*followed, *(combo.session_id for combo in answer.combos)}


def _read(stored: StoredAttribution) -> AttributionRead:
    return AttributionRead(
        id=stored.id,
        incident_id=stored.incident_id,
        good_stack_key=stored.good_stack_key,
        bad_stack_key=stored.bad_stack_key,
        state=State(stored.state),
        started_at=stored.started_at,
        started_by=stored.started_by,
        changed_at=stored.changed_at,
        budget_card_s=stored.budget_card_s,
        launches=stored.launches,
        card_s=stored.card_s,
        answer=AttributionAnswer.model_validate(stored.content),
    )
