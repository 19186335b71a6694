"""JSON objects out of a tool's file, good ones kept beside bad ones, every problem with a code."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, count
from operator import sub

from service.formats.tools.json_values import value_in
from service.formats.tools.lines import MAX_OBJECT_BYTES, Stream, chunks_of, lines_of, too_large
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Problem

# A file with more than this many problems is not a result file.
MAX_PROBLEMS = 1000
# Places tried in all the damaged lines of a file, and how far from a line's end, before an object
# appended to half a line is given up.
MAX_TRIES = 2000
TRIED_CHARACTERS = 2**20
SHOWN = 60

# A list of objects, or the beginning of one; a log's dates in brackets are none.
_LIST = re.compile(r"\[\s*(?=\{|\]|$)")
_OBJECT = re.compile(r'\{[ \t]*"')
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET = re.compile(rb"[{}\[\]]")
_STEPS = bytes.maketrans(b"{[}]", b"\x02\x02\x00\x00")
_NO_BRACKETS = bytes(set(range(256)) - set(b"{[}]"))
_DECODER = json.JSONDecoder()

Part = Found[Document] | Problem


def objects(stream: Stream) -> Iterator[Part]:
    """Yield the JSON objects of a stream, and what could not be read, in order.

    One object a line, several on one line, pretty-printed ones and lists of objects are all read;
    gzip, a byte order mark, CRLF, blank lines and NaN or Infinity are taken as they come. No more
    than one object is held.
    """
    yield from objects_in(lines_of(chunks_of(stream)))


def objects_in(lines: Iterable[bytes | Problem | None]) -> Iterator[Part]:
    """Yield the JSON objects in lines, and what could not be read.

    None is a line over the limit. More than MAX_PROBLEMS problems end it.
    """
    problems = 0
    for part in _parts(lines):
        problems += isinstance(part, Problem)
        if problems > MAX_PROBLEMS:
            message = f"more than {MAX_PROBLEMS}: no result file; the rest of it is left"
            yield Problem(None, ProblemCode.TOO_MANY_PROBLEMS, message)
            return
        yield part


def _parts(lines: Iterable[bytes | Problem | None]) -> Iterator[Part]:
    splitter = _Splitter()
    for line in lines:
        match line:
            case bytes():
                if not splitter.holds(line):
                    yield from splitter.take(line)
            case Problem():
                yield from splitter.end()
                yield line
            case None:
                yield from splitter.take_too_large()
    yield from splitter.end()


class _Splitter:
    """Takes lines and gives the objects in them, however many lines an object has.

    Between objects it is at rest; within one it holds that object's lines; after damage it passes
    over everything up to a line that begins an object, so that one damage is one problem.
    """

    def __init__(self) -> None:
        self._line = 0
        self._held: list[bytes] = []
        self._began = 0
        self._size = 0
        self._depth = 0
        # How the line begins that ends the object: known of one that is pretty-printed.
        self._ending = b""
        self._deeper: tuple[bytes, ...] = ()
        self._in_list = False
        # How a line begins an object: at its start, or as far in as the first of its list.
        self._start = b"{"
        self._damaged = False
        self._told_not_utf8 = False
        self._strict = False
        self._tries = MAX_TRIES

    def holds(self, line: bytes) -> bool:
        """Take a line that can only be inside of a pretty-printed object; return whether it is one.

        That is most lines of a large report, and they need no more than this.
        """
        if not self._ending or not line.startswith(self._deeper) or self._size > MAX_OBJECT_BYTES:
            return False
        self._line += 1
        self._held.append(line)
        self._size += len(line) + 1
        return True

    def take(self, line: bytes) -> Iterator[Part]:
        """Yield what a further line completes."""
        self._line += 1
        if self._held:
            yield from self._within(line)
        elif self._damaged and not line.startswith((b"{", b"[", self._start)):
            yield from self._passed_over(line)
        elif line and not line.isspace():
            yield from self._at_rest(line)

    def take_too_large(self) -> Iterator[Part]:
        """Yield the problem of a line that was let go, after what came before it."""
        yield from self.end()
        self._line += 1
        yield too_large(self._line)

    def end(self) -> Iterator[Part]:
        """Yield what was held when no further line comes."""
        while self._held:
            yield from self._given_up(at_end=True)

    def _at_rest(self, line: bytes) -> Iterator[Part]:
        stripped = line.strip()
        if stripped == b"{":
            self._opened_alone(line)
            return
        if self._in_list:
            stripped = stripped.rstrip(b",")
        try:
            value = value_in(stripped)
        except (ValueError, RecursionError):
            yield from self._not_one_value(line)
            return
        yield from self._whole(value, self._line)

    def _not_one_value(self, line: bytes) -> Iterator[Part]:
        if b"\0" in line:
            yield from self._damage(line, ProblemCode.BINARY)
            return
        yield from self._utf8_told(line)
        text = line.decode(errors="replace")
        position = self._skipped(text, 0)
        while position < len(text):
            if text[position] not in "{[":
                yield from self._damage(text[position:].encode(), ProblemCode.NOT_JSON)
                return
            try:
                value, position = _DECODER.raw_decode(text, position)
            except (ValueError, RecursionError):
                yield from self._opened(text[position:].encode())
                return
            yield from self._whole(value, self._line)
            position = self._skipped(text, position)

    def _skipped(self, text: str, position: int) -> int:
        """Return where the next value begins, past blanks and what only joins a list together."""
        while position < len(text):
            if listed := _LIST.match(text, position):
                self._in_list = True
                position = listed.end()
                continue
            if self._in_list and text[position] == "]":
                self._in_list, self._start = False, b"{"
            elif not (text[position].isspace() or (self._in_list and text[position] == ",")):
                break
            position += 1
        if self._in_list and text[:position].isspace() and text[position : position + 1] == "{":
            self._start = f"{text[:position]}{{".encode()
        return position

    def _opened(self, rest: bytes) -> Iterator[Part]:
        """Begin to hold an object that this line does not end."""
        self._held = [rest]
        self._began = self._line
        self._size = len(rest)
        self._depth, lowest = _depths(rest, 0)
        if lowest <= 0:
            yield from self._given_up(at_end=False)

    def _opened_alone(self, line: bytes) -> None:
        """Begin to hold an object whose first line is a bracket alone."""
        indent = line[: line.index(b"{")]
        self._held, self._began, self._size, self._depth = [line], self._line, len(line), 1
        self._ending = indent + b"}"
        self._deeper = (indent + b" ", indent + b"\t")
        if self._in_list:
            self._start = indent + b"{"

    def _within(self, line: bytes) -> Iterator[Part]:
        if self._ending and len(self._held) == 1 and not line.startswith(self._deeper):
            self._ending = b""
        if line.startswith((b"{", self._start)) and not self._may_hold_an_object():
            yield from self._given_up(at_end=False)
            yield from self._at_rest(line)
            return
        self._held.append(line)
        self._size += len(line) + 1
        if self._ending:
            lowest = 0 if line.startswith(self._ending) else 1
        else:
            self._depth, lowest = _depths(line, self._depth)
        if self._size > MAX_OBJECT_BYTES:
            self._let_go()
            self._damaged = True
            yield too_large(self._began)
        elif lowest <= 0:
            yield from self._closed()

    def _may_hold_an_object(self) -> bool:
        """Return whether what is held so far may go on with an object at the start of a line.

        One that is pretty-printed and not indented may, after any comma; half a line hardly ends in
        one, and is told by what is found when it is taken apart.
        """
        if self._strict or self._ending:
            return False
        tail = next((piece for line in reversed(self._held) if (piece := line.strip())), b"")
        flat = len(self._held) > 1 and bool(self._held[1]) and not self._held[1][:1].isspace()
        return tail.endswith((b":", b"[", b"},")) or (flat and tail.endswith(b","))

    def _closed(self) -> Iterator[Part]:
        held = b"\n".join(self._held)
        try:
            whole = held.rstrip().rstrip(b",") if self._in_list else held
            value, rest = value_in(whole), b""
        except (ValueError, RecursionError):
            # More may stand after it on its last line, such as the comma of a list.
            yield from self._utf8_told(held)
            text = held.decode(errors="replace")
            try:
                value, end = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                yield from self._given_up(at_end=False)
                return
            rest = text[end:].strip().lstrip("," if self._in_list else "").encode()
        began = self._began
        self._let_go()
        yield from self._whole(value, began)
        if rest:
            yield from self._at_rest(rest)

    def _given_up(self, *, at_end: bool) -> Iterator[Part]:
        """Yield the problem of what is held, and then the objects that can still be found in it.

        A tool killed while it wrote leaves half a line; the next run appends its object to it.
        """
        held, began, depth, now = self._held, self._began, self._depth, self._line
        if self._ending and (value := _value(b"\n".join(held))) is not None:
            # Pretty-printed, but for its last bracket.
            self._let_go()
            yield from self._whole(value, began)
            return
        self._let_go()
        kept = self._object_at_end(held[-1])
        piece = b"\n".join(held[:3])[: 4 * SHOWN]
        if len(held) == 1:
            held[0] = held[0][: len(held[0]) - len(kept)]
            piece = held[0][: 4 * SHOWN]
        if depth > 0 or b'"' in _STRING.sub(b"", held[0]):
            where = "the file ends" if at_end and not kept else "the object ends"
            message = f"{where} before its object is whole: {_shown(piece)}"
            yield Problem(began, ProblemCode.TRUNCATED, message)
        else:
            yield Problem(began, ProblemCode.NOT_JSON, f"not JSON: {_shown(piece)}")
        self._damaged = True
        yield from self._again(held[1:], began)
        self._line = now
        if kept and not self._held:
            yield from self._at_rest(kept)

    def _again(self, lines: list[bytes], began: int) -> Iterator[Part]:
        """Yield the objects that begin a line of what was taken for one object."""
        # What is given up within this comes here again: it must not end the strictness of the rest.
        before = self._strict
        self._strict, self._line = True, began
        for line in lines:
            if line.startswith(b"{") or self._held:
                yield from self.take(line)
            else:
                self._line += 1
        self._strict = before

    def _whole(self, value: object, line: int) -> Iterator[Part]:
        self._damaged = False
        if isinstance(value, dict):
            yield Found(line, value)
        elif isinstance(value, list) and not value:
            yield Problem(line, ProblemCode.EMPTY, "an empty list: the tool wrote no result")
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    yield Found(line, item)
            if others := sum(1 for item in value if not isinstance(item, dict)):
                message = f"a list with {others} values that are no JSON objects"
                yield Problem(line, ProblemCode.NOT_AN_OBJECT, message)
        else:
            message = f"not a JSON object: {json.dumps(value)[:SHOWN]}"
            yield Problem(line, ProblemCode.NOT_AN_OBJECT, message)

    def _passed_over(self, line: bytes) -> Iterator[Part]:
        yield from self._utf8_told(line)
        if kept := self._object_at_end(line):
            yield from self._at_rest(kept)

    def _damage(self, line: bytes, code: ProblemCode) -> Iterator[Part]:
        kept = self._object_at_end(line)
        if not self._damaged:
            self._damaged = True
            what = "binary data" if code is ProblemCode.BINARY else "not JSON"
            shown = _shown(line[: len(line) - len(kept)].replace(b"\0", b""))
            yield Problem(self._line, code, f"{what}: {shown}")
        if kept:
            yield from self._at_rest(kept)

    def _object_at_end(self, line: bytes) -> bytes:
        """Return the whole object that ends a line and does not begin it; nothing where none is."""
        if not line.rstrip().endswith(b"}"):
            return b""
        text = line[-TRIED_CHARACTERS:].decode(errors="replace")
        for candidate in _OBJECT.finditer(text, 1):
            if self._tries <= 0:
                break
            self._tries -= 1
            try:
                _, stop = _DECODER.raw_decode(text, candidate.start())
            except (ValueError, RecursionError):
                continue
            if not text[stop:].strip():
                return text[candidate.start() :].encode()
        return b""

    def _utf8_told(self, line: bytes) -> Iterator[Problem]:
        if self._told_not_utf8:
            return
        try:
            line.decode()
        except UnicodeDecodeError as error:
            self._told_not_utf8 = True
            message = f"a byte that is not UTF-8, {line[error.start]:#04x}: save the file as UTF-8"
            yield Problem(self._line, ProblemCode.NOT_UTF8, message)

    def _let_go(self) -> None:
        self._held, self._ending = [], b""
        self._size = self._depth = 0


def _value(data: bytes) -> object:
    """Return the value that bytes hold, or None."""
    try:
        return value_in(data)
    except (ValueError, RecursionError):
        return None


def _depths(line: bytes, depth: int) -> tuple[int, int]:
    """Return how deep in brackets a line ends that begins at a depth, and the lowest after any.

    A line without brackets is as deep all along. Nothing is made of each bracket, for a hostile
    line has a hundred million of them.
    """
    lowest = depth or 1
    if not _BRACKET.search(line):
        return depth, lowest
    steps = _STRING.sub(b"", line).translate(_STEPS, _NO_BRACKETS)
    # A step is written one too high, as bytes are never below zero.
    lowest = min(lowest, depth + min(map(sub, accumulate(steps), count(1)), default=0))
    return depth + sum(steps) - len(steps), lowest


def _shown(piece: bytes) -> str:
    return " ".join(piece.decode(errors="replace").split())[:SHOWN]
