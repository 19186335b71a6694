"""The tools that can be read, and the one door to their files."""

from collections.abc import Sequence
from pathlib import Path

from service.domain.reading import Reading, Readings, Unreadable
from service.formats.tools import (
    bench_offline_throughput,
    bench_one_batch,
    bench_one_batch_server,
    bench_serving,
)
from service.formats.tools.fields import writable
from service.formats.tools.text import MAX_BYTES, objects
from service.formats.tools.tool import Document, Found, Parsed, Problem, Tool

TOOLS: tuple[Tool, ...] = (
    bench_serving.TOOL,
    bench_one_batch.TOOL,
    bench_one_batch_server.TOOL,
    bench_offline_throughput.TOOL,
)
KEYS_SHOWN = 6


def read_bytes(data: bytes, *, file: str) -> Readings:
    """Return the readings in a file's bytes, and what in them could not be read.

    file: what the readings say they came from. A tool is recognised by the keys of its objects.
    """
    readings: list[Reading] = []
    unreadable: list[Unreadable] = []
    for found in objects(data):
        match _read(found):
            case Problem() as problem:
                unreadable.append(_unreadable(problem, file))
            case tool, parsed:
                readings.extend(_reading(each, tool, file, found.line or 1) for each in parsed)
    return Readings(tuple(readings), tuple(unreadable))


def read_file(path: Path) -> Readings:
    """Return the readings of a file; a file that cannot be opened is among the unreadable."""
    name = str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            size = f"more than {MAX_BYTES // 2**20} MiB"
            return Readings((), (Unreadable(name, None, "too_large", size),))
        return read_bytes(path.read_bytes(), file=name)
    except FileNotFoundError:
        return Readings((), (Unreadable(name, None, "no_such_file", f"no file {name}"),))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Readings((), (Unreadable(name, None, "cannot_open", f"{name}: {reason}"),))


def _read(found: Found[Document] | Problem) -> tuple[Tool, Sequence[Parsed]] | Problem:
    if isinstance(found, Problem):
        return found
    tool = next((tool for tool in TOOLS if tool.recognises(found.value)), None)
    if tool is None:
        return Problem(found.line, "unknown_tool", _unknown(found.value))
    return tool, tool.parse(found.value)


def _unreadable(problem: Problem, file: str) -> Unreadable:
    return Unreadable(file, problem.line, problem.code, problem.message)


def _reading(parsed: Parsed, tool: Tool, file: str, line: int) -> Reading:
    return Reading(
        file=file,
        line=line,
        tool=tool.name,
        tool_version=parsed.tool_version,
        definition=parsed.definition,
        condition=parsed.condition,
        metrics=parsed.metrics,
        facts=parsed.facts,
        resolution=parsed.resolution,
    )


def _unknown(document: Document) -> str:
    shown = writable(", ".join(sorted(document)[:KEYS_SHOWN])) or "none"
    known = ", ".join(tool.name for tool in TOOLS)
    return f"no known tool writes an object with these keys: {shown}; known are {known}"
