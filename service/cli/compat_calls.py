"""Typed calls of the compatibility table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.client import Client
from service.domain.compat import CompatState
from service.formats.compat import (
    CompatCells,
    CompatEntry,
    CompatHistory,
    CompatPage,
    CompatPivot,
)
from service.formats.compat_snapshots import CompatSnapshot
from service.formats.constraints import DeclaredRead

PAGE = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines are asked for. components: texts such as 'xre=5.37'."""

    model: str | None = None
    card_model: str | None = None
    states: Sequence[CompatState] = ()
    components: Sequence[str] = ()

    @property
    def query(self) -> dict[str, str | int | bool | list[str] | None]:
        """The question as the address holds it."""
        return {
            "model": self.model,
            "card_model": self.card_model,
            "state": [state.value for state in self.states],
            "component": list(self.components),
        }


def table(client: Client, wanted: Wanted, *, limit: int) -> tuple[tuple[CompatEntry, ...], int]:
    """Return so many lines of the table, and how many stacks are still to be told anew."""
    found: list[CompatEntry] = []
    cursor, due = None, 0
    while len(found) < limit:
        query = {**wanted.query, "limit": min(PAGE, limit - len(found)), "cursor": cursor}
        page = client.ask(CompatPage, "compat", query=query)
        found += page.entries
        cursor, due = page.cursor, page.due
        if cursor is None:
            break
    return tuple(found), due


def cells(client: Client, stack: str, wanted: Wanted) -> CompatCells:
    """Return one stack cell by cell."""
    return client.ask(CompatCells, f"compat/stacks/{stack}", query=wanted.query)


def pivot(client: Client, row: str, column: str, wanted: Wanted) -> CompatPivot:
    """Return the table turned by two components."""
    query = {**wanted.query, "row": row, "column": column}
    return client.ask(CompatPivot, "compat/pivot", query=query)


def history(client: Client, condition_key: str, component: str | None) -> CompatHistory:
    """Return what became of a cell."""
    query = {"component": component}
    return client.ask(CompatHistory, f"compat/cells/{condition_key}", query=query)


def snapshot(client: Client, *, now: datetime, limit: int) -> CompatSnapshot:
    """Return the whole table and the constraints, as they are now."""
    entries, _ = table(client, Wanted(), limit=limit)
    constraints = client.ask_all(DeclaredRead, "compat/constraints")
    return CompatSnapshot(taken_at=now, entries=entries, constraints=constraints)
