"""The log of an SGLang server, from 0.4 to 0.5.23: what it settled, and what went wrong in it.

It has no load's values: what it says of throughput is of the batch at hand. So its readings hold a
resolution, the KV capacity, and the facts that the gates on a server need.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from service.domain.allocation import refusal_in
from service.domain.resolution import Resolution
from service.domain.validity import RunFacts
from service.formats.tools.fields import whole
from service.formats.tools.printed_arguments import arguments_in
from service.formats.tools.server_info import condition_told
from service.formats.tools.server_start import resolved
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

NAME = "sglang.server_log"

_ARGUMENTS = "server_args="
_BEGINS = re.compile(r"\bserver_args=(?:ServerArgs\(|\{)")
_KNOWN = re.compile(
    r"\bserver_args=(?:ServerArgs\(|\{)|\b(?:Prefill|Decode) batch[.,\[ ].*#"
    r"|\bKV Cache is allocated\.|\bmax_total_num_tokens=\d+, chunked_prefill_size="
)
# Lines that tell what the server settled while it started.
_SETTLED = re.compile(
    r"\bmax_total_num_tokens=|\bKV Cache is allocated\.|\bLoad weight end\."
    r"|\bCapture \w+ graph end\.|\bAttention backend not explicitly specified\."
)
# A request that fails inside the server can still be counted as a success by the client.
ERROR = re.compile(
    r"\[http_server\] Error|Traceback \(most recent call last\)"
    r"|\] ERROR\b|^ERROR\b|\bHTTP/1\.1\" 5\d\d"
    r"|\bOutOfMemoryError\b|\b(?:CUDA|XPU|NPU|HIP) out of memory|\bstd::bad_alloc\b"
)
# Whoever waits for a server asks for its health until it is up, and is told 503 so long.
_WAITED_FOR = re.compile(r"\"GET /health\w* HTTP/1\.1\" 503")
RETRACTION = re.compile(r"KV cache pool is full\. Retract requests")
# The chip's word stands before 'graph' since 0.5; 0.4 wrote 'cuda graph' for each.
DECODE = re.compile(r"\bDecode batch\b.*?\bgraph: (True|False)\b")
FIRST_CHARACTERS = 500
MOST_SETTLED = 200
MOST_CHARACTERS = 20_000


@dataclass(slots=True)
class _Launch:
    """What the lines of one launch of a server told so far."""

    line: int
    arguments: Document = field(default_factory=dict)
    settled: list[str] = field(default_factory=list)
    known: bool = False
    errors: int = 0
    retractions: int = 0
    refusals: list[str] = field(default_factory=list)
    # None while no decode batch tells whether it ran as a graph.
    eager_decodes: int | None = None


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a text has a line that only such a server writes."""
    return any(_KNOWN.search(line[:FIRST_CHARACTERS]) for line in lines if line[:1] != "{")


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield one reading a launch; a log that was appended to holds several."""
    launch = _Launch(1)
    for number, line in enumerate(lines, start=1):
        if _BEGINS.search(line[:MOST_CHARACTERS]):
            if launch.arguments:
                yield Found(launch.line, _parsed(launch))
                launch = _Launch(number)
            launch.arguments = arguments_in(line.partition(_ARGUMENTS)[2]) or {"": None}
            launch.known = True
        else:
            _hear(line[:MOST_CHARACTERS], launch)
    if launch.known:
        yield Found(launch.line, _parsed(launch))


def _hear(line: str, launch: _Launch) -> None:
    launch.known = launch.known or _KNOWN.search(line) is not None
    if _SETTLED.search(line) and len(launch.settled) < MOST_SETTLED:
        launch.settled.append(line)
    launch.errors += ERROR.search(line) is not None and not _WAITED_FOR.search(line)
    launch.retractions += RETRACTION.search(line) is not None
    if refused := refusal_in(line):
        launch.refusals.append(refused.cause.value)
    if decode := DECODE.search(line):
        launch.eager_decodes = (launch.eager_decodes or 0) + (decode[1] == "False")


def _parsed(launch: _Launch) -> Parsed:
    facts = resolved(launch.arguments, log="".join(launch.settled))
    capacity = whole(facts, "max_total_num_tokens")
    return Parsed(
        tool_version=None,
        definition=1,
        condition=condition_told(launch.arguments),
        metrics={} if capacity is None else {"kv_capacity": float(capacity)},
        facts=RunFacts(
            streamed=False,
            server_errors=launch.errors,
            retractions=launch.retractions,
            refusals=tuple(launch.refusals),
            graphs_asked=False if launch.arguments.get("disable_cuda_graph") is True else None,
            eager_decodes=launch.eager_decodes,
            kv_capacity=capacity,
        ),
        resolution=Resolution(facts),
    )


TEXT_TOOL = TextTool(NAME, recognises, parse)
