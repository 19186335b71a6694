"""Inserts that leave what is already there as it is, in the words of both databases.

They go to the table, past the ORM's unit of work, and each statement is built once: a report of a
run is stored by five of them, and building them anew took longer than the database did.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, insert, inspect
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects import postgresql, sqlite

from service.store.database import WriteSession
from service.store.tables import Table


def insert_absent(
    session: WriteSession, table: type[Table], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert the rows that no unique constraint refuses, all in one call."""
    if rows:
        connection = session.connection()
        connection.execute(_absent(_name(connection), core(table)), _one_or_many(rows))


def insert_new(
    session: WriteSession, table: type[Table], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, all in one call. Raises sqlalchemy.exc.IntegrityError for one that is there."""
    if rows:
        session.connection().execute(_new(core(table)), _one_or_many(rows))


def took(session: WriteSession, table: type[Table], row: Mapping[str, Any]) -> bool:
    """Insert a row and return True, or return False where a unique constraint refuses it."""
    connection = session.connection()
    taken = connection.execute(_taking(_name(connection), core(table)), row)
    return taken.first() is not None


@cache
def core(table: type[Table]) -> CoreTable:
    """Return the table under a class."""
    found = inspect(table).local_table
    if not isinstance(found, CoreTable):
        raise TypeError(f"{table.__name__} is not over one table")
    return found


def _one_or_many(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return one row as itself: the driver's way for many costs more."""
    return rows[0] if len(rows) == 1 else rows


def _name(connection: Connection) -> str:
    return connection.dialect.name


@cache
def _new(table: CoreTable) -> Insert:
    return insert(table)


@cache
def _absent(dialect: str, table: CoreTable) -> Insert:
    if dialect == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


@cache
def _taking(dialect: str, table: CoreTable) -> Any:
    key = next(iter(table.primary_key.columns))
    return _absent(dialect, table).returning(key)
