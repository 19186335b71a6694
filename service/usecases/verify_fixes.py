"""Verify fixes: an incident that somebody is to fix ends when a later stack is back inside."""

from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from service.domain.audit import Act, Entry, Noun
from service.domain.cell import Cell
from service.domain.incident import Direction, Incident, Triage, is_back_inside
from service.domain.notification import NotificationKind
from service.domain.verdict import Outcome
from service.store import audits, incidents, jobs, stacks
from service.store.database import WriteSession
from service.usecases.judge_session import judge_session
from service.usecases.notify import notify_incident

# Who the audit names where nobody did it.
KUNLINE = "kunline"


def verify_fixes(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """End the incidents answered with `fix` whose cells a session shows back inside the baseline.

    Only a stack built later than the one that brought it counts, and only where the session has a
    verdict on every metric that the incident lists.
    """
    measured = {
        cell["condition_key"]
        for job in jobs.of_session(session, session_id)
        for cell in job.launch["cells"]
    }
    held = incidents.open_of_conditions(session, measured)
    waiting = {each.id: each for each in held.values() if _is_to_be_fixed(each)}
    for incident in waiting.values():
        if stack_key := _back_inside(session, session_id, incident):
            _verify(session, incident, stack_key, session_id, now)


def _is_to_be_fixed(incident: Incident) -> bool:
    return incident.answer.triage is Triage.FIX and incident.direction is Direction.WORSE


def _back_inside(session: WriteSession, session_id: UUID, incident: Incident) -> str | None:
    """Return the first later stack whose verdicts are all inside, or None."""
    ids = [incident.id, *(part.id for part in incidents.parts(session, [incident.id]))]
    listed = [
        (each.cell, each.metric) for of in incidents.cells(session, ids).values() for each in of
    ]
    found: dict[str, dict[tuple[Cell, str], Outcome]] = defaultdict(dict)
    judged = judge_session(session, session_id, baseline=incident.baseline_stack_key)
    for each in judged.cells:
        cell = Cell(each.condition_key, each.protocol_key)
        for verdict in each.comparison.verdicts:
            found[each.candidate_stack_key][cell, verdict.metric] = verdict.outcome
    known = stacks.by_key(session, {*found, incident.candidate_stack_key})
    since = known[incident.candidate_stack_key].built_at
    for key, outcomes in found.items():
        told = [outcomes.get(name, Outcome.MISSING) for name in listed]
        if known[key].built_at > since and is_back_inside(told):
            return key
    return None


def _verify(
    session: WriteSession, incident: Incident, stack_key: str, session_id: UUID, now: datetime
) -> None:
    fixed = replace(incident, verified_at=now, verified_stack_key=stack_key)
    incidents.change(session, fixed)
    why = f"every metric listed is back inside the baseline in session {session_id}"
    notify_incident(session, NotificationKind.FIXED, fixed, who=KUNLINE, why=why, now=now)
    entry = Entry(
        at=now,
        actor=KUNLINE,
        act=Act.VERIFY,
        noun=Noun.INCIDENT,
        noun_id=str(incident.id),
        reason=why,
        after={"stack_key": stack_key, "session_id": str(session_id)},
    )
    audits.keep(session, [entry])
