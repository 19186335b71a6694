"""Queries that keep, end and return the rules of channels."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CompoundSelect, Select, func, insert, or_, select, union_all, update

from service.domain.baseline import Measured, Rule
from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.tables import (
    BaselineMovedRow,
    BaselineMoveRow,
    BaselineRow,
    BaselineRuleRow,
    ConfirmRow,
    GateRow,
    LaunchRow,
    RunRow,
    SampleRow,
    StackRow,
    WithdrawalRow,
)

# As many stacks as a rule looks through, and as many rules as are shown.
STACKS = 5_000
RULES = 500


class UnknownRuleError(LookupError):
    """No rule has that id."""

    def __init__(self, rule_id: UUID) -> None:
        super().__init__(f"no rule {rule_id}; `kunline baseline rules` shows them")


def keep(session: WriteSession, rule: Rule) -> None:
    """Store a new rule."""
    session.execute(insert(BaselineRuleRow).values(asdict(rule)))


def end(session: WriteSession, rule_id: UUID, *, now: datetime) -> None:
    """End a rule; what it pinned stays."""
    session.execute(
        update(BaselineRuleRow)
        .where(BaselineRuleRow.id == rule_id, BaselineRuleRow.ended_at.is_(None))
        .values(ended_at=now)
        .execution_options(synchronize_session=False)
    )


def read(session: ReadSession, rule_id: UUID) -> Rule:
    """Return one rule. Raises UnknownRuleError."""
    found = _all(session, _rules().where(BaselineRuleRow.id == rule_id))
    if not found:
        raise UnknownRuleError(rule_id)
    return found[0]


def in_force(session: ReadSession, channel: str | None = None) -> Sequence[Rule]:
    """Return the rules in force, of a channel or of all, by channel."""
    query = _rules().where(BaselineRuleRow.ended_at.is_(None))
    if channel is not None:
        query = query.where(BaselineRuleRow.channel == channel)
    return _all(session, query.order_by(BaselineRuleRow.channel).limit(RULES))


def newest(session: ReadSession) -> Sequence[Rule]:
    """Return every rule, the newest first."""
    order = BaselineRuleRow.made_at.desc(), BaselineRuleRow.id
    return _all(session, _rules().order_by(*order).limit(RULES))


def pins(session: ReadSession) -> Mapping[UUID, int]:
    """Return how many cells each rule pinned."""
    rows = session.execute(
        select(BaselineMoveRow.rule_id, func.count())
        .join(BaselineMovedRow, BaselineMovedRow.move_id == BaselineMoveRow.id)
        .where(BaselineMoveRow.rule_id.is_not(None))
        .group_by(BaselineMoveRow.rule_id)
    )
    return {rule_id: cells for rule_id, cells in rows if rule_id is not None}


def ever_pinned(session: ReadSession, channel: str, conditions: Collection[str]) -> frozenset[Cell]:
    """Return the cells of some conditions that a channel has, or once had, a baseline for."""
    rows = session.execute(
        select(BaselineRow.condition_key, BaselineRow.protocol_key)
        .where(BaselineRow.channel == channel, BaselineRow.condition_key.in_(conditions))
        .distinct()
    )
    return frozenset(Cell(condition, protocol) for condition, protocol in rows)


def stacks_named(session: ReadSession, rule: Rule) -> frozenset[str]:
    """Return the keys of the stacks that a rule speaks of."""
    rows = session.execute(
        select(StackRow.key, StackRow.name)
        .order_by(StackRow.built_at.desc(), StackRow.key)
        .limit(STACKS)
    )
    return frozenset(key for key, name in rows if rule.covers(name))


def measured(
    session: ReadSession, stack_keys: Collection[str], *, session_id: UUID | None
) -> Sequence[Measured]:
    """Return what some stacks measured that may be judged, in a session or in all of them.

    What a gate or a confirm measured was asked for to judge a change, and is nobody's release.
    """
    cell = RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key
    counted = (
        select(SampleRow.run_id, func.max(SampleRow.count).label("repeats"))
        .group_by(SampleRow.run_id)
        .subquery()
    )
    query = (
        select(*cell, RunRow.measured_at, counted.c.repeats, LaunchRow.drift)
        .join(counted, counted.c.run_id == RunRow.id)
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(
            RunRow.stack_key.in_(stack_keys),
            RunRow.state == "measured",
            WithdrawalRow.run_id.is_(None),
            or_(RunRow.session_id.is_(None), RunRow.session_id.not_in(_tried())),
        )
    )
    if session_id is not None:
        query = query.where(RunRow.session_id == session_id)
    found: dict[tuple[str, Cell], tuple[datetime, int]] = {}
    for stack_key, condition, protocol, at, repeats, drift in session.execute(query):
        if not drift:
            place = stack_key, Cell(condition, protocol)
            first, count = found.get(place, (at, 0))
            found[place] = min(first, at), count + repeats
    return [Measured(cell, key, at, count) for (key, cell), (at, count) in found.items()]


def _tried() -> CompoundSelect[Any]:
    confirms = select(ConfirmRow.session_id).where(ConfirmRow.session_id.is_not(None))
    return union_all(select(GateRow.session_id), confirms)


def _rules() -> Select[Any]:
    return select(BaselineRuleRow)


def _all(session: ReadSession, query: Select[Any]) -> Sequence[Rule]:
    return [
        Rule(
            id=row.id,
            channel=row.channel,
            stacks=row.stacks,
            why=row.why,
            made_by=row.made_by,
            made_at=row.made_at,
            ended_at=row.ended_at,
        )
        for row in session.scalars(query)
    ]
