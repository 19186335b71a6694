"""Read what keys stand for: stacks and conditions."""

from service.formats.identities import KeyedCondition, StackOrder
from service.store import conditions, stacks
from service.store.database import ReadSession
from service.store.stacks import StoredStack


def list_stacks(session: ReadSession, *, limit: int) -> tuple[StackOrder, ...]:
    """Return stacks, the newest built first."""
    return tuple(_read(stored) for stored in stacks.newest(session, limit=limit))


def read_stack(session: ReadSession, key: str) -> StackOrder:
    """Return the one stack whose key begins with the text given. Raises UnknownStackError."""
    return _read(stacks.read(session, key))


def read_condition(session: ReadSession, key: str) -> KeyedCondition:
    """Return one condition. Raises UnknownConditionError."""
    return KeyedCondition(key=key, condition=conditions.read(session, key))


def _read(stored: StoredStack) -> StackOrder:
    return StackOrder(
        key=stored.stack.key, stack=stored.stack, chip=stored.chip, built_at=stored.built_at
    )
