"""The results in a stream: which tool wrote each is told by its content, never by a file's name."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from service.formats.tools.fields import writable
from service.formats.tools.json_values import value_in
from service.formats.tools.lines import Stream, chunks_of, lines_of, too_large
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.text import MAX_PROBLEMS, Part, objects_in
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool, Tool

KEYS_SHOWN = 6

# What a tool's module may raise at an object that only looks like its own.
_WRONG_SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)

_IF_ROWS = "a CSV needs --mapping"

Result = Found[tuple[str, Parsed]] | Problem


def results_in(
    stream: Stream, tools: Sequence[Tool], text_tools: Sequence[TextTool]
) -> Iterator[Result]:
    """Yield the results in a stream and what could not be read, in order, as they are read.

    The first text tool that knows the file's first lines reads it; a file that none knows is one of
    JSON objects. Objects that a tool knows are read wherever they stand, between the lines of a
    log too.
    """
    yield from _told_at_most(_results_in(stream, tools, text_tools))


def _results_in(
    stream: Stream, tools: Sequence[Tool], text_tools: Sequence[TextTool]
) -> Iterator[Result]:
    chunks = chunks_of(stream)
    first = next(chunks, b"")
    if isinstance(first, Problem):
        yield first
        return
    reader = _knowing(first, text_tools)
    lines = lines_of(chain((first,), chunks))
    if reader is None:
        for part in _told_as_text(objects_in(lines)):
            yield from (part,) if isinstance(part, Problem) else _of_object(part, tools)
    else:
        yield from _of_text(reader, lines, tools)


def _told_at_most(results: Iterator[Result]) -> Iterator[Result]:
    """Yield results, and no more problems than a file may have: the others are only counted.

    A gigabyte of somebody else's objects would be millions of sentences; the good results among
    them are still given.
    """
    problems = 0
    for each in results:
        if isinstance(each, Problem) and each.code != ProblemCode.TOO_MANY_PROBLEMS:
            problems += 1
            if problems > MAX_PROBLEMS:
                continue
        yield each
    if (more := problems - MAX_PROBLEMS) > 0:
        message = f"{more} more problems than the {MAX_PROBLEMS} that are told of one file"
        yield Problem(None, ProblemCode.TOO_MANY_PROBLEMS, message)


def reader_of(stream: Stream, text_tools: Sequence[TextTool]) -> TextTool | None:
    """Return the first text tool that knows a stream's first lines, or None."""
    first = next(chunks_of(stream), b"")
    return None if isinstance(first, Problem) else _knowing(first, text_tools)


def _knowing(head: bytes, text_tools: Sequence[TextTool]) -> TextTool | None:
    lines = head.decode(errors="replace").splitlines(keepends=True)
    return next((each for each in text_tools if each.recognises(lines)), None)


def _of_object(found: Found[Document], tools: Sequence[Tool]) -> Iterator[Result]:
    tool = _tool_of(found.value, tools)
    if tool is None:
        yield Problem(found.line, ProblemCode.UNKNOWN_TOOL, _unknown(found.value))
        return
    try:
        parsed = tool.parse(found.value)
    except _WRONG_SHAPE as error:
        yield _malformed(tool.name, found.line, error)
        return
    for each in parsed:
        if isinstance(each, Problem):
            yield each if each.line else replace(each, line=found.line)
        else:
            yield Found(found.line, (tool.name, each))


def _told_as_text(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield parts as they come, but of a text without any object one problem that says so."""
    first = next(parts, None)
    if first is None:
        return
    second = next(parts, None)
    if second is None and isinstance(first, Problem) and first.code == ProblemCode.NOT_JSON:
        message = f"no text that a known tool writes, and {first.message}; {_IF_ROWS}"
        yield Problem(None, ProblemCode.UNKNOWN_TEXT, message)
        return
    yield first
    if second is not None:
        yield second
    yield from parts


def _of_text(
    reader: TextTool, lines: Iterable[bytes | Problem | None], tools: Sequence[Tool]
) -> Iterator[Result]:
    aside: deque[Result] = deque()
    parsed = reader.parse(_plain(lines, tools, aside))
    while True:
        try:
            found = next(parsed, None)
        except _WRONG_SHAPE as error:
            found = _malformed(reader.name, None, error)
        yield from aside
        aside.clear()
        if found is None:
            return
        yield found if isinstance(found, Problem) else Found(found.line, (reader.name, found.value))


def _plain(
    lines: Iterable[bytes | Problem | None], tools: Sequence[Tool], aside: deque[Result]
) -> Iterator[str]:
    """Yield the lines of a text, a blank one for each that is something else and laid aside."""
    told = False
    number = 0
    for line in lines:
        if isinstance(line, Problem):
            aside.append(line)
            continue
        number += 1
        if line is None:
            aside.append(too_large(number))
        elif (document := _known_object(line, tools)) is not None:
            aside.extend(_of_object(Found(number, document), tools))
        else:
            text = line.decode(errors="replace")
            if not told and "\ufffd" in text and "\ufffd".encode() not in line:
                told = True
                message = "a byte that is not UTF-8: save the file as UTF-8"
                aside.append(Problem(number, ProblemCode.NOT_UTF8, message))
            yield f"{text}\n"
            continue
        yield "\n"


def _known_object(line: bytes, tools: Sequence[Tool]) -> Document | None:
    if not line.startswith(b'{"'):
        return None
    try:
        value = value_in(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _tool_of(value, tools) else None


def _tool_of(document: Document, tools: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in tools if tool.recognises(document)), None)


def _malformed(tool: str, line: int | None, error: Exception) -> Problem:
    why = f"{type(error).__name__} {error}"
    message = f"looks like a result of {tool} and is built otherwise: {why}"
    return Problem(line, ProblemCode.MALFORMED, writable(message))


def _unknown(document: Document) -> str:
    shown = writable(", ".join(sorted(document)[:KEYS_SHOWN])) or "none"
    return f"no known tool writes an object with these keys: {shown}"
