"""Who may call what: tokens with scopes, looked up once every few seconds."""

import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security.utils import get_authorization_scheme_param

from service.api.door import Door, Opened
from service.config import Settings
from service.domain.token import Caller, Scope
from service.usecases.admit import identify, require_scope
from service.usecases.issue_token import note_use, use_is_to_be_noted

# So long a revoked token may still be believed, and a first token may still not be asked for.
REMEMBERED_S = 2.0
REMEMBERED_MAX = 1000
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(slots=True)
class Remembered:
    """Callers by secret, for a short time: a lookup a request would cost more than the rest."""

    callers: dict[str | None, tuple[float, Caller]] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    def find(self, secret: str | None) -> Caller | None:
        """Return who was seen with a secret a short time ago."""
        until, caller = self.callers.get(secret, (0.0, None))
        return caller if self.clock() < until else None

    def keep(self, secret: str | None, caller: Caller) -> None:
        """Remember a caller for a short time."""
        if len(self.callers) >= REMEMBERED_MAX:
            self.callers.clear()
        self.callers[secret] = (self.clock() + REMEMBERED_S, caller)


def needs(scope: Scope) -> Callable[..., Coroutine[Any, Any, Caller]]:
    """Return the dependency of a route that needs a scope; it answers who calls."""

    async def allowed(request: Request, door: Opened) -> Caller:
        return await require(request, door, scope)

    return allowed


async def require(request: Request, door: Door, scope: Scope) -> Caller:
    """Return who calls. Raises what says that they may not, or that nobody knows them."""
    caller = await _caller(request, door)
    require_scope(caller, scope)
    return caller


def _secret(request: Request) -> str | None:
    scheme, secret = get_authorization_scheme_param(request.headers.get("Authorization"))
    return secret if scheme.lower() == "bearer" and secret else None


async def _caller(request: Request, door: Door) -> Caller:
    remembered: Remembered = request.app.state.remembered
    secret = _secret(request)
    caller = remembered.find(secret)
    if caller is None:
        caller = await run_in_threadpool(_identify, door, secret)
        remembered.keep(secret, caller)
    return caller


def names_beyond(settings: Settings) -> frozenset[str]:
    """Return the names by which other machines reach the service: its address, or a proxy's."""
    return frozenset({settings.host, *settings.allowed_hosts}) - LOOPBACK


def _identify(door: Door, secret: str | None) -> Caller:
    loopback = not names_beyond(door.settings)
    with door.reading() as session:
        caller = identify(session, secret, loopback=loopback, now=door.now())
        noted = use_is_to_be_noted(session, caller, now=door.now())
    if noted:
        with door.writing() as session:
            note_use(session, caller, now=door.now())
    return caller


MayRead = Annotated[Caller, Depends(needs(Scope.READ))]
MayIngest = Annotated[Caller, Depends(needs(Scope.INGEST))]
MayRun = Annotated[Caller, Depends(needs(Scope.RUN))]
MayTriage = Annotated[Caller, Depends(needs(Scope.TRIAGE))]
MayAdminister = Annotated[Caller, Depends(needs(Scope.ADMIN))]
