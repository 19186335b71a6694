"""Read the compatibility table: pages of it, cells, pivots, and the history of a cell."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date

from service.domain.cell import title
from service.domain.compat import CompatState, Told, turned
from service.domain.constraint import Constraint, in_order, violated
from service.domain.layer import Layer
from service.formats.compat import (
    CompatCell,
    CompatCells,
    CompatEntry,
    CompatHistory,
    CompatPage,
    CompatPast,
    CompatPivot,
    CompatPivotSquare,
    CompatTold,
)
from service.formats.compat_words import Said, said
from service.store import compat, conditions, stacks
from service.store.compat import CompatFilter, HistoryRow, PivotSquare, ToldStack
from service.store.database import ReadSession
from service.usecases.declare_constraints import constraints_in_force, words_of
from service.usecases.derive_compat import compat_rule
from service.usecases.read_runs import CursorError

# As many cells of a stack, and stacks of a history, as are answered.
CELLS = 5000
PAST = 2000


def list_compat(
    session: ReadSession, wanted: CompatFilter, *, rule: str, limit: int, cursor: str | None
) -> CompatPage:
    """Return a page of the table. Raises CursorError."""
    after = None if cursor is None else _read_cursor(cursor)
    found = compat.page(session, wanted, after=after, limit=limit + 1)
    page = found[:limit]
    return CompatPage(
        entries=entries(session, page),
        cursor=_cursor(page[-1]) if len(found) > limit and page else None,
        due=compat.due_count(session, rule=compat_rule(rule)),
    )


def entries(session: ReadSession, found: Sequence[ToldStack]) -> tuple[CompatEntry, ...]:
    """Return lines of the table with the components of their stacks."""
    components = compat.components(session, {each.stack_key for each in found})
    declared = constraints_in_force(session)
    return tuple(_entry(each, components[each.stack_key], declared) for each in found)


def read_cells(session: ReadSession, asked: str, wanted: CompatFilter) -> CompatCells:
    """Return one stack cell by cell. Raises UnknownStackError."""
    stack = stacks.read(session, asked).stack
    found = compat.cells(session, [stack.key], wanted, limit=CELLS)
    return CompatCells(
        stack_key=stack.key,
        stack_name=stack.name,
        cells=tuple(CompatCell.model_validate(each.told) for each in found),
    )


def read_pivot(session: ReadSession, row: str, column: str, wanted: CompatFilter) -> CompatPivot:
    """Return the table turned by the versions of two components."""
    found = compat.pivot(session, row, column, wanted)
    by_place: dict[tuple[str, str], list[PivotSquare]] = defaultdict(list)
    for each in found:
        by_place[each.row, each.column].append(each)
    return CompatPivot(
        row=row,
        column=column,
        rows=_versions(each.row for each in found),
        columns=_versions(each.column for each in found),
        squares=tuple(_square(place, each) for place, each in sorted(by_place.items())),
    )


def read_history(
    session: ReadSession, condition_key: str, *, component: str | None
) -> CompatHistory:
    """Return what became of a cell, stack by stack. Raises UnknownConditionError."""
    condition = conditions.read(session, condition_key)
    found = compat.history(session, condition_key, component=component, limit=PAST)
    turning = where_it_turned(found, component)
    return CompatHistory(
        condition_key=condition_key,
        title=title(condition),
        component=component,
        sentence=turning.en,
        said=turning,
        past=tuple(
            CompatPast(
                stack_key=each.cell.stack_key,
                stack_name=each.stack_name,
                built_at=each.built_at,
                version=each.version,
                cell=CompatCell.model_validate(each.cell.told),
            )
            for each in found
        ),
    )


def where_it_turned(found: Sequence[HistoryRow], component: str | None) -> Said:
    """Return where a history turned, in a sentence: 'worked until xre 5.19.0.0 (…)'."""
    until = turned(_told(each) for each in found)
    worked, broken = until.last_worked, until.first_broken
    if worked is None:
        if broken is None:
            return said("history.never tested")
        return said("history.never worked", layer=str(broken.layer), stack=broken.stack_name)
    named = _named(worked, component)
    if broken is None:
        return said("history.works", worked=named)
    since = _named(broken, component)
    return said("history.turned", worked=named, layer=str(broken.layer), broken=since)


def _versions(found: Iterable[str]) -> tuple[str, ...]:
    """Return versions once each, the lowest first."""
    return tuple(sorted(set(found), key=in_order))


def _told(row: HistoryRow) -> Told:
    layer = row.cell.told.get("layer")
    return Told(
        row.stack_name, row.version, CompatState(row.cell.state), Layer(layer) if layer else None
    )


def _named(told: Told, component: str | None) -> str:
    if component is None or told.version is None:
        return told.stack_name
    return f"{component} {told.version} ({told.stack_name})"


def _square(place: tuple[str, str], found: Collection[PivotSquare]) -> CompatPivotSquare:
    moments = [each.measured_at for each in found if each.measured_at is not None]
    return CompatPivotSquare(
        row=place[0],
        column=place[1],
        states={CompatState(each.state): each.stacks for each in found},
        measured_at=max(moments, default=None),
    )


def _contradictions(
    state: CompatState, versions: Mapping[str, str], declared: Sequence[Constraint]
) -> tuple[Said, ...]:
    """Say which declared constraints a stack works against."""
    if state not in {CompatState.WORKS, CompatState.REGRESSED}:
        return ()
    return tuple(
        said("contradiction", name=each.name, words=words_of(each), source=each.source)
        for each in violated(declared, versions)
    )


def _entry(
    found: ToldStack, components: Mapping[str, str], declared: Sequence[Constraint]
) -> CompatEntry:
    odd = _contradictions(CompatState(found.state), components, declared)
    return CompatEntry(
        stack_key=found.stack_key,
        stack_name=found.name,
        chip=found.chip,
        built_at=found.built_at,
        card_model=found.card_model or None,
        model=found.model or None,
        state=CompatState(found.state),
        measured_at=found.measured_at,
        told=CompatTold.model_validate(found.told or {}),
        components=dict(components),
        contradictions=tuple(each.en for each in odd),
        contradicted=odd,
    )


def _cursor(last: ToldStack) -> str:
    words = [last.built_at.isoformat(), last.stack_key, last.card_model, last.model]
    return urlsafe_b64encode(json.dumps(words).encode()).decode()


def _read_cursor(cursor: str) -> tuple[date, str, str, str]:
    """Return what an earlier page ended with. Raises CursorError."""
    try:
        built_at, key, card, model = json.loads(urlsafe_b64decode(cursor))
        if any("\0" in word for word in (key, card, model)):
            raise CursorError
        return date.fromisoformat(built_at), str(key), str(card), str(model)
    except (ValueError, TypeError) as error:
        raise CursorError from error
