"""The operator's process: what `kunline db` and `kunline token` become."""

import argparse
import re
import secrets
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from service.admin.which import (
    NoDatabaseError,
    database_of,
    make_folder,
    require_database,
    shown,
)
from service.config import read_settings
from service.domain.token import Scope
from service.formats.tokens import DAYS_MAX, GRACE_HOURS_MAX
from service.store import schema, sessions
from service.store.database import create_database, reading, words_of, writing
from service.store.schema import SchemaError
from service.store.tokens import StoredToken, UnknownTokenError
from service.usecases.issue_token import (
    TokenNameTakenError,
    issue_token,
    list_tokens,
    revoke_token,
    rotate_token,
)
from service.usecases.retell_session import retell_session

Act: TypeAlias = Callable[[Engine, argparse.Namespace], None]
Adding: TypeAlias = Callable[..., argparse.ArgumentParser]

NUMBER = re.compile(r"\d+(\.\d+)?")


def main() -> int:
    """Do what the arguments say and return 0.

    Return 2 with a sentence where it cannot be done, and 1 where the database is away.
    """
    asked = _parser().parse_args()
    url = database_of(read_settings(), asked.data_dir)
    try:
        if asked.makes_one:
            make_folder(url)
        else:
            require_database(url)
        return _done(url, asked)
    except (NoDatabaseError, SchemaError, TokenNameTakenError, UnknownTokenError) as error:
        sys.stderr.write(f"kunline: {error}\n")
        return 2
    except OperationalError as error:
        sys.stderr.write(f"kunline: the database does not answer: {words_of(error)}\n")
        return 1


def _done(url: str, asked: argparse.Namespace) -> int:
    sys.stderr.write(f"database: {shown(url)}\n")
    engine = create_database(url, connections=1)
    try:
        asked.act(engine, asked)
    finally:
        engine.dispose()
    return 0


def migrate(engine: Engine, _: argparse.Namespace) -> None:
    """Bring the database's schema up to this Kunline's."""
    before = schema.release_of(engine)
    schema.upgrade(engine)
    sys.stdout.write(f"schema: {before or 'empty'} → {schema.release_of(engine)}\n")


def retell(engine: Engine, _: argparse.Namespace) -> None:
    """Tell of every finished session what follows from it, a transaction each."""
    schema.prepare(engine)
    with reading(engine) as session:
        finished = sessions.finished(session)
    for count, session_id in enumerate(finished, 1):
        with writing(engine) as session:
            retell_session(session, session_id, now=datetime.now(UTC))
        sys.stderr.write(f"\r{count} of {len(finished)} sessions told")
    sys.stderr.write("\n" if finished else "no session has finished yet\n")


def create_token(engine: Engine, asked: argparse.Namespace) -> None:
    """Make a token and print its secret, once."""
    schema.prepare(engine)
    now = datetime.now(UTC)
    with writing(engine) as session:
        issued = issue_token(
            session,
            name=asked.name,
            scopes=frozenset(Scope(scope) for scope in asked.scope),
            expires_at=_end(asked.days, now),
            now=now,
            draw=lambda: secrets.token_urlsafe(32),
        )
    sys.stdout.write(f"{issued.secret}\n")
    sys.stderr.write("shown once: keep it now\n")


def rotate(engine: Engine, asked: argparse.Namespace) -> None:
    """Make another secret for a token and print it, once."""
    schema.prepare(engine)
    now = datetime.now(UTC)
    with writing(engine) as session:
        issued = rotate_token(
            session,
            name=asked.name,
            grace=timedelta(hours=asked.grace_hours),
            expires_at=_end(asked.days, now),
            now=now,
            draw=lambda: secrets.token_urlsafe(32),
        )
    sys.stdout.write(f"{issued.secret}\n")
    sys.stderr.write(f"shown once: keep it now; the old one counts {asked.grace_hours:g} h more\n")


def show_tokens(engine: Engine, _: argparse.Namespace) -> None:
    """Print every token, one a line, without secrets."""
    schema.prepare(engine)
    with reading(engine) as session:
        for token in list_tokens(session):
            sys.stdout.write(f"{_line(token)}\n")


def end_token(engine: Engine, asked: argparse.Namespace) -> None:
    """Revoke a token."""
    schema.prepare(engine)
    with writing(engine) as session:
        token = revoke_token(session, name=asked.name, now=datetime.now(UTC))
    sys.stderr.write(f"{token.name} counts no more\n")


def _end(days: int | None, now: datetime) -> datetime | None:
    return None if days is None else now + timedelta(days=days)


def _line(token: StoredToken) -> str:
    if token.revoked_at is not None:
        until = f"revoked {token.revoked_at:%Y-%m-%d %H:%M} UTC"
    elif token.expires_at is not None:
        until = f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
    else:
        until = "without end"
    used = f"used {token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never used"
    return f"{token.name}  {','.join(token.scopes)}  {until}  {used}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kunline", description=__doc__)
    nouns = parser.add_subparsers(required=True, metavar="{db,token}")
    database = nouns.add_parser("db", help="the database's schema, and what follows from runs")
    _database(database.add_subparsers(required=True, metavar="{migrate,retell}").add_parser)
    token = nouns.add_parser("token", help="API tokens")
    _token(token.add_subparsers(required=True, metavar="{create,list,rotate,revoke}").add_parser)
    return parser


def _database(add: Adding) -> None:
    made = _verb(add, "migrate", migrate, "bring the database's schema up, or make one")
    made.set_defaults(makes_one=True)
    _verb(add, "retell", retell, "tell noise and changes of every finished session")


def _token(add: Adding) -> None:
    create = _verb(add, "create", create_token, "make one and print its secret once")
    create.add_argument("name", help="what it is known by from now on; never used again")
    create.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=[scope.value for scope in Scope],
        help="what it allows; again for more",
    )
    create.add_argument("--days", type=_days, help="how long it counts; without it, without end")
    _verb(add, "list", show_tokens, "show them without secrets")
    other = _verb(add, "rotate", rotate, "give one another secret, printed once")
    other.add_argument("name", help="of the token, which it keeps")
    other.add_argument("--days", type=_days, help="how long it counts; without it, without end")
    other.add_argument(
        "--grace-hours",
        type=_hours,
        default=0.0,
        help="how long the old secret still counts [default: 0]",
    )
    revoke = _verb(add, "revoke", end_token, "end one at once")
    revoke.add_argument("name", help="its name, or the secret itself where that has leaked")


def _verb(add: Adding, name: str, act: Act, line: str) -> argparse.ArgumentParser:
    """Return the parser of one verb, with the option that all of them have."""
    parser = add(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
    parser.add_argument(
        "--data-dir",
        type=Path,
        help="that of `kunline up`; else KUNLINE_DATABASE_URL, then KUNLINE_DATA_DIR, says which "
        "database, then the user's data folder",
    )
    parser.set_defaults(act=act, makes_one=False)
    return parser


def _days(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= DAYS_MAX):
        raise argparse.ArgumentTypeError(f"1 to {DAYS_MAX} whole days, not {text}")
    return int(text)


def _hours(text: str) -> float:
    if not (NUMBER.fullmatch(text) and float(text) <= GRACE_HOURS_MAX):
        raise argparse.ArgumentTypeError(f"0 to {GRACE_HOURS_MAX} hours, not {text}")
    return float(text)


if __name__ == "__main__":
    sys.exit(main())
