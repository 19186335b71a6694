"""The tool's own text of each result: the bytes of its file that the result was read from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from service.domain.reading import Reading, Unreadable
from service.formats.tools.tool import Problem

Lines = Iterator[bytes | Problem | None]
# What stands around an object in its file: line ends, and the commas of a list of objects.
_AROUND = b" \t\r\n,"


@dataclass(frozen=True, slots=True)
class Written:
    """The readings of one text, as a tool wrote it; None for one that is larger than is kept.

    A text is the lines from the one in which its readings begin to the one in which the next
    reading or problem of the file does: some tools write a whole sweep as one object.
    """

    readings: tuple[Reading, ...]
    text: bytes | None = field(repr=False)


def written_results(
    parts: Iterable[Reading | Unreadable],
    lines: Callable[[], Lines],
    *,
    most_bytes: int,
    begins_late: Callable[[str], bool] = lambda _: False,
) -> Iterator[Written | Unreadable]:
    """Yield the parts of one file in order, its readings with the texts they were read from.

    lines: opens the lines of the same file, from its first. most_bytes: of one text.
    begins_late: whether a tool's first result belongs to all lines before it as well, as under a
    table's header. No more than one text is held.
    """
    reader = _LineReader(lines)
    held: list[Reading] = []
    first = True
    for part in parts:
        if isinstance(part, Unreadable) and part.line is None:
            yield part
            continue
        if held and part.line == held[0].line and isinstance(part, Reading):
            held.append(part)
            continue
        if held:
            yield _written(reader, held, _begin(held, first, begins_late), part.line, most_bytes)
            first = False
        held = [part] if isinstance(part, Reading) else []
        if isinstance(part, Unreadable):
            yield part
    if held:
        yield _written(reader, held, _begin(held, first, begins_late), None, most_bytes)


def _begin(held: list[Reading], first: bool, begins_late: Callable[[str], bool]) -> int:
    return 1 if first and begins_late(held[0].tool) else held[0].line


def _written(
    reader: "_LineReader", held: list[Reading], begin: int, end: int | None, most_bytes: int
) -> Written:
    # A reading of a whole log comes after those of objects that stand between its lines.
    beyond = None if end is not None and end <= held[0].line else end
    return Written(tuple(held), reader.take(begin, beyond, most_bytes))


class _LineReader:
    """Gives the bytes of some lines of a file; it reads on, and anew only where it must."""

    def __init__(self, lines: Callable[[], Lines]) -> None:
        self._open = lines
        self._lines = lines()
        self._next = 1

    def take(self, begin: int, end: int | None, most_bytes: int) -> bytes | None:
        """Return lines from begin to before end, or to the last; None where they are too many."""
        if begin < self._next:
            self._lines, self._next = self._open(), 1
        kept: list[bytes] = []
        size = 0
        while end is None or self._next < end:
            try:
                line = next(self._lines)
            except StopIteration:
                break
            if isinstance(line, Problem):
                continue
            self._next += 1
            if self._next <= begin:
                continue
            size += most_bytes + 1 if line is None else len(line) + 1
            if size <= most_bytes and line is not None:
                kept.append(line)
        return b"\n".join(kept).strip(_AROUND) if size <= most_bytes else None
