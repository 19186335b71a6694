"""Issue, rotate, list and revoke API tokens. The secret is shown once and never stored."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.token import Caller, Scope
from service.store import audits, tokens
from service.store.database import ReadSession, WriteSession
from service.store.tokens import StoredToken, UnknownTokenError

PREFIX = "kl_"
OPERATOR = "the operator"
# A use is noted no more often than that: it is a write beside each read.
NOTED_EVERY = timedelta(minutes=5)


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
    who: str = OPERATOR,
) -> Issued:
    """Store a new token and return it with its secret. Raises TokenNameTakenError.

    draw: returns 32 random bytes as text, another each time. who: kept in the audit.
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
    audits.keep(session, [_entry(token, Act.ISSUE, who, now)])
    return Issued(token, secret)


def rotate_token(
    session: WriteSession,
    *,
    name: str,
    grace: timedelta,
    expires_at: datetime | None,
    now: datetime,
    draw: Callable[[], str],
    who: str = OPERATOR,
) -> Issued:
    """Issue another secret under a token's name, with its scopes, and return it.

    grace: for how long the old secret still counts, under the name and the time of rotation, so
    that it can be exchanged where it is used. Raises UnknownTokenError and TokenNameTakenError.
    """
    before = tokens.named(session, name)
    kept = f"{name}~{now:%Y%m%dT%H%M%S}"
    if any(token.name == kept for token in tokens.by_name(session)):
        raise TokenNameTakenError(kept)
    tokens.rename(session, before.id, kept, expires_at=now + grace)
    audits.keep(session, [_entry(before, Act.ROTATE, who, now)])
    scopes = [Scope(scope) for scope in before.scopes]
    return issue_token(
        session, name=name, scopes=scopes, expires_at=expires_at, now=now, draw=draw, who=who
    )


def revoke_token(
    session: WriteSession, *, name: str, now: datetime, who: str = OPERATOR
) -> StoredToken:
    """End a token at once, and with it what it was rotated from, and return it.

    name: of the token, or its secret: of a leaked one nobody may know more. Raises
    UnknownTokenError.
    """
    token = _named_or_secret(session, name)
    older = [each for each in tokens.by_name(session) if each.name.startswith(f"{token.name}~")]
    for each in (token, *older):
        if each.revoked_at is None:
            tokens.revoke(session, each.name, now=now)
            audits.keep(session, [_entry(each, Act.REVOKE, who, now)])
    return token


def _named_or_secret(session: ReadSession, name: str) -> StoredToken:
    if name.startswith(PREFIX) and (found := tokens.by_digest(session, digest_of(name))):
        return found
    if name.startswith(PREFIX):
        raise UnknownTokenError("of this secret")
    return tokens.named(session, name)


def note_use(session: WriteSession, caller: Caller, *, now: datetime) -> None:
    """Keep that a token was used now."""
    if caller.name is not None:
        tokens.note_use(session, caller.name, now=now)


def use_is_to_be_noted(session: ReadSession, caller: Caller, *, now: datetime) -> bool:
    """Return whether it is a while since a token's use was noted."""
    if caller.name is None:
        return False
    noted = tokens.named(session, caller.name).last_used_at
    return noted is None or now - noted >= NOTED_EVERY


def _entry(token: StoredToken, act: Act, who: str, now: datetime) -> Entry:
    ends = token.expires_at.isoformat() if token.expires_at else None
    state = {"name": token.name, "scopes": list(token.scopes), "expires_at": ends}
    reason = f"token {token.name}"
    return Entry(now, who, act, Noun.TOKEN, str(token.id), reason, after=state)


def list_tokens(session: ReadSession) -> Sequence[StoredToken]:
    """Return every token ever issued, by name, without secrets."""
    return tokens.by_name(session)


def digest_of(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256; it is random, so that is enough."""
    return sha256(secret.encode()).hexdigest()
