"""Queries of the compatibility table: what is told of stacks, and which are to be told anew."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, or_, select, tuple_
from sqlalchemy.orm import aliased

from service.domain.compat import CompatState
from service.domain.difference import ABSENT
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent, insert_new
from service.store.tables import (
    CompatComponentRow,
    CompatRow,
    CompatStackRow,
    CompatToldRow,
    StackRow,
)

# As many keys as one statement names at most.
BATCH = 500


@dataclass(frozen=True, slots=True)
class CompatFilter:
    """Which stacks are asked for; None or nothing leaves a field open.

    components: versions by name; '5.37' stands for '5.37.0.0' as well.
    """

    model: str | None = None
    card_model: str | None = None
    states: Collection[CompatState] = ()
    stack_keys: Collection[str] = ()
    components: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToldStack:
    """One stack for one model on one kind of card; both are empty where it has no run at all."""

    stack_key: str
    name: str
    chip: str
    built_at: date
    card_model: str
    model: str
    state: str
    measured_at: datetime | None
    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToldCell:
    """One stack in one cell, as it is told."""

    stack_key: str
    condition_key: str
    protocol_key: str
    card_model: str
    model: str
    state: str
    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PivotSquare:
    """How many stacks with one version of each of two components are in a state."""

    row: str
    column: str
    state: str
    stacks: int
    measured_at: datetime | None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A stack in a cell, with the version of the component that is followed."""

    stack_name: str
    built_at: date
    version: str | None
    cell: ToldCell


def hold(session: WriteSession) -> None:
    """Let nobody else tell, or say that something changed, until this session ends."""
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended("kunline compat", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def forget(session: WriteSession, stack_keys: Collection[str]) -> None:
    """Say that some stacks are to be told anew; what is told of them stays until then."""
    wanted = sorted(stack_keys)
    if wanted:
        hold(session)
    for begin in range(0, len(wanted), BATCH):
        some = CompatToldRow.stack_key.in_(wanted[begin : begin + BATCH])
        _delete(session, CompatToldRow, some)


def forget_like(session: WriteSession, condition_keys: Collection[str]) -> None:
    """Say that all stacks are to be told anew that serve the models of some conditions.

    What a cell is held to was changed; and a stack that has no run there is untested in it.
    """
    hold(session)
    here = select(CompatRow.model).where(CompatRow.condition_key.in_(set(condition_keys)))
    keys = select(CompatRow.stack_key).where(CompatRow.model.in_(here))
    _delete(session, CompatToldRow, CompatToldRow.stack_key.in_(keys))


def due(session: ReadSession, *, rule: str, limit: int) -> Sequence[str]:
    """Return stacks that are to be told anew, the newest built first."""
    query = _due(rule).with_only_columns(StackRow.key)
    return session.scalars(
        query.order_by(StackRow.built_at.desc(), StackRow.key).limit(limit)
    ).all()


def due_count(session: ReadSession, *, rule: str) -> int:
    """Return how many stacks are to be told anew; two counts are cheaper than to name them."""
    told = select(func.count()).select_from(CompatToldRow).where(CompatToldRow.rule == rule)
    all_stacks = select(func.count()).select_from(StackRow)
    query = select(all_stacks.scalar_subquery() - told.scalar_subquery())
    return session.scalar(query) or 0


def keep(
    session: WriteSession,
    stacks: Sequence[ToldStack],
    cells: Sequence[ToldCell],
    components: Mapping[str, Mapping[str, str]],
    *,
    rule: str,
    now: datetime,
) -> None:
    """Store what is told of some stacks, in place of all that was. components: by stack key."""
    keys = sorted(components)
    for table in (CompatRow, CompatStackRow, CompatComponentRow, CompatToldRow):
        _delete(session, table, table.stack_key.in_(keys))
    insert_new(session, CompatStackRow, [_fields(each) for each in stacks])
    insert_new(session, CompatRow, [_fields(each) for each in cells])
    versions = [
        {"stack_key": key, "name": name, "version": version}
        for key, of_stack in components.items()
        for name, version in of_stack.items()
    ]
    insert_new(session, CompatComponentRow, versions)
    told = [{"stack_key": key, "rule": rule, "told_at": now} for key in keys]
    insert_absent(session, CompatToldRow, told)


def page(
    session: ReadSession,
    wanted: CompatFilter,
    *,
    after: tuple[date, str, str, str] | None,
    limit: int,
) -> Sequence[ToldStack]:
    """Return stacks, the newest built first. after: what the page before ended with.

    Of a model that is asked for, stacks without a run under it are there as well, as untested.
    """
    query, order = _of_model(wanted) if wanted.model is not None else _of_any_model(wanted)
    if after is not None:
        query = query.where(tuple_(*order) < tuple_(*after))
    newest = query.order_by(*(column.desc() for column in order))
    return [ToldStack(**row) for row in session.execute(newest.limit(limit)).mappings()]


def components(session: ReadSession, keys: Collection[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the versions of some stacks' components, by stack key and name."""
    found: dict[str, dict[str, str]] = {key: {} for key in keys}
    columns = CompatComponentRow.stack_key, CompatComponentRow.name, CompatComponentRow.version
    query = select(*columns).where(CompatComponentRow.stack_key.in_(set(keys)))
    for stack_key, name, version in session.execute(query):
        found[stack_key][name] = version
    return found


def cells(
    session: ReadSession, stack_keys: Collection[str], wanted: CompatFilter, *, limit: int
) -> Sequence[ToldCell]:
    """Return what is told of some stacks, cell by cell."""
    query = select(CompatRow.__table__).where(CompatRow.stack_key.in_(set(stack_keys)))
    if wanted.model is not None:
        query = query.where(CompatRow.model == wanted.model)
    if wanted.card_model is not None:
        query = query.where(CompatRow.card_model == wanted.card_model)
    ordered = query.order_by(CompatRow.stack_key, CompatRow.condition_key, CompatRow.protocol_key)
    return [ToldCell(**row) for row in session.execute(ordered.limit(limit)).mappings()]


def history(
    session: ReadSession, condition_key: str, *, component: str | None, limit: int
) -> Sequence[HistoryRow]:
    """Return the newest stacks that were asked to run under a condition, oldest built first."""
    named = aliased(CompatComponentRow)
    query = (
        select(StackRow.name, StackRow.built_at, named.version, CompatRow)
        .join(StackRow, StackRow.key == CompatRow.stack_key)
        .outerjoin(named, and_(named.stack_key == CompatRow.stack_key, named.name == component))
        .where(CompatRow.condition_key == condition_key)
        .order_by(StackRow.built_at.desc(), StackRow.key, CompatRow.protocol_key)
        .limit(limit)
    )
    return [
        HistoryRow(name, built_at, version, _cell(row))
        for name, built_at, version, row in session.execute(query)
    ][::-1]


def pivot(
    session: ReadSession, row: str, column: str, wanted: CompatFilter
) -> Sequence[PivotSquare]:
    """Return how many stacks are in each state, by the versions of two components."""
    left, right = aliased(CompatComponentRow), aliased(CompatComponentRow)
    versions = func.coalesce(left.version, ABSENT), func.coalesce(right.version, ABSENT)
    here = CompatStackRow.stack_key
    query = (
        select(*versions, CompatStackRow.state, func.count(), func.max(CompatStackRow.measured_at))
        .outerjoin(left, and_(left.stack_key == here, left.name == row))
        .outerjoin(right, and_(right.stack_key == here, right.name == column))
        .where(*_conditions(wanted, CompatStackRow.state))
        .group_by(*versions, CompatStackRow.state)
    )
    return [PivotSquare(*found) for found in session.execute(query)]


def models(session: ReadSession) -> Sequence[tuple[str, str]]:
    """Return every card model and model that any stack was measured under."""
    columns = CompatStackRow.card_model, CompatStackRow.model
    rows = session.execute(select(*columns).where(CompatStackRow.model != "").distinct())
    return sorted((row.card_model, row.model) for row in rows)


def _due(rule: str) -> Select[Any]:
    told = and_(CompatToldRow.stack_key == StackRow.key, CompatToldRow.rule == rule)
    return select(StackRow).where(~exists().where(told))


def _delete(session: WriteSession, table: Any, which: ColumnElement[bool]) -> None:
    session.execute(delete(table).where(which).execution_options(synchronize_session=False))


def _fields(told: ToldStack | ToldCell) -> dict[str, Any]:
    return {name: getattr(told, name) for name in told.__dataclass_fields__}


def _cell(row: CompatRow) -> ToldCell:
    return ToldCell(**{name: getattr(row, name) for name in ToldCell.__dataclass_fields__})


def _card() -> ColumnElement[str]:
    return func.coalesce(CompatStackRow.card_model, "")


def _model() -> ColumnElement[str]:
    return func.coalesce(CompatStackRow.model, "")


def _of_any_model(wanted: CompatFilter) -> tuple[Select[Any], Sequence[Any]]:
    """Return the lines that are told, and what orders them: one index, read backwards."""
    row = CompatStackRow
    query = select(row.__table__).where(*_conditions(wanted, row.state))
    return query, (row.built_at, row.stack_key, row.card_model, row.model)


def _of_model(wanted: CompatFilter) -> tuple[Select[Any], Sequence[Any]]:
    """Return every stack with what is told of it for a model, and untested where nothing is."""
    state = func.coalesce(CompatStackRow.state, CompatState.UNTESTED.value)
    here = [CompatStackRow.stack_key == StackRow.key, CompatStackRow.model == wanted.model]
    if wanted.card_model is not None:
        here.append(CompatStackRow.card_model == wanted.card_model)
    narrowed = CompatFilter(None, None, wanted.states, wanted.stack_keys, wanted.components)
    query = (
        select(
            StackRow.key.label("stack_key"),
            StackRow.name,
            StackRow.chip,
            StackRow.built_at,
            _card().label("card_model"),
            _model().label("model"),
            state.label("state"),
            CompatStackRow.measured_at,
            CompatStackRow.told,
        )
        .select_from(StackRow)
        .outerjoin(CompatStackRow, and_(*here))
        .where(*_conditions(narrowed, state, key=StackRow.key))
    )
    return query, (StackRow.built_at, StackRow.key, _card(), _model())


def _conditions(
    wanted: CompatFilter, state: Any, *, key: Any = CompatStackRow.stack_key
) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.model is not None:
        found.append(CompatStackRow.model == wanted.model)
    if wanted.card_model is not None:
        found.append(CompatStackRow.card_model == wanted.card_model)
    if wanted.states:
        found.append(state.in_([each.value for each in wanted.states]))
    if wanted.stack_keys:
        found.append(key.in_(wanted.stack_keys))
    for name, version in wanted.components.items():
        part = aliased(CompatComponentRow)
        is_it = or_(
            part.version == version, part.version.startswith(f"{version}.", autoescape=True)
        )
        found.append(exists().where(part.stack_key == key, part.name == name, is_it))
    return found
