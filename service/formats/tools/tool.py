"""What every benchmark tool's module offers: how to know its results, and how to read them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from service.domain.resolution import Fact, Resolution
from service.domain.validity import RunFacts

# One JSON object as a tool wrote it.
Document = Mapping[str, Any]
Value = TypeVar("Value")


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
class Found(Generic[Value]):
    """One part of a file and the line it begins in, from 1."""

    line: int
    value: Value


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; line is None for the whole file.

    code: one of ProblemCode. message: a sentence that says what to do, where anything can be done.
    """

    line: int | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that writes JSON: recognises looks at an object's keys alone, never at a file's name.

    parse: the results that one object holds; some tools write a whole sweep as one. A problem
    without a line gets the object's.
    """

    name: str
    recognises: Callable[[Document], bool]
    parse: Callable[[Document], Sequence[Parsed | Problem]]


@dataclass(frozen=True, slots=True)
class TextTool:
    """A tool that writes plain text: a log, a console's tables, rows with commas.

    recognises: looks at a file's first lines. parse: takes the lines with their ends, of any
    number, and never keeps them all.
    """

    name: str
    recognises: Callable[[Sequence[str]], bool]
    parse: Callable[[Iterable[str]], Iterator[Found[Parsed] | Problem]]
