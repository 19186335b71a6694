"""Wheels that an order brings: put together from their parts, and known by content afterwards."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from packaging.utils import canonicalize_name, parse_wheel_filename

from service.domain.key import short
from service.formats.identities import WheelOrder


class WheelDamagedError(ValueError):
    """The parts of a wheel do not make the wheel that was ordered."""

    def __init__(self, wheel: WheelOrder, found: str) -> None:
        super().__init__(
            f"{wheel.file} has the digest {short(found)}, and {short(wheel.digest)} was ordered: "
            "upload it again"
        )


def put_together(wheel: WheelOrder, fetch: Callable[[str], bytes]) -> bytes:
    """Return a wheel's bytes. fetch: bytes by digest. Raises WheelDamagedError."""
    content = b"".join(map(fetch, wheel.parts))
    if (found := sha256(content).hexdigest()) != wheel.digest:
        raise WheelDamagedError(wheel, found)
    return content


def as_ordered(observed: Mapping[str, str], wheels: Sequence[WheelOrder]) -> Mapping[str, str]:
    """Return observed versions, each wheel's own in the words of the stack that it is part of.

    A wheel calls every build of a release alike, and a stack pins one of them by its digest. The
    environment is named by that digest, so where the wheel's own version is installed, it is it.
    """
    told = dict(observed)
    for wheel in wheels:
        name, own, _, _ = parse_wheel_filename(wheel.file)
        if told.get(canonicalize_name(name)) == str(own):
            told[wheel.component] = wheel.version
    return told
