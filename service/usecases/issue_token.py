"""Issue, list and revoke API tokens. The secret is shown once and never stored."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from uuid import uuid4

from service.domain.token import Scope
from service.store import tokens
from service.store.database import ReadSession, WriteSession
from service.store.tokens import StoredToken

PREFIX = "kl_"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token. secret: to be shown once."""

    token: StoredToken
    secret: str = field(repr=False)


class TokenNameTakenError(ValueError):
    """A token of that name exists."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a token named {name!r} exists; names are never used again")


def issue_token(
    session: WriteSession,
    *,
    name: str,
    scopes: Collection[Scope],
    expires_at: datetime | None,
    now: datetime,
    draw: Callable[[], str],
) -> Issued:
    """Store a new token and return it with its secret. Raises TokenNameTakenError.

    draw: returns 32 random bytes as text, another each time.
    """
    if any(token.name == name for token in tokens.by_name(session)):
        raise TokenNameTakenError(name)
    secret = PREFIX + draw()
    token = StoredToken(
        id=uuid4(),
        name=name,
        digest=digest_of(secret),
        scopes=sorted(scope.value for scope in scopes),
        created_at=now,
        expires_at=expires_at,
        revoked_at=None,
    )
    tokens.keep(session, token)
    return Issued(token, secret)


def revoke_token(session: WriteSession, *, name: str, now: datetime) -> None:
    """End a token at once. Raises UnknownTokenError."""
    tokens.revoke(session, name, now=now)


def list_tokens(session: ReadSession) -> Sequence[StoredToken]:
    """Return every token ever issued, by name, without secrets."""
    return tokens.by_name(session)


def digest_of(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256; it is random, so that is enough."""
    return sha256(secret.encode()).hexdigest()
