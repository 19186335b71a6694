"""Checks from the metal up: each names its layer, and the first that breaks ends the row."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.domain.layer import Layer
from service.formats.reports import LayerFinding

FINDING_CHARACTERS_MAX = 4000


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
    """One layer's check. find keeps to its limit itself, in seconds, and never raises for it."""

    layer: Layer
    find: Callable[[float], Found]
    limit_s: float = 60.0


def checked(
    checks: Sequence[Check], *, before_each: Callable[[Layer], None] = lambda _: None
) -> tuple[LayerFinding, ...]:
    """Return what each check found, up to and including the first that breaks.

    before_each: told of each layer before it is checked; it may raise to stop.
    """
    findings: list[LayerFinding] = []
    for check in checks:
        before_each(check.layer)
        began = time.monotonic()
        found = check.find(check.limit_s)
        findings.append(_finding(check.layer, found, time.monotonic() - began))
        if isinstance(found, Breaks):
            break
    return tuple(findings)


def broken(findings: Sequence[LayerFinding]) -> LayerFinding | None:
    """Return the finding of the layer that broke, or None."""
    return next((finding for finding in findings if finding.state == "broken"), None)


def not_on(chip: str, layers: Sequence[Layer], reason: str) -> tuple[Check, ...]:
    """Return checks that say why these layers are not looked at on a chip."""
    return tuple(Check(layer, lambda _: Skipped(f"{chip}: {reason}")) for layer in layers)


def _finding(layer: Layer, found: Found, seconds: float) -> LayerFinding:
    match found:
        case Works(text):
            return LayerFinding(layer=layer, state="works", finding=_end(text), seconds=seconds)
        case Skipped(text):
            return LayerFinding(layer=layer, state="skipped", finding=_end(text), seconds=seconds)
        case Breaks(text, remedy):
            return LayerFinding(
                layer=layer, state="broken", finding=_end(text), remedy=remedy, seconds=seconds
            )


def _end(text: str) -> str:
    return text[-FINDING_CHARACTERS_MAX:]
