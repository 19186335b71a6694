"""What a server's log says of the time in which a load ran."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from service.domain.allocation import refusal_in
from service.domain.soak import Growth, relative_growth
from service.formats.tools.sglang_log import DECODE, ERROR, RETRACTION

_FLUSH = re.compile(r"\"POST /flush_cache\S* HTTP/[0-9.]+\" (\d{3})")
_PREFILL = re.compile(r"Prefill batch\b.*?#new-token: (\d+), #cached-token: (\d+)")

_DECODED = re.compile(
    r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^\]]*\] Decode batch\b"
    r".*?#running-req: (\d+).*?\bgen throughput \(token/s\): ([\d.]+)"
)
LINES_SHOWN = 3
LINE_CHARACTERS = 300

READ_BYTES_MAX = 64 * 2**20


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What was written to the log in a stretch of time; None is not known.

    errors, retractions: lines, None where there is no log. flush_status: the HTTP status of the
    last flush, None when none is logged. cache_hit: cached over all prompt tokens since that flush,
    a ratio; None when no prefill is logged. eager_decodes: decode batches since that flush that did
    not run as a graph, None when no batch tells. refusals: the cause of each refused allocation,
    None where there is no log. throughput_growth: by which ratio the server's own figure of its
    decoding grew, for each request in the batch, by its slope; None for too few batches. *_lines:
    the first few, for a person.
    """

    errors: int | None
    retractions: int | None
    flush_status: int | None
    cache_hit: float | None
    eager_decodes: int | None = None
    error_lines: tuple[str, ...] = ()
    retraction_lines: tuple[str, ...] = ()
    refusals: tuple[str, ...] | None = None
    refusal_lines: tuple[str, ...] = ()
    throughput_growth: Growth | None = None


NO_LOG = LogFacts(errors=None, retractions=None, flush_status=None, cache_hit=None)


class LogWatch:
    """A mark in a log; what is written after it is read once the load is over."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = log.stat().st_size if log.is_file() else 0

    def facts(self) -> LogFacts:
        """Return what was written since the mark."""
        if not self._log.is_file():
            return NO_LOG
        with self._log.open("rb") as stream:
            stream.seek(self._offset)
            return facts_in(stream.read(READ_BYTES_MAX).decode(errors="replace"))


def facts_in(text: str) -> LogFacts:
    """Return what a stretch of a log says."""
    lines = text.splitlines()
    errors = [line for line in lines if ERROR.search(line)]
    flushes = [
        (position, int(found[1]))
        for position, line in enumerate(lines)
        if (found := _FLUSH.search(line))
    ]
    after = lines[flushes[-1][0] :] if flushes else lines
    retractions = [line for line in lines if RETRACTION.search(line)]
    refused = [(line, refusal) for line in lines if (refusal := refusal_in(line))]
    return LogFacts(
        errors=len(errors),
        retractions=len(retractions),
        flush_status=flushes[-1][1] if flushes else None,
        cache_hit=_cache_hit(after),
        eager_decodes=_eager_decodes(after),
        error_lines=_shown(errors),
        retraction_lines=_shown(retractions),
        refusals=tuple(refusal.cause.value for _, refusal in refused),
        refusal_lines=_shown([line for line, _ in refused]),
        throughput_growth=_throughput_growth(after),
    )


def _shown(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.strip()[:LINE_CHARACTERS] for line in lines[:LINES_SHOWN])


def _throughput_growth(lines: Sequence[str]) -> Growth | None:
    """Return by which ratio decoding sped up, for each request.

    Of an open load the sum is what arrives, however slow the server becomes.
    """
    told = [found for line in lines if (found := _DECODED.search(line)) and int(found[2])]
    at = [datetime.fromisoformat(found[1]).timestamp() for found in told]
    return relative_growth(at, [float(found[3]) / int(found[2]) for found in told])


def _cache_hit(lines: list[str]) -> float | None:
    counted = [found for line in lines if (found := _PREFILL.search(line))]
    new = sum(int(found[1]) for found in counted)
    cached = sum(int(found[2]) for found in counted)
    return cached / (new + cached) if new + cached else None


def _eager_decodes(lines: list[str]) -> int | None:
    told = [found[1] for line in lines if (found := DECODE.search(line))]
    return told.count("False") if told else None
