"""Webhooks: where notifications go. Addresses and secrets are taken in, and never answered."""

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, NonNegativeInt, model_validator

from service.domain.notification import DeliveryState, NotificationKind, WebhookForm
from service.formats.identities import Name
from service.formats.messages import Message
from service.formats.signed_webhooks import SECRET_CHARACTERS_MIN

# A variable of the sending process that may hold an address or a secret: no other can be asked for.
FROM_ENVIRONMENT = "env:"
_VARIABLE = re.compile(r"env:KUNLINE_NOTIFY_[A-Z0-9_]{1,64}")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ALL_KINDS = tuple(kind for kind in NotificationKind if kind is not NotificationKind.TEST)


def require_address(address: str) -> str:
    """Return an address that a notification may be sent to. Raises ValueError."""
    url = urlsplit(address)
    if not url.hostname or url.username is not None:
        raise ValueError("no address of the web: https://… is meant, without a user in it")
    if url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK):
        return address
    raise ValueError("no https address: notifications are sent over https, or to this machine")


def _address(given: str) -> str:
    if any(character.isspace() or not character.isprintable() for character in given):
        raise ValueError("an address has no spaces")
    return given if _is_variable(given) else require_address(given)


def _secret(given: str) -> str:
    if not given.isprintable():
        raise ValueError("a secret is printable")
    if not _is_variable(given) and len(given) < SECRET_CHARACTERS_MIN:
        raise ValueError(f"a secret has at least {SECRET_CHARACTERS_MIN} characters")
    return given


def _is_variable(given: str) -> bool:
    """Return whether a text names a variable. Raises ValueError for one of others."""
    if not given.startswith(FROM_ENVIRONMENT):
        return False
    if _VARIABLE.fullmatch(given) is None:
        raise ValueError("a variable's name begins with KUNLINE_NOTIFY_")
    return True


Address = Annotated[str, Field(min_length=8, max_length=2000), AfterValidator(_address)]
Secret = Annotated[str, Field(min_length=1, max_length=400), AfterValidator(_secret)]


class WebhookOrder(Message):
    """A webhook to add. address, secret: themselves, or `env:KUNLINE_NOTIFY_…`, a variable.

    The variable is one of the worker's process, which sends. Without a secret nothing is signed,
    which is for a chat's robot alone. kinds: what it is told of.
    """

    name: Name
    form: WebhookForm = WebhookForm.KUNLINE
    address: Address
    secret: Secret | None = None
    kinds: tuple[NotificationKind, ...] = Field(default=ALL_KINDS, min_length=1, max_length=10)
    language: Literal["en", "zh"] = "en"
    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)

    @model_validator(mode="after")
    def _is_signed_where_it_must(self) -> Self:
        if self.form is WebhookForm.KUNLINE and self.secret is None:
            raise ValueError("the form kunline is signed: give a secret")
        if self.form is WebhookForm.WECOM and self.secret is not None:
            raise ValueError("the form wecom signs nothing: its address is its secret")
        return self


class WebhookRemoval(Message):
    """Why a webhook is told no longer."""

    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class WebhookRead(Message):
    """A webhook, without what would let others write to it.

    host: of its address, or the variable that holds it. signed: whether there is a secret.
    waiting, given_up: deliveries. last_error: of the newest delivery that was tried and not taken.
    """

    id: UUID
    name: str
    form: WebhookForm
    host: str
    address_from: Literal["stored", "environment"]
    signed: bool
    kinds: tuple[NotificationKind, ...]
    language: Literal["en", "zh"]
    made_at: AwareDatetime
    made_by: str
    removed_at: AwareDatetime | None
    waiting: NonNegativeInt
    given_up: NonNegativeInt
    last_sent_at: AwareDatetime | None
    last_error: str | None


class DeliveryRead(Message):
    """A notification on its way to a webhook. next_at: of the next try, null when it is over."""

    id: UUID
    webhook_id: UUID
    webhook_name: str
    kind: NotificationKind
    title: str
    state: DeliveryState
    attempts: NonNegativeInt
    made_at: AwareDatetime
    next_at: AwareDatetime | None
    sent_at: AwareDatetime | None
    last_error: str | None
