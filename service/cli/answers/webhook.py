"""A signed webhook: one POST of an answer, which its receiver can know to be ours and new.

The signature is HMAC-SHA256 with a secret that both sides hold, over the time, a dot and the body:
whoever keeps an old request cannot send it again later, and nothing in it can be changed.
"""

import hmac
from collections.abc import Callable, Mapping
from hashlib import sha256

from service.cli.answers.calls import Calls, opened, tried, web_address

KIND = "gate"
# Shorter secrets can be guessed.
SECRET_CHARACTERS_MIN = 16


class WeakSecretError(ValueError):
    """A webhook has no secret, or one that can be guessed."""


def headers(body: bytes, secret: str, *, at_s: int) -> Mapping[str, str]:
    """Return the headers of a signed body. at_s: seconds since 1970.

    The same body has the same delivery id however often it is sent, so it can be taken once.
    Raises WeakSecretError.
    """
    if len(secret) < SECRET_CHARACTERS_MIN:
        raise WeakSecretError(
            f"a webhook needs a secret of at least {SECRET_CHARACTERS_MIN} characters in "
            "KUNLINE_WEBHOOK_SECRET"
        )
    return {
        "Content-Type": "application/json",
        "User-Agent": "kunline",
        "X-Kunline-Kind": KIND,
        "X-Kunline-Delivery": sha256(body).hexdigest(),
        "X-Kunline-Timestamp": str(at_s),
        "X-Kunline-Signature": f"sha256={signature(body, secret, at_s=at_s)}",
    }


def signature(body: bytes, secret: str, *, at_s: int) -> str:
    """Return the signature of a body sent at a time, in hex digits."""
    return hmac.new(secret.encode(), str(at_s).encode() + b"." + body, sha256).hexdigest()


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
    address = web_address(url)
    headers(body, secret, at_s=0)
    with opened() as http:
        calls = Calls(http)

        def once() -> None:
            signed = headers(body, secret, at_s=int(now()))
            calls.send("POST", str(address), content=body, headers=signed)

        tried(once, sleep=sleep)
