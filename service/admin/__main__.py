"""The operator's process: python -m service.admin."""

import argparse
import secrets
import sys
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from service.config import read_settings
from service.domain.token import Scope
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


def main() -> int:
    """Do what the arguments say and return 0.

    Return 2 with a sentence where it cannot be done, and 1 where the database is away.
    """
    asked = _parser().parse_args()
    settings = read_settings()
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = create_database(settings.database, connections=1)
    try:
        asked.act(engine, asked)
    except (SchemaError, TokenNameTakenError, UnknownTokenError) as error:
        sys.stderr.write(f"kunline: {error}\n")
        return 2
    except OperationalError as error:
        sys.stderr.write(f"kunline: the database does not answer: {words_of(error)}\n")
        return 1
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
    expires_at = now + timedelta(days=asked.days) if asked.days else None
    with writing(engine) as session:
        issued = issue_token(
            session,
            name=asked.name,
            scopes=frozenset(Scope(scope) for scope in asked.scope),
            expires_at=expires_at,
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
            expires_at=now + timedelta(days=asked.days) if asked.days else None,
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


def _line(token: StoredToken) -> str:
    if token.revoked_at is not None:
        until = f"revoked {token.revoked_at:%Y-%m-%d}"
    elif token.expires_at is not None:
        until = f"until {token.expires_at:%Y-%m-%d}"
    else:
        until = "without end"
    used = f"used {token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "never used"
    return f"{token.name}  {','.join(token.scopes)}  {until}  {used}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.admin", description=__doc__)
    nouns = parser.add_subparsers(required=True)
    nouns.add_parser("migrate", help="bring the database's schema up").set_defaults(act=migrate)
    told = nouns.add_parser("retell", help="tell noise and changes of every finished session")
    told.set_defaults(act=retell)
    token = nouns.add_parser("token", help="API tokens").add_subparsers(required=True)
    create = token.add_parser("create", help="make one and print its secret once")
    create.add_argument("name")
    create.add_argument(
        "--scope", action="append", required=True, choices=[scope.value for scope in Scope]
    )
    create.add_argument("--days", type=int, help="how long it counts; without it, without end")
    create.set_defaults(act=create_token)
    token.add_parser("list", help="show them without secrets").set_defaults(act=show_tokens)
    other = token.add_parser("rotate", help="give one another secret, printed once")
    other.add_argument("name")
    other.add_argument("--days", type=int, help="how long it counts; without it, without end")
    other.add_argument(
        "--grace-hours", type=float, default=0.0, help="how long the old secret still counts"
    )
    other.set_defaults(act=rotate)
    revoke = token.add_parser("revoke", help="end one at once")
    revoke.add_argument("name", help="its name, or the secret itself where that has leaked")
    revoke.set_defaults(act=end_token)
    return parser


if __name__ == "__main__":
    sys.exit(main())
