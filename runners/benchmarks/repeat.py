"""One repeat of one cell: the tool's own pass, its result, and everything it does not record."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from runners.benchmarks import tools
from runners.benchmarks.card_watch import CardWatch
from runners.benchmarks.client import Call, Pass, Tool
from runners.benchmarks.client_cpu import cpu_share
from runners.benchmarks.run_facts import (
    OK,
    Seen,
    explaining,
    gate_findings,
    tails_withheld,
    tool_failed,
    wire,
)
from runners.benchmarks.server import Server, ServerRefusedError, ids
from runners.benchmarks.server_facts import ServerFacts
from runners.benchmarks.server_log import LogFacts, LogWatch
from runners.benchmarks.tools import Target
from service.domain.condition import Condition, Load
from service.domain.reading import Reading
from service.domain.redaction import redacted, redacted_bytes, redacted_words
from service.domain.validity import Gate, failure
from service.formats.reports import GateFinding
from service.formats.tools.registry import read_bytes
from service.formats.tools.server_start import GENERATED, metric

# Of a pass's own fields, the one that is too long for a sidecar.
SAMPLES = "cpu_samples"
WARMUP_OUTPUT_TOKENS = 32


class RepeatStoppedError(RuntimeError):
    """The repeat was killed because the launch is to stop; it counts as never begun."""


class OutputExistsError(FileExistsError):
    """The tool appends to its output file, so an old one would be read as this repeat's."""

    def __init__(self, output: Path) -> None:
        super().__init__(f"{output} is already there; a repeat never appends to another's file")


@dataclass(frozen=True, slots=True)
class Repeat:
    """What one repeat gave: values by metric in base units (none when it failed), and its texts.

    started, ended: seconds since the epoch. overhead_s: time beside the measured load.
    texts: file name to bytes, the tool's own output and our sidecar.
    """

    seed: int
    started: float
    ended: float
    overhead_s: float
    values: Mapping[str, float]
    findings: tuple[GateFinding, ...]
    texts: Mapping[str, bytes]


class Client(Protocol):
    """Whatever runs a tool's passes: the client process."""

    @property
    def version(self) -> str:
        """The client's release."""
        ...

    def run(self, tool: Tool, call: Call, *, stopped: Callable[[], bool]) -> Pass:
        """Run one pass and return how it ended."""
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything that the repeats of one launch share.

    environment: what the client sees; kept in each sidecar. folder: of this launch alone.
    settled: what the server settled. has_metrics: whether it offers its counters.
    """

    client: Client
    server: Server
    target: Target
    server_log: Path
    folder: Path
    environment: Mapping[str, str]
    limit_s: float
    cards: CardWatch
    settled: ServerFacts = field(default_factory=ServerFacts)
    has_metrics: bool = False

    def probe(self, condition: Condition) -> tuple[GateFinding, ...]:
        """Return a failure unless one request of a cell's lengths is served with exactly these.

        Raises ServerSilentError when there is no answer at all.
        """
        traffic = condition.traffic
        asked = (traffic.input_tokens, traffic.output_tokens)
        try:
            answer = self.server.generate([ids(asked[0])], output_tokens=asked[1])[0]
        except ServerRefusedError as error:
            refused = failure(Gate.PROBE_REFUSED, observed=error.status, required=OK)
            return (wire(refused, str(error)),)
        told = answer.get("meta_info", {})
        seen = (told.get("prompt_tokens"), told.get("completion_tokens"))
        if seen == asked:
            return ()
        return (wire(failure(Gate.LENGTHS_NOT_EXACT, observed=seen, required=asked)),)

    def repeat(
        self, condition: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        """Measure one repeat and return it; one that fails says so in its findings.

        name: unique in this launch; its files are called after it.
        Raises RepeatStoppedError, OutputExistsError, UnsupportedTrafficError, ServerSilentError
        and ClientBrokenError.
        """
        began = time.monotonic()
        output = self.folder / f"{name}.jsonl"
        if output.exists():
            raise OutputExistsError(output)
        argv = tools.arguments(condition, self.target, seed=seed, output=output)
        self._warm_up(condition)
        flushed = self.server.flush() if condition.procedure.cache == "flushed" else None
        call = Call(tuple(argv), self.folder, self.folder / f"{name}.log", self.limit_s)
        seen = self._seen(tools.tool_of(condition), call, flushed, stopped)
        if seen.ended.ended_by == "stop":
            raise RepeatStoppedError(f"{name} was stopped")
        return self._judged_by_gates(condition, seen, output, seed=seed, began=began)

    def _seen(
        self, tool: Tool, call: Call, flushed: int | None, stopped: Callable[[], bool]
    ) -> Seen:
        """Run one pass and return what was seen of it: of the server, the cards and the clock."""
        watch = LogWatch(self.server_log)
        counted = self._generated()
        clocks = time.time(), time.monotonic()
        with self.cards.watching():
            ended = self.client.run(tool, call, stopped=stopped)
        drift_s = (time.time() - clocks[0]) - (time.monotonic() - clocks[1])
        after = self._generated()
        return Seen(
            ended=ended,
            argv=call.argv,
            log=watch.facts(),
            flushed=flushed,
            clock_drift_s=drift_s,
            generated=None if counted is None or after is None else int(after - counted),
            cards=self.cards.seen(),
            server=self.settled,
        )

    def _generated(self) -> float | None:
        """Return how many tokens the server has generated by its own count; None: not told."""
        text = self.server.counters() if self.has_metrics else None
        return None if text is None else metric(text, GENERATED)

    def _warm_up(self, condition: Condition) -> None:
        """Warm a fixed batch up with its own shape; the tool's own warm-up has another one."""
        traffic = condition.traffic
        if traffic.load is not Load.BATCH:
            return
        prompts = [ids(traffic.input_tokens, start=row) for row in range(traffic.concurrency or 1)]
        for _ in range(condition.procedure.warmup_requests):
            output_tokens = min(traffic.output_tokens, WARMUP_OUTPUT_TOKENS)
            self.server.generate(prompts, output_tokens=output_tokens)

    def _judged_by_gates(
        self, condition: Condition, seen: Seen, output: Path, *, seed: int, began: float
    ) -> Repeat:
        console = output.with_suffix(".log")
        text = output.read_bytes() if output.is_file() else b""
        reading = _only_reading(text, output.name) if seen.ended.rc == 0 else None
        values: Mapping[str, float] = {}
        overhead_s, share = 0.0, None
        if reading is None:
            findings = (tool_failed(seen.ended, console), *explaining(condition, seen))
        else:
            load_s = _load_s(reading)
            share = cpu_share(seen.ended, load_s=load_s, load_ended=output.stat().st_mtime)
            values = {**_values(condition, reading, seen.log), **seen.cards.metrics}
            findings = gate_findings(condition, reading.facts, seen, client_cpu_share=share)
            findings += tails_withheld(reading)
            overhead_s = max(0.0, time.monotonic() - began - load_s)
        texts = {output.name: text} if text else {}
        if seen.cards.table:
            texts[f"{output.stem}.cards.csv"] = seen.cards.table
        if not values and console.is_file():
            texts[console.name] = console.read_bytes()
        clean = {name: redacted_bytes(content) for name, content in texts.items()}
        told = self._told(condition, seen, seed) | {
            "overhead_s": overhead_s,
            "client_cpu_share": share,
            # Named here, a text is not byte for byte what the tool wrote.
            "redacted": sorted(name for name in texts if clean[name] != texts[name]),
        }
        sidecar = json.dumps(told, indent=1, sort_keys=True).encode()
        clean[f"{output.stem}.sidecar.json"] = sidecar
        ended = seen.ended
        return Repeat(seed, ended.started, ended.ended, overhead_s, values, findings, clean)

    def _told(self, condition: Condition, seen: Seen, seed: int) -> dict[str, object]:
        """Return everything the tool does not record."""
        ended = {name: value for name, value in asdict(seen.ended).items() if name != SAMPLES}
        return {
            "condition_key": condition.key,
            "client_version": self.client.version,
            "tool": tools.tool_of(condition).name,
            "argv": redacted_words(seen.argv),
            "environment": redacted(self.environment),
            "seed": seed,
            "prompts": condition.traffic.prompts,
            "warmup_requests": condition.procedure.warmup_requests,
            "pass": ended,
            "flush_status_before": seen.flushed,
            "server_log": asdict(seen.log),
            "clock_drift_s": seen.clock_drift_s,
            "generated_tokens": seen.generated,
            "cards": asdict(seen.cards.facts),
        }


def _only_reading(text: bytes, name: str) -> Reading | None:
    """Return the one result in an output file; anything else than exactly one is none."""
    found: Sequence[Reading] = read_bytes(text, file=name).readings if text else ()
    return found[0] if len(found) == 1 else None


def _values(condition: Condition, reading: Reading, log: LogFacts) -> Mapping[str, float]:
    """Return the tool's metrics, and how much of a shared prefix was found in the cache."""
    if condition.traffic.shared_prefix_tokens and log.cache_hit:
        return {**reading.metrics, "cache_hit": log.cache_hit}
    return reading.metrics


def _load_s(reading: Reading) -> float:
    """Return how long the measured load itself took, as the tool tells it."""
    return reading.metrics.get("duration") or reading.metrics.get("e2e_p50") or 0.0
