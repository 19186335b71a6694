"""What every benchmark tool's module offers: how to know its results, and how to read one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from service.domain.resolution import Fact, Resolution
from service.domain.validity import RunFacts

# One JSON object as a tool wrote it.
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parsed:
    """One result in our words and base units, before it is told where it came from."""

    tool_version: str | None
    definition: int
    condition: Mapping[str, Fact]
    metrics: Mapping[str, float]
    facts: RunFacts
    resolution: Resolution = field(default_factory=Resolution)


@dataclass(frozen=True, slots=True)
class Tool:
    """A benchmark tool: recognises looks at an object's keys alone, never at a file's name."""

    name: str
    recognises: Callable[[Document], bool]
    parse: Callable[[Document], Parsed]
