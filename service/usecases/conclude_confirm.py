"""Conclude a confirm: keep its word and its cost, and open or join the incident it stands for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.confirm import Ending, State, word_of
from service.domain.incident import Direction, Incident, IncidentCell, is_of_change
from service.domain.notification import NotificationKind
from service.domain.regime import Regime, regime_of
from service.domain.verdict import Outcome
from service.formats.confirms import ConfirmCell
from service.store import audits, confirms, incidents, jobs
from service.store.confirms import StoredConfirm
from service.store.database import WriteSession
from service.store.events import UnknownEventError
from service.store.incidents import IncidentFilter
from service.usecases.confirm_content import cell_of
from service.usecases.notify import notify_confirm, notify_incident
from service.usecases.read_events import read_event
from service.usecases.triage_incident import listed_of_event
from service.usecases.verify_fixes import KUNLINE

# Of so many regimes an incident is named after all of them.
SEVERAL = 2
# As many open incidents as are looked through for one of the same change.
OPEN_MAX = 1_000


def conclude_confirm(
    session: WriteSession,
    confirm: StoredConfirm,
    outcome: Outcome,
    *,
    by: Ending,
    reason: str,
    now: datetime,
) -> StoredConfirm:
    """End a confirm and return it; what its session still has in the queue is not measured.

    Regressed opens one incident, or joins the one that is open on the same change of stack.
    """
    if confirm.session_id is not None:
        jobs.cancel_queued(session, confirm.session_id, now=now)
    word = word_of(outcome)
    ended = replace(
        confirm,
        state=State.ENDED,
        outcome=word,
        ended_by=by,
        reason=reason,
        changed_at=now,
        ended_at=now,
        incident_id=_incident(session, confirm, now) if word is Outcome.REGRESSED else None,
    )
    confirms.change(session, ended)
    _audit(session, ended, now)
    notify_confirm(session, ended, now=now)
    return ended


def _incident(session: WriteSession, confirm: StoredConfirm, now: datetime) -> UUID:
    """Return the incident that a confirmed regression is of, which then lists its evidence."""
    incidents.hold(session)
    evidence = [_evidence(each, confirm) for each in _newest_cells(confirm)]
    worse = [each for each in evidence if each is not None]
    why = f"confirm {confirm.id} says regressed"
    known = _known(session, confirm)
    fresh = known or _new(session, confirm, worse, now)
    if known is None:
        incidents.keep(session, fresh, [])
    _note(session, fresh, Act.OPEN if known is None else Act.CONFIRM, why, now)
    incidents.list_evidence(session, fresh.id, worse, also=_seen_alone(session, confirm))
    if known is None:
        notify_incident(session, NotificationKind.OPENED, fresh, who=KUNLINE, why=why, now=now)
    return fresh.id


def _known(session: WriteSession, confirm: StoredConfirm) -> Incident | None:
    """Return the incident of the same event, or an open one of the same change of stack."""
    if (of_event := incidents.of_event(session, confirm.event_id)) is not None:
        whole = of_event.merged_into
        return of_event if whole is None else incidents.read(session, whole)
    still_open = incidents.newest(session, IncidentFilter(is_open=True), limit=OPEN_MAX)
    alike = [
        each
        for each in still_open
        if is_of_change(
            each,
            Direction.WORSE,
            baseline_stack_key=confirm.baseline_stack_key,
            candidate_stack_key=confirm.candidate_stack_key,
        )
    ]
    return alike[-1] if alike else None


def _new(
    session: WriteSession, confirm: StoredConfirm, worse: Sequence[IncidentCell], now: datetime
) -> Incident:
    """Return a new incident, named after what alarmed, or after the regimes that are worse."""
    title, seen_at = f"worse on {confirm.host}", confirm.asked_at
    regimes = {regime_of(each.metric) for each in worse}
    try:
        event = read_event(session, confirm.event_id).event
        what = " and ".join(each for each in Regime if each in regimes)
        named = event.trigger if len(regimes) < SEVERAL else what
        title, seen_at = f"{named} worse since {event.stack_name}", event.seen_at
    except UnknownEventError:
        # Runs were withdrawn since, and the screen tells another story; the launches stand.
        pass
    return Incident(
        id=uuid4(),
        title=title,
        direction=Direction.WORSE,
        baseline_stack_key=confirm.baseline_stack_key,
        candidate_stack_key=confirm.candidate_stack_key,
        opened_at=now,
        opened_by=KUNLINE,
        seen_at=seen_at,
        event_id=confirm.event_id,
    )


def _newest_cells(confirm: StoredConfirm) -> list[ConfirmCell]:
    return [ConfirmCell.model_validate(each) for each in confirm.looks[-1]["cells"]]


def _evidence(cell: ConfirmCell, confirm: StoredConfirm) -> IncidentCell | None:
    """Return a cell that the newest look calls regressed as an incident lists it, or None."""
    verdict = cell.verdict
    if verdict is None or verdict.outcome is not Outcome.REGRESSED or verdict.worsening is None:
        return None
    return IncidentCell(
        cell=cell_of(cell),
        metric=cell.metric,
        change=verdict.worsening,
        low=verdict.low,
        high=verdict.high,
        session_id=confirm.session_id,
        run_ids=cell.run_ids,
    )


def _seen_alone(session: WriteSession, confirm: StoredConfirm) -> list[IncidentCell]:
    """Return what the event lists as well, which the screen alone saw."""
    if confirm.direction is not Direction.WORSE:
        return []
    try:
        return listed_of_event(session, read_event(session, confirm.event_id))
    except UnknownEventError:
        return []


def _note(session: WriteSession, incident: Incident, act: Act, why: str, now: datetime) -> None:
    entry = Entry(
        at=now, actor=KUNLINE, act=act, noun=Noun.INCIDENT, noun_id=str(incident.id), reason=why
    )
    audits.keep(session, [entry])


def _audit(session: WriteSession, ended: StoredConfirm, now: datetime) -> None:
    entry = Entry(
        at=now,
        actor=KUNLINE,
        act=Act.CONFIRM,
        noun=Noun.CONFIRM,
        noun_id=str(ended.id),
        reason=ended.reason[:1000],
        after={
            "outcome": ended.outcome.value if ended.outcome else None,
            "ended_by": ended.ended_by.value if ended.ended_by else None,
            "launches": ended.launches,
            "card_s": ended.card_s,
            "incident_id": str(ended.incident_id) if ended.incident_id else None,
        },
    )
    audits.keep(session, [entry])
