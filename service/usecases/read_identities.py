"""Read what keys stand for: stacks, conditions and protocols; and how two stacks differ."""

from service.formats.identities import KeyedCondition, KeyedProtocol, StackOrder
from service.formats.stack_differences import DefaultsRead, StackDifference
from service.store import conditions, protocols, runs, sessions, stacks
from service.store.database import ReadSession
from service.store.stacks import StoredStack
from service.usecases.session_content import asked_of

# The service starts no server, and only a server tells its defaults.
NOT_ASKED = "`kunline stack diff` asks the servers themselves for their defaults"


def list_stacks(session: ReadSession, *, limit: int) -> tuple[StackOrder, ...]:
    """Return stacks, the newest built first."""
    return tuple(_read(stored) for stored in stacks.newest(session, limit=limit))


def read_stack(session: ReadSession, key: str) -> StackOrder:
    """Return the one stack of a name or a key's first digits, and how it was built when measured.

    Raises UnknownStackError.
    """
    found = _read(stacks.read(session, key))
    asked = _asked(session, found.key)
    if asked is None:
        return found
    return found.model_copy(update={"build": asked.build, "launch": asked.launch})


def read_condition(session: ReadSession, key: str) -> KeyedCondition:
    """Return one condition. Raises UnknownConditionError."""
    return KeyedCondition(key=key, condition=conditions.read(session, key))


def read_protocol(session: ReadSession, key: str) -> KeyedProtocol:
    """Return one protocol. Raises UnknownProtocolError."""
    return KeyedProtocol(key=key, protocol=protocols.read(session, key))


def diff_stacks(session: ReadSession, baseline: str, candidate: str) -> StackDifference:
    """Return how two stored stacks differ, by key or what it begins with.

    Raises UnknownStackError.
    """
    before, after = stacks.read(session, baseline), stacks.read(session, candidate)
    return StackDifference.of(before.stack, after.stack, DefaultsRead(unknown=(NOT_ASKED,)))


def _asked(session: ReadSession, stack_key: str) -> StackOrder | None:
    """Return a stack as the session asked for it that measured it last, or None."""
    session_id = runs.last_session_of(session, stack_key)
    if session_id is None:
        return None
    asked = asked_of(sessions.read(session, session_id))
    return next((stack for stack in asked.stacks if stack.key == stack_key), None)


def _read(stored: StoredStack) -> StackOrder:
    return StackOrder(
        key=stored.stack.key, stack=stored.stack, chip=stored.chip, built_at=stored.built_at
    )
