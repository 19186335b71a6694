"""Notify: put what is to be announced beside what happened, in the same commit; others send it.

Nothing here opens a connection, so no report and no triage waits for a webhook.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from service.domain.cell import title
from service.domain.incident import Incident
from service.domain.notification import Delivery, NotificationKind
from service.store import conditions, deliveries, incidents, schedules, sessions, stacks, webhooks
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession, WriteSession


def notify(
    session: WriteSession, kind: NotificationKind, facts: Mapping[str, Any], *, now: datetime
) -> None:
    """Let every webhook that wants a kind be told of some facts, as JSON has them."""
    notification_id = uuid4()
    waiting = [
        Delivery(
            id=uuid4(),
            webhook_id=webhook.id,
            notification_id=notification_id,
            kind=kind,
            facts=facts,
            made_at=now,
            next_at=now,
        )
        for webhook in webhooks.told(session)
        if webhook.wants(kind)
    ]
    deliveries.keep(session, waiting)


def notify_incident(
    session: WriteSession,
    kind: NotificationKind,
    incident: Incident,
    *,
    who: str,
    why: str,
    now: datetime,
) -> None:
    """Announce what was done to an incident, by whom and why; nothing where nobody listens."""
    if _wanted(session, kind):
        facts = {**_facts_of(session, incident), "who": who, "why": why}
        notify(session, kind, facts, now=now)


def notify_confirm(session: WriteSession, ended: StoredConfirm, *, now: datetime) -> None:
    """Announce what a confirm concluded, and what it cost; nothing where nobody listens."""
    if not _wanted(session, NotificationKind.VERDICT) or ended.outcome is None:
        return
    both = ended.baseline_stack_key, ended.candidate_stack_key
    names = stacks.names(session, both)
    told = f"/incidents/{ended.incident_id}" if ended.incident_id else f"/events/{ended.event_id}"
    facts = {
        "noun": "confirm",
        "id": str(ended.id),
        "outcome": ended.outcome.value,
        "reason": ended.reason,
        "baseline": names[both[0]],
        "candidate": names[both[1]],
        "host": ended.host,
        "launches": ended.launches,
        "card_s": ended.card_s,
        "path": told,
    }
    notify(session, NotificationKind.VERDICT, facts, now=now)


def notify_night(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Announce that a schedule's night has ended; what it said is told when it is sent.

    Judging a night takes seconds, for which the last report of it is not to wait.
    """
    kind = NotificationKind.VERDICT
    if _wanted(session, kind) and _is_night(session, session_id):
        plan = sessions.read(session, session_id).plan
        facts = {
            "noun": "night",
            "id": str(session_id),
            "plan": plan,
            "path": f"/queue/{session_id}",
        }
        notify(session, kind, facts, now=now)


def _wanted(session: ReadSession, kind: NotificationKind) -> bool:
    return any(webhook.wants(kind) for webhook in webhooks.told(session))


def _is_night(session: ReadSession, session_id: UUID) -> bool:
    return any(each.session_id == session_id for each in schedules.all_of_them(session))


def _facts_of(session: ReadSession, incident: Incident) -> dict[str, Any]:
    ids = [incident.id, *(part.id for part in incidents.parts(session, [incident.id]))]
    listed = [each for of in incidents.cells(session, ids).values() for each in of]
    keys = {incident.baseline_stack_key, incident.candidate_stack_key}
    verified = incident.verified_stack_key
    names = stacks.names(session, keys | ({verified} if verified else set()))
    facts: dict[str, Any] = {
        "noun": "incident",
        "id": str(incident.id),
        "title": incident.title,
        "direction": incident.direction.value,
        "baseline": names[incident.baseline_stack_key],
        "candidate": names[incident.candidate_stack_key],
        "verified": names[verified] if verified else None,
        "host": incident.host,
        "triage": incident.answer.triage.value,
        "owner": incident.answer.owner,
        "due": incident.answer.due.isoformat() if incident.answer.due else None,
        "cells": len({each.cell for each in listed}),
        "path": f"/incidents/{incident.id}",
    }
    if listed:
        most = max(listed, key=lambda each: abs(each.change))
        key = most.cell.condition_key
        facts |= {
            "metric": most.metric,
            "cell": title(conditions.by_key(session, [key])[key]),
            "change": most.change,
            "low": most.low,
            "high": most.high,
        }
    return facts
