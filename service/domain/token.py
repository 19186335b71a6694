"""API tokens: what each may do, and what a caller's token allows."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a token allows. Every token may read; admin may do everything."""

    READ = "read"
    INGEST = "ingest"
    RUN = "run"
    TRIAGE = "triage"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. name: of the token; None for somebody on this machine who needs none."""

    name: str | None
    scopes: frozenset[Scope] = field(default_factory=frozenset)

    def may(self, scope: Scope) -> bool:
        """Return whether a caller may do what needs a scope."""
        return scope in {*self.scopes, Scope.READ} or Scope.ADMIN in self.scopes


def ended(*, expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Return whether a token no longer counts."""
    return revoked_at is not None or (expires_at is not None and expires_at <= now)
