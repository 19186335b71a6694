"""A failure that others have met before: how it shows in a log, why it is, what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.layer import Layer


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence in both languages."""

    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """One row of the table.

    pattern: how it shows in a line of a log. layer: what is broken by it. survived: whether a
    server may be up and answer in spite of it, so that its log is looked through once it is up.
    source, grade: who says so, and how well: A vendor's or upstream source, B third-party code,
    C a field report, D an issue's thread, I inferred.
    """

    name: str
    pattern: re.Pattern[str]
    layer: Layer
    cause: Words
    remedy: Words
    source: str
    grade: str
    survived: bool
    sample: str


@dataclass(frozen=True, slots=True)
class Recognised:
    """A known failure, and the first line that shows it."""

    failure: KnownFailure
    line: str


def recognised_in(text: str, failures: Sequence[KnownFailure]) -> Recognised | None:
    """Return the first failure of the table that shows in a text, or None.

    The table's order decides and not the text's: what is narrow stands before what is wide.
    """
    lines = text.splitlines()
    for failure in failures:
        for line in lines:
            if failure.pattern.search(line):
                return Recognised(failure, line.strip())
    return None
