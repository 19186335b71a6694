"""The tools that can be read, and the one door to their files."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from service.domain.reading import Reading, Readings, Unreadable
from service.formats.tools import (
    aiperf,
    aiperf_csv,
    aiperf_records,
    bench_offline_throughput,
    bench_one_batch,
    bench_one_batch_server,
    bench_serving,
    evalscope,
    evalscope_percentiles,
    guidellm,
    guidellm_csv,
    inference_perf,
    inferencex,
    llmperf,
    server_info,
    sglang_console,
    sglang_log,
    vllm_console,
    vllm_latency,
    vllm_serve,
    vllm_sweep,
    vllm_throughput,
)
from service.formats.tools.fields import without_halves
from service.formats.tools.files import CannotOpenError, opened
from service.formats.tools.lines import Stream
from service.formats.tools.results import reader_of, results_in
from service.formats.tools.tool import Parsed, Problem, TextTool, Tool

TOOLS: tuple[Tool, ...] = (
    bench_serving.TOOL,
    bench_one_batch.TOOL,
    bench_one_batch_server.TOOL,
    bench_offline_throughput.TOOL,
    evalscope.TOOL,
    guidellm.TOOL,
    aiperf.TOOL,
    aiperf.OLDER_TOOL,
    vllm_serve.TOOL,
    vllm_sweep.TOOL,
    vllm_throughput.TOOL,
    vllm_latency.TOOL,
    inferencex.TOOL,
    inference_perf.TOOL,
    llmperf.TOOL,
    server_info.TOOL,
)
TEXT_TOOLS: tuple[TextTool, ...] = (
    evalscope_percentiles.TEXT_TOOL,
    guidellm_csv.TEXT_TOOL,
    aiperf_csv.TEXT_TOOL,
    aiperf_csv.OLDER_TEXT_TOOL,
    aiperf_records.TEXT_TOOL,
    vllm_console.TEXT_TOOL,
    sglang_console.TEXT_TOOL,
    sglang_log.TEXT_TOOL,
)


def readings_in(
    stream: Stream, *, file: str, text_tools: Sequence[TextTool] = ()
) -> Iterator[Reading | Unreadable]:
    """Yield the readings in a stream, and what in it could not be read, as they are read.

    file: what the readings say they came from. text_tools: asked before those that are known.
    """
    for found in results_in(stream, TOOLS, (*text_tools, *TEXT_TOOLS)):
        if isinstance(found, Problem):
            yield Unreadable(file, found.line, str(found.code), found.message)
        else:
            tool, parsed = found.value
            yield _reading(parsed, tool, file, found.line)


def readings_of(
    path: Path,
    *,
    text_tools: Sequence[TextTool] = (),
    watched: Callable[[Stream], Stream] | None = None,
) -> Iterator[Reading | Unreadable]:
    """Yield the readings of a file; one that cannot be opened is itself the unreadable part.

    watched: given the open file, returns the stream to read in its place.
    """
    try:
        with opened(path) as stream:
            source = watched(stream) if watched else stream
            yield from readings_in(source, file=without_halves(str(path)), text_tools=text_tools)
    except CannotOpenError as error:
        yield Unreadable(without_halves(str(path)), None, str(error.code), str(error))


def is_text_result(path: Path, *, text_tools: Sequence[TextTool] = ()) -> bool:
    """Return whether a tool that writes plain text knows a file's first lines."""
    try:
        with opened(path) as stream:
            return reader_of(stream, (*text_tools, *TEXT_TOOLS)) is not None
    except CannotOpenError:
        return False


def read_bytes(data: bytes, *, file: str, text_tools: Sequence[TextTool] = ()) -> Readings:
    """Return all readings in a file's bytes, and what in them could not be read."""
    stream = io.BufferedReader(io.BytesIO(data))
    return collected(readings_in(stream, file=file, text_tools=text_tools))


def read_file(path: Path, *, text_tools: Sequence[TextTool] = ()) -> Readings:
    """Return all readings of a file, and what in it could not be read."""
    return collected(readings_of(path, text_tools=text_tools))


def collected(found: Iterable[Reading | Unreadable]) -> Readings:
    """Return readings and unreadable parts, each in order."""
    readings: list[Reading] = []
    unreadable: list[Unreadable] = []
    for each in found:
        if isinstance(each, Reading):
            readings.append(each)
        else:
            unreadable.append(each)
    return Readings(tuple(readings), tuple(unreadable))


def _reading(parsed: Parsed, tool: str, file: str, line: int) -> Reading:
    return Reading(
        file=file,
        line=line,
        tool=tool,
        tool_version=parsed.tool_version,
        definition=parsed.definition,
        condition=parsed.condition,
        metrics=parsed.metrics,
        facts=parsed.facts,
        resolution=parsed.resolution,
    )
