"""API tokens as they are asked for and shown; a secret stands in one answer alone."""

from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field

from service.domain.token import Scope
from service.formats.identities import Name
from service.formats.messages import Message

# Ten years: a token that should outlive its service is one that nobody looks after.
DAYS_MAX = 3650
# A month: two secrets of one token are one too many.
GRACE_HOURS_MAX = 720


class TokenOrder(Message):
    """What a new token may do, and for how many days it counts; None: without end."""

    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=len(Scope))
    days: Annotated[int, Field(ge=1, le=DAYS_MAX)] | None = None


class RotationOrder(Message):
    """How a token gets another secret: for how many days it counts, and the old one still.

    days: of the new secret; None: without end. grace_hours: for how long the old secret counts
    beside it, so that it can be exchanged where it is used.
    """

    days: Annotated[int, Field(ge=1, le=DAYS_MAX)] | None = None
    grace_hours: Annotated[int, Field(ge=0, le=GRACE_HOURS_MAX)] = 24


class TokenRead(Message):
    """A token without its secret. last_used_at: noted once in some minutes, not with each call."""

    id: UUID
    name: str
    scopes: tuple[Scope, ...]
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    revoked_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    counts: bool


class TokenIssued(Message):
    """A new token and its secret, which nobody can show again."""

    token: TokenRead
    secret: str
