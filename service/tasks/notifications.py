"""Send notifications: between two commits, within a bound of time, and never for ever."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime

import httpx
import structlog
from sqlalchemy import Engine

from service.domain.notification import WebhookForm
from service.formats.webhook_bodies import Outgoing, refusal
from service.store.database import reading, writing
from service.usecases.deliver import Due, due_deliveries, settle_delivery, take_deliveries

LOG = structlog.get_logger(__name__)
# As many at once, and as long, as a sweep may spend on it: lost jobs wait for the next sweep.
AT_ONCE = 10
SPEND_S = 4.0
TIMEOUT_S = 3.0
ANSWER_BYTES_MAX = 64 * 1024


def send_notifications(
    engine: Engine, environ: Mapping[str, str], *, base: str, now: Callable[[], datetime]
) -> int:
    """Send what is due and return how many were taken; what fails is tried again by a later sweep.

    environ: where variables that hold addresses and secrets are looked up.
    """
    with reading(engine) as session:
        found = due_deliveries(session, now=now(), limit=AT_ONCE)
    if not found:
        return 0
    until = time.monotonic() + SPEND_S
    sent = 0
    with httpx.Client(timeout=TIMEOUT_S) as http:
        for delivery in found:
            if time.monotonic() > until:
                break
            with writing(engine) as session:
                taken = take_deliveries(session, [delivery], now=now())
            for due in taken:
                error = _sent(http, due, environ, base=base, at=now())
                with writing(engine) as session:
                    settle_delivery(session, due.delivery, error=error, now=now())
                sent += error is None
                _log(due, error)
    return sent


def _sent(
    http: httpx.Client, due: Due, environ: Mapping[str, str], *, base: str, at: datetime
) -> str | None:
    """Return why a notification was not taken, without the address, or None where it was."""
    try:
        request = due.request(environ, base=base, at=at)
    except (LookupError, ValueError) as error:
        return str(error)
    try:
        return _answered(http, request, due.webhook.form)
    except httpx.HTTPError as error:
        # An error's own words may hold the address, and with it a token.
        return type(error).__name__


def _answered(http: httpx.Client, request: Outgoing, form: WebhookForm) -> str | None:
    with http.stream(
        "POST", request.address, content=request.body, headers=dict(request.headers)
    ) as response:
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > ANSWER_BYTES_MAX:
                return f"it answered more than {ANSWER_BYTES_MAX} bytes"
    if not response.is_success:
        return f"it answered {response.status_code}"
    return refusal(form, bytes(body))


def _log(due: Due, error: str | None) -> None:
    if error is not None:
        LOG.warning(
            "notification not taken",
            webhook=due.webhook.name,
            attempt=due.delivery.attempts,
            error=error,
        )
