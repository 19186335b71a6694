"""One repeat of one cell: the tool's own pass, its result, and everything it does not record."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from runners.benchmarks import tools
from runners.benchmarks.client import Call, Pass, Tool, tail
from runners.benchmarks.server import Server, ServerRefusedError, ids
from runners.benchmarks.server_log import LogFacts, LogWatch
from runners.benchmarks.tools import Target
from service.domain.condition import Condition, Load
from service.domain.reading import Reading
from service.domain.validity import Finding, Gate, RunFacts, Severity, check
from service.formats.reports import GateFinding
from service.formats.tools.registry import read_bytes

OK = 200
# Above this share of one core the client, not the server, may set the pace.
CLIENT_CPU_SHARE_MAX = 0.9
# Of a shorter load, what the client does before and after it is too large a part to be left in.
CLIENT_CPU_LOAD_S = 5.0
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
    """

    client: Client
    server: Server
    target: Target
    server_log: Path
    folder: Path
    environment: Mapping[str, str]
    limit_s: float

    def probe(self, condition: Condition) -> tuple[GateFinding, ...]:
        """Return a failure unless one request of a cell's lengths is served with exactly these.

        Raises ServerSilentError when there is no answer at all.
        """
        traffic = condition.traffic
        asked = (traffic.input_tokens, traffic.output_tokens)
        try:
            answer = self.server.generate([ids(asked[0])], output_tokens=asked[1])[0]
        except ServerRefusedError as error:
            return (failure("probe_refused", str(error), observed=str(error.status)),)
        told = answer.get("meta_info", {})
        seen = (told.get("prompt_tokens"), told.get("completion_tokens"))
        if seen == asked:
            return ()
        message = "one request must be served with exactly the lengths asked for"
        return (failure("lengths_not_exact", message, observed=str(seen), required=str(asked)),)

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
        watch = LogWatch(self.server_log)
        console = self.folder / f"{name}.log"
        ended = self.client.run(
            tools.tool_of(condition),
            Call(tuple(argv), self.folder, console, self.limit_s),
            stopped=stopped,
        )
        if ended.ended_by == "stop":
            raise RepeatStoppedError(f"{name} was stopped")
        seen = _Seen(ended, watch.facts(), flushed, tuple(argv))
        text = output.read_bytes() if output.is_file() else b""
        return self._judged_by_gates(
            condition, seen, _only_reading(text, output.name), name=name, seed=seed, began=began
        )

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
        self,
        condition: Condition,
        seen: "_Seen",
        reading: Reading | None,
        *,
        name: str,
        seed: int,
        began: float,
    ) -> Repeat:
        console = self.folder / f"{name}.log"
        if seen.ended.rc != 0 or reading is None:
            values: Mapping[str, float] = {}
            findings: tuple[GateFinding, ...] = (_tool_failed(seen.ended, console),)
            overhead_s = 0.0
        else:
            values = _values(condition, reading, seen.log)
            findings = gate_findings(condition, reading, seen.log, flushed=seen.flushed)
            findings += _client_bound(seen.ended, _load_s(reading))
            overhead_s = max(0.0, time.monotonic() - began - _load_s(reading))
        texts = {f"{name}.sidecar.json": self._sidecar(condition, seen, seed, overhead_s)}
        for path in (self.folder / f"{name}.jsonl", console):
            if path.is_file() and (path != console or not values):
                texts[path.name] = path.read_bytes()
        return Repeat(
            seed, seen.ended.started, seen.ended.ended, overhead_s, values, findings, texts
        )

    def _sidecar(self, condition: Condition, seen: "_Seen", seed: int, overhead_s: float) -> bytes:
        """Return everything the tool does not record, as JSON."""
        told = {
            "condition_key": condition.key,
            "client_version": self.client.version,
            "tool": tools.tool_of(condition).name,
            "argv": seen.argv,
            "environment": dict(self.environment),
            "seed": seed,
            "prompts": condition.traffic.prompts,
            "warmup_requests": condition.procedure.warmup_requests,
            "pass": asdict(seen.ended),
            "overhead_s": overhead_s,
            "flush_status_before": seen.flushed,
            "server_log": asdict(seen.log),
        }
        return json.dumps(told, indent=1, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen of one pass from outside the tool."""

    ended: Pass
    log: LogFacts
    flushed: int | None
    argv: tuple[str, ...]


def gate_findings(
    condition: Condition, reading: Reading, log: LogFacts, *, flushed: int | None
) -> tuple[GateFinding, ...]:
    """Return what the gates find, with what only the runner knows added to the tool's result.

    flushed: the HTTP status of our own flush before the repeat, None where the cell keeps its
    cache; the tool's flush after its warm-up counts where the server logs it.
    """
    found = check(_facts(condition, reading.facts, log, flushed=flushed))
    findings = [_wire(finding) for finding in found]
    if log.error_lines:
        findings = [
            finding.model_copy(update={"message": f"{finding.message}: {log.error_lines[0]}"})
            if finding.code == Gate.SERVER_ERRORS.value
            else finding
            for finding in findings
        ]
    if log.retractions:
        message = "the KV cache was full and running requests were taken back"
        findings.append(
            failure("requests_retracted", message, observed=str(log.retractions), required="0")
        )
    return tuple(findings)


def _facts(condition: Condition, told: RunFacts, log: LogFacts, *, flushed: int | None) -> RunFacts:
    traffic = condition.traffic
    batch = traffic.load is Load.BATCH
    ratio = tools.lowest_ratio(traffic)
    keeps = condition.procedure.cache != "flushed"
    confirmed = None if keeps else OK in {log.flush_status, flushed} - {None}
    if log.flush_status not in {None, OK}:
        confirmed = False
    # Cells that share a prefix are meant to find it in the cache; they still begin with a flush.
    warm = keeps or traffic.shared_prefix_tokens > 0
    return replace(
        told,
        requests_asked=traffic.concurrency if batch else traffic.prompts,
        input_lengths=None if batch else _bounds(traffic.input_tokens, ratio),
        output_lengths=_bounds(traffic.output_tokens, ratio),
        ignore_eos=traffic.ignore_eos,
        cold=False if keeps else (None if warm else True),
        cache_flushed=confirmed,
        cache_hit=log.cache_hit,
        concurrency_asked=traffic.concurrency if traffic.load is Load.CLOSED else None,
        server_errors=log.errors,
    )


def _bounds(tokens: int, ratio: float) -> tuple[int, int]:
    return int(tokens * ratio), tokens


def _wire(finding: Finding) -> GateFinding:
    severity = "failure" if finding.severity is Severity.FAILURE else "warning"
    return GateFinding(
        code=finding.code,
        severity=severity,
        message=finding.message,
        observed=finding.observed,
        required=finding.required,
    )


def failure(code: str, message: str, *, observed: str, required: str = "") -> GateFinding:
    """Return a gate's failure that only the runner can see."""
    return GateFinding(
        code=code, severity="failure", message=message, observed=observed, required=required
    )


def _tool_failed(ended: Pass, console: Path) -> GateFinding:
    how = {"timeout": "took too long and was killed", "stop": "was stopped"}.get(
        ended.ended_by, "failed" if ended.rc else "wrote no result"
    )
    message = f"the benchmark tool {how}; the end of its console: {tail(console)}"
    observed = f"exit code {ended.rc}"
    return failure("tool_failed", message, observed=observed, required="exit code 0 and one result")


def _client_bound(ended: Pass, load_s: float) -> tuple[GateFinding, ...]:
    share = ended.cpu_s / load_s if load_s >= CLIENT_CPU_LOAD_S else 0.0
    if share <= CLIENT_CPU_SHARE_MAX:
        return ()
    message = "the client used up its core, so it may have set the pace itself"
    required = f"at most {CLIENT_CPU_SHARE_MAX} of a core"
    return (failure("client_bound", message, observed=f"{share:.2f}", required=required),)


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
