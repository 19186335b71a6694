"""Order a profile: one launch of each stack of an incident, in which nothing is measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.cell import Cell
from service.formats.identities import KeyedCondition, KeyedProtocol
from service.formats.incidents import IncidentCellRead, IncidentRead
from service.formats.orders import LaunchOrder
from service.formats.profiles import ProfileOrder
from service.formats.sessions import SessionOrder
from service.store import audits, conditions, protocols, runs, sessions
from service.store.database import ReadSession, WriteSession
from service.usecases.confirm_suspects import Ordered, last_ordered
from service.usecases.read_incidents import read_incident
from service.usecases.session_content import asked_of
from service.usecases.submit_session import submit_session

# The plan that a profile's session is of, and where the audit names its session.
PLAN = "profile"
SESSION = "profile_session_id"
# As many runs of a stack in one cell as are looked through for a host that measured it.
RUNS = 1000


class NothingToProfileError(ValueError):
    """No host measured both stacks of an incident in one of its cells, so no order can be given."""

    def __init__(self, incident_id: UUID) -> None:
        super().__init__(
            f"no job measured both stacks of incident {incident_id} on one host in a cell that it "
            "lists: run its plan with both stacks first"
        )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A cell of an incident on a host that measured both stacks in it; the same stack once."""

    cell: Cell
    host: str
    arms: Sequence[Ordered]


def order_profile(
    session: WriteSession, incident_id: UUID, order: ProfileOrder, *, who: str, now: datetime
) -> UUID:
    """Queue one profiled launch of each stack and return their session's id.

    One that is not over yet is answered in place of another one.
    Raises UnknownIncidentError and NothingToProfileError.
    """
    incident = read_incident(session, incident_id).incident
    for known in reversed(ordered_before(session, incident_id)):
        if sessions.read(session, session_of(known)).state in sessions.OPEN:
            return session_of(known)
    chosen = _chosen(session, incident, order.condition_key)
    asked = _order(session, chosen)
    session_id = submit_session(session, asked, idempotency_key=f"profile/{uuid4()}", now=now)
    after = {SESSION: str(session_id), "condition_key": chosen.cell.condition_key}
    entry = Entry(now, who, Act.ORDER, Noun.INCIDENT, str(incident_id), order.why, None, after)
    audits.keep(session, [entry])
    return session_id


def ordered_before(session: ReadSession, incident_id: UUID) -> list[Entry]:
    """Return the orders of an incident's profiles, the oldest first."""
    done = audits.of_thing(session, Noun.INCIDENT, str(incident_id))
    return [entry for entry in done if SESSION in (entry.after or {})]


def session_of(entry: Entry) -> UUID:
    """Return the session of a profile's order."""
    return UUID((entry.after or {})[SESSION])


def _chosen(session: ReadSession, incident: IncidentRead, condition_key: str | None) -> _Chosen:
    """Return the cell that moved most of those that can be measured again."""
    listed = (each for each in incident.cells if condition_key in {None, each.condition_key})
    for each in sorted(listed, key=lambda cell: abs(cell.change), reverse=True):
        if found := next(_measurable(session, incident, each), None):
            return found
    raise NothingToProfileError(incident.id)


def _measurable(
    session: ReadSession, incident: IncidentRead, listed: IncidentCellRead
) -> Iterator[_Chosen]:
    """Yield each host that measured all stacks in a cell, the last one to do so first."""
    cell = Cell(listed.condition_key, listed.protocol_key)
    keys = dict.fromkeys((incident.baseline_stack_key, incident.candidate_stack_key))
    under = {cell.condition_key}
    found = runs.of_stack(session, [*keys][-1], conditions=under, limit=RUNS)
    newest = sorted(found, key=lambda run: run.measured_at, reverse=True)
    for host in dict.fromkeys(run.host for run in newest if run.may_be_judged):
        arms = [last_ordered(session, key, under, host).get(cell) for key in keys]
        if all(arms):
            yield _Chosen(cell, host, [arm for arm in arms if arm is not None])


def _order(session: ReadSession, chosen: _Chosen) -> SessionOrder:
    """Return the session, by the orders that both stacks were last measured with."""
    stored = [sessions.read(session, arm.session_id) for arm in chosen.arms]
    contents = [asked_of(each) for each in stored]
    first, last = chosen.arms[0].launch.stack_key, stored[-1]
    keys = {arm.launch.stack_key for arm in chosen.arms}
    under = conditions.by_key(session, {chosen.cell.condition_key})
    measured = protocols.by_key(session, {chosen.cell.protocol_key})
    stacks = {each.key: each for content in contents for each in content.stacks}
    return SessionOrder(
        plan=PLAN,
        pool=last.pool,
        chip=last.chip,
        stacks=tuple(each for key, each in stacks.items() if key in keys),
        models=tuple({each.id: each for of in contents for each in of.models}.values()),
        clients=tuple({each.name: each for of in contents for each in of.clients}.values()),
        conditions=tuple(map(KeyedCondition.of, under.values())),
        protocols=tuple(map(KeyedProtocol.of, measured.values())),
        launches=tuple(map(_launch, chosen.arms)),
        policy=contents[-1].policy,
        limits=contents[-1].limits,
        baseline_stack_key=first,
        host=chosen.host,
    )


def _launch(arm: Ordered) -> LaunchOrder:
    cell = arm.cell.model_copy(update={"seeds": arm.cell.seeds[:1]})
    return arm.launch.model_copy(update={"cells": (cell,), "profile": True})
