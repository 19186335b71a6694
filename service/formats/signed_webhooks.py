"""What makes a webhook known to be ours and new: the headers of a signed body.

The signature is HMAC-SHA256 with a secret that both sides hold, over the time, a dot and the body:
whoever keeps an old request cannot send it again later, and nothing in it can be changed.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256

# Shorter secrets can be guessed.
SECRET_CHARACTERS_MIN = 16


def headers(body: bytes, secret: str, *, kind: str, at_s: int) -> Mapping[str, str]:
    """Return the headers of a signed body. at_s: seconds since 1970.

    The same body has the same delivery id however often it is sent, so it can be taken once.
    """
    return {
        "Content-Type": "application/json",
        "User-Agent": "kunline",
        "X-Kunline-Kind": kind,
        "X-Kunline-Delivery": sha256(body).hexdigest(),
        "X-Kunline-Timestamp": str(at_s),
        "X-Kunline-Signature": f"sha256={signature(body, secret, at_s=at_s)}",
    }


def signature(body: bytes, secret: str, *, at_s: int) -> str:
    """Return the signature of a body sent at a time, in hex digits."""
    return hmac.new(secret.encode(), str(at_s).encode() + b"." + body, sha256).hexdigest()
