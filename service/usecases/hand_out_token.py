"""Make, list and end tokens for somebody who asks over the API."""

from collections.abc import Callable
from datetime import datetime, timedelta

from service.domain.token import Scope, ended
from service.formats.tokens import RotationOrder, TokenIssued, TokenOrder, TokenRead
from service.store import tokens
from service.store.database import ReadSession, WriteSession
from service.store.tokens import StoredToken
from service.usecases.issue_token import issue_token, list_tokens, revoke_token, rotate_token


class TokenOverError(ValueError):
    """A token that counts no longer would come to life again by another secret."""

    def __init__(self, name: str) -> None:
        super().__init__(f"token {name!r} counts no longer: make another one")


class FirstTokenError(ValueError):
    """The first token would leave nobody who may make another."""

    def __init__(self) -> None:
        super().__init__(
            "the first token needs the scope 'admin': from then on a token is needed to make "
            "another; `kunline token create` on the service's host makes any"
        )


def hand_out_token(
    session: WriteSession, order: TokenOrder, *, who: str, now: datetime, draw: Callable[[], str]
) -> TokenIssued:
    """Store a new token and return it with its secret.

    draw: returns 32 random bytes as text. Raises FirstTokenError and TokenNameTakenError.
    """
    if Scope.ADMIN not in order.scopes and not tokens.any_made(session):
        raise FirstTokenError
    issued = issue_token(
        session,
        name=order.name,
        scopes=set(order.scopes),
        expires_at=None if order.days is None else now + timedelta(days=order.days),
        now=now,
        draw=draw,
        who=who,
    )
    return TokenIssued(token=_read(issued.token, now), secret=issued.secret)


def exchange_secret(
    session: WriteSession,
    name: str,
    order: RotationOrder,
    *,
    who: str,
    now: datetime,
    draw: Callable[[], str],
) -> TokenIssued:
    """Give a token another secret under its name and scopes, and return it.

    draw: returns 32 random bytes as text. Raises UnknownTokenError and TokenOverError.
    """
    before = tokens.named(session, name)
    if ended(expires_at=before.expires_at, revoked_at=before.revoked_at, now=now):
        raise TokenOverError(name)
    issued = rotate_token(
        session,
        name=name,
        grace=timedelta(hours=order.grace_hours),
        expires_at=None if order.days is None else now + timedelta(days=order.days),
        now=now,
        draw=draw,
        who=who,
    )
    return TokenIssued(token=_read(issued.token, now), secret=issued.secret)


def list_handed_out(session: ReadSession, *, now: datetime) -> tuple[TokenRead, ...]:
    """Return every token ever made, by name, without secrets."""
    return tuple(_read(token, now) for token in list_tokens(session))


def take_back_token(session: WriteSession, name: str, *, who: str, now: datetime) -> TokenRead:
    """End a token at once, and what it was rotated from. Raises UnknownTokenError."""
    ended_one = revoke_token(session, name=name, now=now, who=who)
    return _read(tokens.named(session, ended_one.name), now)


def _read(token: StoredToken, now: datetime) -> TokenRead:
    over = ended(expires_at=token.expires_at, revoked_at=token.revoked_at, now=now)
    return TokenRead(
        id=token.id,
        name=token.name,
        scopes=tuple(Scope(scope) for scope in token.scopes),
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
        counts=not over,
    )
