"""What a server's log says of the time in which a load ran."""

import re
from dataclasses import dataclass
from pathlib import Path

from service.formats.tools.sglang_log import DECODE, ERROR, RETRACTION

_FLUSH = re.compile(r"\"POST /flush_cache\S* HTTP/[0-9.]+\" (\d{3})")
_PREFILL = re.compile(r"Prefill batch\b.*?#new-token: (\d+), #cached-token: (\d+)")

READ_BYTES_MAX = 64 * 2**20


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What was written to the log in a stretch of time; None is not known.

    errors, retractions: lines, None where there is no log. flush_status: the HTTP status of the
    last flush, None when none is logged. cache_hit: cached over all prompt tokens since that flush,
    a ratio; None when no prefill is logged. eager_decodes: decode batches since that flush that did
    not run as a graph, None when no batch tells. error_lines: the first few, for a person.
    """

    errors: int | None
    retractions: int | None
    flush_status: int | None
    cache_hit: float | None
    eager_decodes: int | None = None
    error_lines: tuple[str, ...] = ()


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
    return LogFacts(
        errors=len(errors),
        retractions=sum(1 for line in lines if RETRACTION.search(line)),
        flush_status=flushes[-1][1] if flushes else None,
        cache_hit=_cache_hit(after),
        eager_decodes=_eager_decodes(after),
        error_lines=tuple(line.strip()[:300] for line in errors[:3]),
    )


def _cache_hit(lines: list[str]) -> float | None:
    counted = [found for line in lines if (found := _PREFILL.search(line))]
    new = sum(int(found[1]) for found in counted)
    cached = sum(int(found[2]) for found in counted)
    return cached / (new + cached) if new + cached else None


def _eager_decodes(lines: list[str]) -> int | None:
    told = [found[1] for line in lines if (found := DECODE.search(line))]
    return told.count("False") if told else None
