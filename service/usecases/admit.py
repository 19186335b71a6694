"""Admit a caller: who is it, and may they do this."""

from datetime import datetime
from hmac import compare_digest

from service.domain.token import Caller, Scope, ended
from service.store import tokens
from service.store.database import ReadSession
from service.usecases.issue_token import digest_of

# Somebody on this machine, while the service listens to nobody else and has no token.
SOMEBODY_HERE = Caller(None, frozenset(Scope))


class TokenMissingError(PermissionError):
    """A call came without a token, and one is needed."""

    def __init__(self) -> None:
        super().__init__(
            "this service needs a token: --token or KUNLINE_TOKEN says it to a command, and "
            "'Authorization: Bearer kl_…' in a request"
        )


class TokenRefusedError(PermissionError):
    """A token is not known, has expired or was revoked."""

    def __init__(self) -> None:
        super().__init__("this token is not known, has expired or was revoked")


class ScopeMissingError(PermissionError):
    """A token does not allow what was asked."""

    def __init__(self, caller: Caller, scope: Scope) -> None:
        super().__init__(f"the token {caller.name!r} has no scope '{scope}'")


def identify(session: ReadSession, secret: str | None, *, loopback: bool, now: datetime) -> Caller:
    """Return who calls.

    loopback: whether the service listens on this machine alone; then, and until a token is made
    for the first time, nobody needs one: revoking the last must not open the door.
    Raises TokenMissingError and TokenRefusedError.
    """
    if loopback and not tokens.any_made(session):
        return SOMEBODY_HERE
    if secret is None:
        raise TokenMissingError
    digest = digest_of(secret)
    token = tokens.by_digest(session, digest)
    if token is None or not compare_digest(token.digest, digest):
        raise TokenRefusedError
    if ended(expires_at=token.expires_at, revoked_at=token.revoked_at, now=now):
        raise TokenRefusedError
    return Caller(token.name, frozenset(Scope(scope) for scope in token.scopes))


def require_scope(caller: Caller, scope: Scope) -> None:
    """Raise ScopeMissingError unless a caller may do what needs a scope."""
    if not caller.may(scope):
        raise ScopeMissingError(caller, scope)
