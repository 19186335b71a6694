"""Checks from the metal up: each names its layer, and the first that breaks ends the row."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread

from service.domain.layer import Layer
from service.domain.redaction import redacted_text
from service.formats.known_failures import remedy_of
from service.formats.reports import LayerFinding, shortened

# What a check that keeps to its limit may need beyond it, to end what it started.
MARGIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Works:
    """The layer does what it should; finding says what was seen."""

    finding: str = ""


@dataclass(frozen=True, slots=True)
class Breaks:
    """The layer does not work: what was seen, and what to do about it."""

    finding: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The layer was not checked, and why."""

    reason: str


Found = Works | Breaks | Skipped


@dataclass(frozen=True, slots=True)
class Check:
    """One layer's check. find is told its limit in seconds, and should keep to it itself.

    One that does not is waited for no longer than a margin beyond its limit.
    end: called once no more checks are made, however they ended.
    """

    layer: Layer
    find: Callable[[float], Found]
    limit_s: float = 60.0
    end: Callable[[], None] = lambda: None


def checked(
    checks: Sequence[Check], *, before_each: Callable[[Layer], None] = lambda _: None
) -> tuple[LayerFinding, ...]:
    """Return what each check found, up to and including the first that breaks.

    before_each: told of each layer before it is checked; it may raise to stop.
    """
    findings: list[LayerFinding] = []
    try:
        for check in checks:
            before_each(check.layer)
            began = time.monotonic()
            found = _within_limit(check)
            findings.append(_finding(check.layer, found, time.monotonic() - began))
            if isinstance(found, Breaks):
                break
    finally:
        for check in checks:
            check.end()
    return tuple(findings)


def _within_limit(check: Check) -> Found:
    """Return what a check found, or that it was not done in time; what it raises is raised here."""
    found: list[Found] = []
    raised: list[BaseException] = []

    def find() -> None:
        try:
            found.append(check.find(check.limit_s))
        except BaseException as error:  # noqa: BLE001 — it is raised again in the thread that waits
            raised.append(error)

    thread = Thread(target=find, name=f"check {check.layer}", daemon=True)
    thread.start()
    thread.join(check.limit_s + MARGIN_S)
    if raised:
        raise raised[0]
    if found:
        return found[0]
    return Breaks(
        f"the check of the {check.layer} was not done after {check.limit_s:.0f} s",
        "look at what it waits for: a driver, a disk or a server that does not answer",
    )


def broken(findings: Sequence[LayerFinding]) -> LayerFinding | None:
    """Return the finding of the layer that broke, or None."""
    return next((finding for finding in findings if finding.state == "broken"), None)


def not_on(chip: str, layers: Sequence[Layer], reason: str) -> tuple[Check, ...]:
    """Return checks that say why these layers are not looked at on a chip."""
    return tuple(Check(layer, lambda _: Skipped(f"{chip}: {reason}")) for layer in layers)


def _finding(layer: Layer, found: Found, seconds: float) -> LayerFinding:
    match found:
        case Works(text):
            return LayerFinding(layer=layer, state="works", finding=_kept(text), seconds=seconds)
        case Skipped(text):
            return LayerFinding(layer=layer, state="skipped", finding=_kept(text), seconds=seconds)
        case Breaks(text, remedy):
            known = remedy_of(text, remedy)
            return LayerFinding(
                layer=layer, state="broken", finding=_kept(text), remedy=known, seconds=seconds
            )


def _kept(text: str) -> str:
    return shortened(redacted_text(text))
