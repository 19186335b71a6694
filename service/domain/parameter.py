"""Parameters that somebody has documented: what is worth an experiment, and how sure that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# A library reads these in silence, so a misspelt one would be measured as if it were set.
SILENT = ("BKCL_", "XCCL_")


class Family(StrEnum):
    """What a parameter turns."""

    XCCL = "xccl"
    OVERLAP = "overlap"
    GRAPH = "graph"


class Grade(StrEnum):
    """How good a source is: a vendor's or upstream, third-party code, a field report, an issue."""

    VENDOR = "A"
    CODE = "B"
    FIELD = "C"
    ISSUE = "D"


@dataclass(frozen=True, slots=True)
class Documented:
    """A parameter as its source has it. name: a variable, or a flag with its dashes.

    values: that were seen; a flag without a value is true. caution: what may go wrong, or nothing.
    """

    name: str
    family: Family
    values: tuple[str, ...]
    meaning: str
    source: str
    grade: Grade
    caution: str = ""


def is_silent(name: str) -> bool:
    """Return whether a wrong name would be passed over in silence."""
    return name.startswith(SILENT)


def named(name: str, known: Iterable[Documented]) -> Documented | None:
    """Return the documented parameter of a name, or None."""
    return next((each for each in known if each.name == name), None)
