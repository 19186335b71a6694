"""A reading: one result parsed from a benchmark tool's file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from service.domain.gates import check
from service.domain.odds import at_odds
from service.domain.resolution import Fact, Resolution
from service.domain.tail import withheld
from service.domain.validity import Finding, RunFacts, Validity, validity_of

# A value of so many characters holds ten digits or more.
UNMISTAKABLE = 12


@dataclass(frozen=True, slots=True)
class Reading:
    """One result as its file tells it; whatever the file does not tell is absent.

    line: where it begins, from 1. tool_version: the tool's releases that write such a result, as
    far as its keys tell. definition: revision of the tool's own meaning of its metrics; readings
    of two definitions are never compared. condition: what the file tells of it, by name.
    metrics: values above zero in base units, by metric name; a tail percentile that too few
    requests carry is taken out of them, and withheld says why.
    """

    file: str
    line: int
    tool: str
    tool_version: str | None
    definition: int
    condition: Mapping[str, Fact]
    metrics: Mapping[str, float]
    facts: RunFacts
    resolution: Resolution = field(default_factory=Resolution)
    withheld: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept_back = withheld(self.metrics, self.facts.requests_completed)
        offered = {name: value for name, value in self.metrics.items() if name not in kept_back}
        object.__setattr__(self, "withheld", {**self.withheld, **kept_back})
        object.__setattr__(self, "facts", replace(self.facts, at_odds=at_odds(self.metrics)))
        object.__setattr__(self, "metrics", offered)

    @property
    def identity(self) -> object | None:
        """What tells this result from any other; None where its values are too few or too round.

        A result with all its digits is never measured twice: whatever agrees in every value and
        every count is a copy. One that was rounded may well read like another.
        """
        if not any(len(repr(value)) >= UNMISTAKABLE for value in self.metrics.values()):
            return None
        return self.tool, frozenset(self.metrics.items()), self.facts

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the gates find with what the file tells."""
        return check(self.facts)

    @property
    def validity(self) -> Validity:
        """Whether it may be judged: a bare file is incomplete at best."""
        return validity_of(self.findings)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a file, or all of it, that gave no reading; line is None for the whole file."""

    file: str
    line: int | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Readings:
    """What a file gave: the readings, and beside them what could not be read."""

    readings: tuple[Reading, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()

    def __add__(self, other: "Readings") -> "Readings":
        return Readings(self.readings + other.readings, self.unreadable + other.unreadable)
