"""Queries that keep and return API tokens, by digest alone."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import case, exists, func, insert, select, update

from service.store.database import ReadSession, WriteSession
from service.store.tables import TokenRow


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token without its secret: what it may do, until when, and when somebody last used it.

    last_used_at is noted once in a while and not with each call.
    """

    id: UUID
    name: str
    digest: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = None


class UnknownTokenError(LookupError):
    """No token has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no token {name!r}")


def keep(session: WriteSession, token: StoredToken) -> None:
    """Store a new token."""
    session.execute(insert(TokenRow), [asdict(token)])


def by_digest(session: ReadSession, digest: str) -> StoredToken | None:
    """Return the token of a digest, or None."""
    row = session.scalar(select(TokenRow).where(TokenRow.digest == digest))
    return None if row is None else _stored(row)


def named(session: ReadSession, name: str) -> StoredToken:
    """Return one token. Raises UnknownTokenError."""
    row = session.scalar(select(TokenRow).where(TokenRow.name == name))
    if row is None:
        raise UnknownTokenError(name)
    return _stored(row)


def rename(session: WriteSession, token_id: UUID, name: str, *, expires_at: datetime) -> None:
    """Give a token another name, and an end no later than the one it has."""
    ends = func.coalesce(TokenRow.expires_at, expires_at)
    session.execute(
        update(TokenRow)
        .where(TokenRow.id == token_id)
        .values(name=name, expires_at=case((ends < expires_at, ends), else_=expires_at))
        .execution_options(synchronize_session=False)
    )


def note_use(session: WriteSession, name: str, *, now: datetime) -> None:
    """Keep when a token was last used."""
    session.execute(
        update(TokenRow)
        .where(TokenRow.name == name)
        .values(last_used_at=now)
        .execution_options(synchronize_session=False)
    )


def by_name(session: ReadSession, *, limit: int = 1000) -> Sequence[StoredToken]:
    """Return all tokens, by name."""
    return [
        _stored(row)
        for row in session.scalars(select(TokenRow).order_by(TokenRow.name).limit(limit))
    ]


def any_made(session: ReadSession) -> bool:
    """Return whether a token was ever made; none is ever forgotten."""
    return bool(session.scalar(select(exists().where(TokenRow.id.is_not(None)))))


def any_stored(session: ReadSession) -> bool:
    """Return whether there is a token that was not revoked; an expired one counts."""
    return bool(session.scalar(select(exists().where(TokenRow.revoked_at.is_(None)))))


def revoke(session: WriteSession, name: str, *, now: datetime) -> None:
    """End a token at once. Raises UnknownTokenError."""
    revoked = session.execute(
        update(TokenRow)
        .where(TokenRow.name == name)
        .values(revoked_at=now)
        .returning(TokenRow.name)
        .execution_options(synchronize_session=False)
    )
    if revoked.scalar_one_or_none() is None:
        raise UnknownTokenError(name)


def _stored(row: TokenRow) -> StoredToken:
    return StoredToken(
        id=row.id,
        name=row.name,
        digest=row.digest,
        scopes=row.scopes,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
