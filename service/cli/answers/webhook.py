"""A signed webhook: one POST of an answer, which its receiver can know to be ours and new."""

from collections.abc import Callable

from service.cli.answers.calls import Calls, opened, tried, web_address
from service.formats.signed_webhooks import SECRET_CHARACTERS_MIN, headers

KIND = "gate"


class WeakSecretError(ValueError):
    """A webhook has no secret, or one that can be guessed."""


def require_sendable(url: str, secret: str) -> None:
    """Raise AddressError where a URL is none to send to, WeakSecretError without a good secret."""
    web_address(url)
    if len(secret) < SECRET_CHARACTERS_MIN:
        raise WeakSecretError(
            f"a webhook needs a secret of at least {SECRET_CHARACTERS_MIN} characters in "
            "KUNLINE_WEBHOOK_SECRET"
        )


def post(
    url: str,
    body: bytes,
    *,
    secret: str,
    now: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Send a body until it is taken, each time signed anew.

    Raises AddressError, WeakSecretError, AwayError and RefusedError.
    """
    require_sendable(url, secret)
    address = web_address(url)
    with opened() as http:
        calls = Calls(http)

        def once() -> None:
            signed = headers(body, secret, kind=KIND, at_s=int(now()))
            calls.send("POST", str(address), content=body, headers=signed)

        tried(once, sleep=sleep)
