"""The operator's process: python -m service.admin."""

import argparse
import secrets
import sys
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from service.config import read_settings
from service.domain.token import Scope
from service.store import schema
from service.store.database import create_database, reading, words_of, writing
from service.store.schema import SchemaError
from service.store.tokens import StoredToken, UnknownTokenError
from service.usecases.issue_token import (
    TokenNameTakenError,
    issue_token,
    list_tokens,
    revoke_token,
)


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
        revoke_token(session, name=asked.name, now=datetime.now(UTC))


def _line(token: StoredToken) -> str:
    if token.revoked_at is not None:
        until = f"revoked {token.revoked_at:%Y-%m-%d}"
    elif token.expires_at is not None:
        until = f"until {token.expires_at:%Y-%m-%d}"
    else:
        until = "without end"
    return f"{token.name}  {','.join(token.scopes)}  {until}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.admin", description=__doc__)
    nouns = parser.add_subparsers(required=True)
    nouns.add_parser("migrate", help="bring the database's schema up").set_defaults(act=migrate)
    token = nouns.add_parser("token", help="API tokens").add_subparsers(required=True)
    create = token.add_parser("create", help="make one and print its secret once")
    create.add_argument("name")
    create.add_argument(
        "--scope", action="append", required=True, choices=[scope.value for scope in Scope]
    )
    create.add_argument("--days", type=int, help="how long it counts; without it, without end")
    create.set_defaults(act=create_token)
    token.add_parser("list", help="show them without secrets").set_defaults(act=show_tokens)
    revoke = token.add_parser("revoke", help="end one at once")
    revoke.add_argument("name")
    revoke.set_defaults(act=end_token)
    return parser


if __name__ == "__main__":
    sys.exit(main())
