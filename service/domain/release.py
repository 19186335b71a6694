"""Which releases of Kunline work together: those at most one minor version apart."""

from dataclasses import dataclass


class ReleaseTextError(ValueError):
    """A text is not a release such as 0.1.0."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a release such as 0.1.0")


class ReleasesApartError(ValueError):
    """Two programs are more than one minor version apart, so they must not work together."""

    def __init__(self, *, service: str, caller: str) -> None:
        super().__init__(
            f"the service is Kunline {service} and the caller is Kunline {caller}: "
            "they work together when at most one minor version apart"
        )


@dataclass(frozen=True, slots=True)
class Release:
    """The two numbers of a release that decide whether programs understand each other."""

    major: int
    minor: int


def release(text: str) -> Release:
    """Return the release a text names; what follows its minor number does not count.

    Raises ReleaseTextError.
    """
    numbers = text.split(".")
    if len(numbers) < 2 or not all(number.isascii() and number.isdigit() for number in numbers[:2]):  # noqa: PLR2004 — a release begins with two numbers
        raise ReleaseTextError(text)
    return Release(int(numbers[0]), int(numbers[1]))


def require_near(*, service: str, caller: str) -> None:
    """Raise ReleasesApartError unless both are of one major and at most one minor apart."""
    left, right = release(service), release(caller)
    if left.major != right.major or abs(left.minor - right.minor) > 1:
        raise ReleasesApartError(service=service, caller=caller)
