"""The database: engines for SQLite and PostgreSQL, and sessions typed by what they may do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NewType

from pydantic_core import from_json
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.orm import Session

BUSY_TIMEOUT_S = 30.0
# A statement or a lock that takes longer than this is a fault, not work.
STATEMENT_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_S = 5

ReadSession = NewType("ReadSession", Session)
WriteSession = NewType("WriteSession", ReadSession)


def create_database(url: str, *, connections: int = 10) -> Engine:
    """Return the engine of a database; nothing is connected yet.

    url: sqlite:///path, or postgresql://…; the driver is chosen here. connections: at most.
    """
    named = make_url(url)
    if named.get_backend_name() == "sqlite":
        return _sqlite(url, connections)
    return create_engine(
        named.set(drivername="postgresql+psycopg"),
        # What a statement carried may hold what nobody should read in a log.
        hide_parameters=True,
        # Pages read thousands of documents, and the standard library takes four times as long.
        json_deserializer=from_json,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_S,
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            "options": f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c timezone=UTC",
        },
    )


def words_of(error: SQLAlchemyError) -> str:
    """Return the first line of what the driver said, or SQLAlchemy where no driver did."""
    said = error.orig if isinstance(error, StatementError) else error
    return str(said).partition("\n")[0]


@contextmanager
def reading(engine: Engine) -> Iterator[ReadSession]:
    """Open a session that only asks."""
    with Session(engine) as session:
        yield ReadSession(session)


@contextmanager
def reading_at_once(engine: Engine) -> Iterator[ReadSession]:
    """Open a session that only asks, all of it of one moment.

    What is kept under what it rests on must not be told of runs that came in between.
    """
    # SQLite's readers see one moment anyway.
    is_sqlite = engine.dialect.name == "sqlite"
    of_one_moment = {} if is_sqlite else {"isolation_level": "REPEATABLE READ"}
    with (
        engine.connect().execution_options(**of_one_moment) as connection,
        Session(connection) as session,
    ):
        if not is_sqlite:
            # A plan for any thousand keys is a bad one for the few that changed.
            session.execute(text("SET LOCAL plan_cache_mode = force_custom_plan"))
        yield ReadSession(session)


@contextmanager
def writing(engine: Engine) -> Iterator[WriteSession]:
    """Open a session that commits once, at the end, or rolls back whole."""
    with (
        engine.connect().execution_options(writes=True) as connection,
        Session(connection, expire_on_commit=False) as session,
        session.begin(),
    ):
        yield WriteSession(ReadSession(session))


def _sqlite(url: str, connections: int) -> Engine:
    engine = create_engine(
        url,
        # What a statement carried may hold what nobody should read in a log.
        hide_parameters=True,
        # Pages read thousands of documents, and the standard library takes four times as long.
        json_deserializer=from_json,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_S,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # The driver's own BEGIN comes too late to take the write lock; _begin_sqlite sends ours.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: one that began as a reader could not wait for it, and two
    # of them would refuse each other.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
