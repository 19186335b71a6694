"""Traces of torch's profiler, as SGLang writes them: one file a rank, read as tracks.

The names are those of SGLang 0.5.18 and 0.5.23: `step[EXTEND bs=8 toks=512]` around a pass of the
model, and `…-TP-0-PP-1.trace.json.gz` for a file. Times are microseconds there and seconds here.
"""

import gzip
import json
import re
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.domain.profile import Span, Stage, Step, Track, own_seconds

NAMED = "*.trace.json.gz"
# A trace is text; one that unpacks to more than this is left to a viewer.
READ_BYTES_MAX = 1024 * 2**20
MICRO = 1e-6

_STEP = re.compile(r"step\[(\w+) bs=\d+[^\]]*\]")
_STAGES = {"EXTEND": Stage.PREFILL, "DECODE": Stage.DECODE, "VERIFY": Stage.DECODE}
_RANK = {word: re.compile(rf"-{word}-(\d+)") for word in ("TP", "PP")}
_ON_DEVICE = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_ON_HOST = frozenset({"cpu_op", "user_annotation"})
# What asks for a message in the model's thread, and what sends it: in a thread of the library's,
# or, over shared memory, at once.
_ASKED = "c10d::"
_SENT = re.compile(r"^(gloo|mpi):|shm_all")
_NO_LETTER = re.compile(r"c10d|gloo|mpi|base|coalesced|[^a-z]")


class TraceError(ValueError):
    """A file is no trace that is known."""


def tracks_in(folder: Path) -> list[Track]:
    """Return the tracks of all ranks whose traces lie in a folder. Raises TraceError."""
    return [track_of(path.read_bytes(), path.name) for path in sorted(folder.glob(NAMED))]


def track_of(packed: bytes, name: str) -> Track:
    """Return one rank's track. name: of its file, which tells the rank. Raises TraceError."""
    events = [event for event in _events(packed, name) if event.get("ph") == "X"]
    host = [event for event in events if event.get("cat") in _ON_HOST]
    device = [event for event in events if event.get("cat") in _ON_DEVICE]
    return Track(
        tensor_rank=_rank("TP", name),
        pipeline_rank=_rank("PP", name),
        steps=list(_steps(host)),
        spans=[_span(event) for event in device] or _messages(host),
        own_s=_own_seconds(device or host),
        on_device=bool(device),
    )


def _events(packed: bytes, name: str) -> Sequence[Mapping[str, Any]]:
    try:
        unpacked = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        text = unpacked.decompress(packed, READ_BYTES_MAX)
        if unpacked.unconsumed_tail:
            raise TraceError(f"{name} unpacks to more than {READ_BYTES_MAX} bytes")
        return list(json.loads(text)["traceEvents"])
    except (zlib.error, gzip.BadGzipFile, ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{name} is no trace of torch's profiler: {error}") from error


def _span(event: Mapping[str, Any]) -> Span:
    begin, took = float(event["ts"]) * MICRO, float(event.get("dur", 0)) * MICRO
    return Span(str(event.get("name", "")), begin, took)


def _steps(host: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for event in host:
        if (named := _STEP.fullmatch(str(event.get("name")))) and named[1] in _STAGES:
            yield Step(_STAGES[named[1]], _span(event))


def _messages(host: Iterable[Mapping[str, Any]]) -> list[Span]:
    """Return the messages of a host: each from when the model asked for it until it goes on.

    The library sends in a thread of its own, which has to be woken first, and then whoever asked
    has to be; a pass pays for all of it. Where not each one that was asked for was seen to be sent,
    what was sent is told alone.
    """
    asked: dict[str, list[_Asked]] = defaultdict(list)
    sent: dict[str, list[Span]] = defaultdict(list)
    begins: dict[object, list[float]] = defaultdict(list)
    for event in sorted(host, key=lambda each: float(each["ts"])):
        span, of_thread = _span(event), begins[event.get("pid"), event.get("tid")]
        of_thread.append(span.begin_s)
        if span.name.startswith(_ASKED):
            asked[_kind(span.name)].append(_Asked(span, of_thread))
        elif _SENT.search(span.name):
            sent[_kind(span.name)].append(span)
    return [
        each
        for kind, done in sent.items()
        for each in (
            map(_Asked.whole, asked[kind], done) if len(asked[kind]) == len(done) else done
        )
    ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A message that was asked for. begins: when something began in that thread, in order."""

    span: Span
    begins: Sequence[float]

    def whole(self, sent: Span) -> Span:
        """Return it until its thread goes on; one that went on meanwhile did not wait for it."""
        end_s = max(self.span.end_s, sent.end_s)
        after = self.begins[bisect_left(self.begins, self.span.end_s) :][:1]
        if after and after[0] > end_s:
            end_s = after[0]
        return Span(sent.name, self.span.begin_s, end_s - self.span.begin_s)


def _kind(name: str) -> str:
    """Return what a message does, alike for whoever asks and whoever sends."""
    return _NO_LETTER.sub("", name.lower())


def _own_seconds(events: Iterable[Mapping[str, Any]]) -> Mapping[str, float]:
    """Return seconds by name, each thread or stream by itself; passes of any size share a name."""
    threads: dict[tuple[object, object], list[Span]] = defaultdict(list)
    for event in events:
        threads[event.get("pid"), event.get("tid")].append(_span(event))
    total: dict[str, float] = defaultdict(float)
    for spans in threads.values():
        for name, seconds in own_seconds(spans).items():
            total[_STEP.sub(r"step[\1], outside of any operator", name)] += seconds
    return dict(total)


def _rank(word: str, name: str) -> int:
    found = _RANK[word].search(name)
    return int(found[1]) if found else 0
