"""Qualify an upgrade: keep how far it is, step by step, whoever goes on with it."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.qualification import (
    CHECKLIST,
    Phase,
    Progress,
    Role,
    Step,
    Way,
    next_step,
    require_step,
    way_of,
)
from service.domain.stack import SwapScope
from service.domain.stack_difference import changed_components, widest_scope
from service.formats.qualifications import (
    ActDone,
    DecisionMade,
    DoneRead,
    PhaseSessions,
    QualificationContent,
    QualificationOrder,
    QualificationRead,
)
from service.formats.stack_differences import StackNamed
from service.store import audits, qualifications, sessions, stacks
from service.store.database import ReadSession, WriteSession
from service.store.qualifications import Qualification
from service.store.stacks import StoredStack

STEP_OF = {
    Phase.TOGETHER: Step.MEASURE,
    Phase.BEFORE: Step.MEASURE_BEFORE,
    Phase.AFTER: Step.MEASURE_AFTER,
    Phase.RESTORED: Step.MEASURE_RESTORED,
}


class OneHostError(ValueError):
    """The canary is its own control."""

    def __init__(self, host: str) -> None:
        super().__init__(f"{host} cannot be its own control: name a host that is not changed")


class NoControlError(ValueError):
    """What needs a reboot is measured beside a host that is not changed."""

    def __init__(self) -> None:
        super().__init__("name a control: a host that is not changed while the canary is")


class RebootError(ValueError):
    """Stacks that differ in what needs a reboot cannot take turns on one host."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"{', '.join(names)} need a reboot, so both stacks cannot take turns on one host: "
            "measure a crossover"
        )


class SameStackError(ValueError):
    """Both stacks pin the same."""

    def __init__(self, name: str) -> None:
        super().__init__(f"both stacks pin the same as {name}: there is nothing to qualify")


class UntickedError(ValueError):
    """A person's step counts once each point of its list is done."""

    def __init__(self, points: Sequence[str]) -> None:
        super().__init__(f"not ticked: {', '.join(points)}")


class WrongHostError(ValueError):
    """A session was not measured where it should have been."""

    def __init__(self, session_id: UUID, host: str) -> None:
        super().__init__(f"session {session_id} is not bound to host {host}")


def open_qualification(
    session: WriteSession, order: QualificationOrder, *, who: str, now: datetime
) -> QualificationRead:
    """Open a qualification.

    Raises OneHostError, SameStackError, NoControlError and RebootError.
    """
    if order.canary == order.control:
        raise OneHostError(order.canary)
    if order.from_stack.key == order.to_stack.key:
        raise SameStackError(order.from_stack.stack.name)
    way = _way(order)
    both = (order.from_stack, order.to_stack)
    stacks.keep(
        session, [StoredStack(each.stack, each.chip, each.built_at) for each in both], now=now
    )
    content = QualificationContent(
        plan=order.plan,
        canary=order.canary,
        control=order.control if way is Way.CROSSOVER else None,
        way=way,
    )
    first = next_step(_progress(session, content))
    new = Qualification(
        id=uuid4(),
        from_stack_key=order.from_stack.key,
        to_stack_key=order.to_stack.key,
        state=first.value,
        content=content.model_dump(mode="json"),
        created_at=now,
        created_by=who,
        changed_at=now,
    )
    qualifications.keep(session, new)
    _audit(session, new.id, first, f"opened, {way}", who=who, now=now)
    return read_qualification(session, new.id)


def _way(order: QualificationOrder) -> Way:
    changes = changed_components(order.from_stack.stack, order.to_stack.stack)
    way = order.way or way_of(widest_scope(changes))
    if way is Way.CROSSOVER and order.control is None:
        raise NoControlError
    reboot = [each.name for each in changes if each.scope is SwapScope.HOST and not each.recorded]
    if way is Way.INTERLEAVED and reboot:
        raise RebootError(reboot)
    return way


def read_qualification(session: ReadSession, qualification_id: UUID) -> QualificationRead:
    """Return a qualification and its next step. Raises UnknownQualificationError."""
    return _read(session, qualifications.read(session, qualification_id))


def list_qualifications(session: ReadSession, *, limit: int) -> tuple[QualificationRead, ...]:
    """Return qualifications, newest first."""
    return tuple(_read(session, each) for each in qualifications.newest(session, limit=limit))


def measure_phase(
    session: WriteSession,
    qualification_id: UUID,
    told: PhaseSessions,
    *,
    who: str,
    now: datetime,
) -> QualificationRead:
    """Keep which sessions measure a phase; asked again while they run, others take their place.

    Raises UnknownQualificationError, UnknownSessionError, WrongStepError, NoControlError and
    WrongHostError.
    """
    found = qualifications.read(session, qualification_id, lock=True)
    content = _content(found)
    require_step(STEP_OF[told.phase], _progress(session, content))
    named = {Role.CANARY: (told.canary, content.canary)}
    if content.control is not None:
        if told.control is None:
            raise NoControlError
        named[Role.CONTROL] = (told.control, content.control)
    for session_id, host in named.values():
        if sessions.read(session, session_id).host != host:
            raise WrongHostError(session_id, host)
    its = {role: session_id for role, (session_id, _) in named.items()}
    changed = content.model_copy(update={"sessions": {**content.sessions, told.phase: its}})
    words = ", ".join(f"{role} in session {session_id}" for role, session_id in its.items())
    _audit(session, found.id, STEP_OF[told.phase], words, who=who, now=now)
    return _changed(session, found, changed, now=now)


def tell_done(
    session: WriteSession, qualification_id: UUID, done: ActDone, *, who: str, now: datetime
) -> QualificationRead:
    """Keep that a person changed the canary, or rolled it back. Audited.

    Raises UnknownQualificationError, WrongStepError and UntickedError.
    """
    found = qualifications.read(session, qualification_id, lock=True)
    content = _content(found)
    field = "rolled_back" if done.step is Step.ROLL_BACK else "changed"
    wanted = Step.ROLL_BACK if done.step is Step.ROLL_BACK else Step.CHANGE
    require_step(wanted, _progress(session, content))
    if left := [point for point in _read(session, found).checklist if point not in done.ticked]:
        raise UntickedError(left)
    _audit(session, found.id, wanted, done.note, who=who, now=now)
    told = DoneRead(by=who, at=now, note=done.note)
    return _changed(session, found, content.model_copy(update={field: told}), now=now)


def decide(
    session: WriteSession, qualification_id: UUID, made: DecisionMade, *, who: str, now: datetime
) -> QualificationRead:
    """Keep what a person does with the answer. Audited.

    Raises UnknownQualificationError and WrongStepError.
    """
    found = qualifications.read(session, qualification_id, lock=True)
    content = _content(found)
    require_step(Step.DECIDE, _progress(session, content))
    _audit(session, found.id, Step.DECIDE, f"{made.decision}: {made.note}", who=who, now=now)
    told = DoneRead(by=who, at=now, note=made.note)
    update = {"decision": made.decision, "decided": told}
    return _changed(session, found, content.model_copy(update=update), now=now)


def _changed(
    session: WriteSession, found: Qualification, content: QualificationContent, *, now: datetime
) -> QualificationRead:
    step = next_step(_progress(session, content))
    told = content.model_dump(mode="json")
    qualifications.change(session, found.id, told, state=step.value, now=now)
    session.expire_all()
    return read_qualification(session, found.id)


def _content(found: Qualification) -> QualificationContent:
    return QualificationContent.model_validate_json(json.dumps(found.content))


def _progress(session: ReadSession, content: QualificationContent) -> Progress:
    return Progress(
        measured=[
            phase
            for phase, its in content.sessions.items()
            if all(sessions.read(session, each).state == "finished" for each in its.values())
        ],
        changed=content.changed is not None,
        decision=content.decision,
        rolled_back=content.rolled_back is not None,
        way=content.way,
    )


def _read(session: ReadSession, found: Qualification) -> QualificationRead:
    content = _content(found)
    both = stacks.by_key(session, [found.from_stack_key, found.to_stack_key])
    before, after = (both[key].stack for key in (found.from_stack_key, found.to_stack_key))
    changes = changed_components(before, after)
    scope = widest_scope(changes)
    step = next_step(_progress(session, content))
    by_person = step in {Step.CHANGE, Step.ROLL_BACK}
    return QualificationRead(
        id=found.id,
        baseline=StackNamed(name=before.name, key=before.key),
        candidate=StackNamed(name=after.name, key=after.key),
        changes=changes,
        scope=scope,
        step=step,
        checklist=CHECKLIST[scope or SwapScope.PROCESS] if by_person else (),
        content=content,
        created_at=found.created_at,
        created_by=found.created_by,
    )


def _audit(
    session: WriteSession, qualification_id: UUID, step: Step, why: str, *, who: str, now: datetime
) -> None:
    entry = Entry(
        at=now,
        actor=who,
        act=Act.QUALIFY,
        noun=Noun.QUALIFICATION,
        noun_id=str(qualification_id),
        reason=why,
        after={"step": step.value},
    )
    audits.keep(session, [entry])
