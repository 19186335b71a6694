"""The gates on one repeat: the tool's result, and what only the runner saw of it."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from runners.benchmarks import tools
from runners.benchmarks.card_facts import CardsSeen
from runners.benchmarks.client import Pass, tail
from runners.benchmarks.server_facts import ServerFacts
from runners.benchmarks.server_log import LogFacts
from service.domain.condition import Condition, Load
from service.domain.gates import check
from service.domain.kv_cache import tokens_in_flight
from service.domain.reading import Reading
from service.domain.tail import TAIL_NOT_OFFERED
from service.domain.validity import Finding, Gate, RunFacts, Severity, failure
from service.formats.reports import GateFinding

OK = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one pass from outside the tool; None is not known.

    flushed: the HTTP status of our own flush before it, None where the cell keeps its cache; the
    tool's flush after its warm-up counts where the server logs it. clock_drift_s: how far the wall
    clock ran away from the monotonic one. generated: output tokens by the server's own count.
    """

    ended: Pass
    argv: tuple[str, ...]
    log: LogFacts
    flushed: int | None
    clock_drift_s: float | None = None
    generated: int | None = None
    cards: CardsSeen = field(default_factory=CardsSeen)
    server: ServerFacts = field(default_factory=ServerFacts)


def gate_findings(
    condition: Condition, told: RunFacts, seen: Seen, *, client_cpu_share: float | None
) -> tuple[GateFinding, ...]:
    """Return what the gates find, with what only the runner knows added to the tool's result."""
    facts = _facts(condition, told, seen, client_cpu_share=client_cpu_share)
    return tuple(wire(finding, _evidence(finding, seen)) for finding in check(facts))


def tails_withheld(reading: Reading) -> tuple[GateFinding, ...]:
    """Return a warning that names the tail percentiles that are not offered, with the reasons."""
    if not reading.withheld:
        return ()
    by_reason: dict[str, list[str]] = {}
    for name, reason in reading.withheld.items():
        by_reason.setdefault(reason, []).append(name)
    named = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    finding = GateFinding(
        code=TAIL_NOT_OFFERED,
        severity="warning",
        message=f"not offered: {named}",
        observed=f"{reading.facts.requests_completed} completed",
        required="more requests",
    )
    return (finding,)


def explaining(condition: Condition, seen: Seen) -> tuple[GateFinding, ...]:
    """Return what else failed where the tool gave no result: that may be why it did not."""
    found = check(_facts(condition, RunFacts(), seen, client_cpu_share=None))
    return tuple(
        wire(finding, _evidence(finding, seen))
        for finding in found
        if finding.severity is Severity.FAILURE
    )


def _evidence(finding: Finding, seen: Seen) -> str:
    """Return what was seen that speaks for a finding: a sample of the cards, or a line of a log."""
    if finding.severity is Severity.UNKNOWN:
        return ""
    lines = {
        Gate.SERVER_ERRORS: seen.log.error_lines,
        Gate.REQUESTS_RETRACTED: seen.log.retraction_lines,
        Gate.ALLOCATION_REFUSED: seen.log.refusal_lines,
    }
    line = next(iter(lines.get(finding.gate, ())), "")
    return seen.cards.evidence.get(finding.gate, line)


def wire(finding: Finding, detail: str = "") -> GateFinding:
    """Return a finding as it travels. detail: what a person wants to read beside its sentence."""
    return GateFinding(
        code=finding.code,
        severity=finding.severity.value,
        message=f"{finding.message}: {detail}" if detail else finding.message,
        observed=finding.observed,
        required=finding.required,
    )


def tool_failed(ended: Pass, console: Path) -> GateFinding:
    """Return that a tool gave no result: a run of its own, and never no data."""
    how = {"timeout": "took too long and was killed", "stop": "was stopped"}.get(
        ended.ended_by, "failed" if ended.rc else "wrote no result"
    )
    found = failure(
        Gate.TOOL_FAILED,
        observed=f"exit code {ended.rc}",
        required="exit code 0 and one result",
    )
    detail = f"the benchmark tool {how}; the end of its console: {tail(console)}"
    return wire(found, detail)


def _facts(
    condition: Condition, told: RunFacts, seen: Seen, *, client_cpu_share: float | None
) -> RunFacts:
    traffic, log = condition.traffic, seen.log
    batch = traffic.load is Load.BATCH
    ratio = tools.lowest_ratio(traffic)
    keeps = condition.procedure.cache != "flushed"
    # Cells that share a prefix are meant to find it in the cache; they still begin with a flush.
    warm = keeps or traffic.shared_prefix_tokens > 0
    return replace(
        told,
        requests_asked=traffic.concurrency if batch else traffic.prompts,
        input_lengths=None if batch else _bounds(traffic.input_tokens, ratio),
        output_lengths=_bounds(traffic.output_tokens, ratio),
        ignore_eos=traffic.ignore_eos,
        cold=False if keeps else (None if warm else True),
        cache_flushed=None if keeps else _confirmed(seen),
        cache_hit=log.cache_hit,
        concurrency_asked=traffic.concurrency if traffic.load is Load.CLOSED else None,
        client_cpu_share=client_cpu_share,
        server_output_tokens=seen.generated,
        server_errors=log.errors,
        retractions=log.retractions,
        refusals=log.refusals,
        throughput_growth=log.throughput_growth,
        graphs_asked=seen.server.graphs_asked,
        eager_decodes=log.eager_decodes,
        kv_capacity=seen.server.kv_capacity,
        kv_needed=tokens_in_flight(condition),
        kv_capacity_before=seen.server.kv_capacity_before,
        clock_drift_s=seen.clock_drift_s,
        **{each.name: getattr(seen.cards.facts, each.name) for each in fields(seen.cards.facts)},
    )


def _confirmed(seen: Seen) -> bool:
    """Return whether the cache was flushed, by the last of the answers that are known."""
    status = seen.flushed if seen.log.flush_status is None else seen.log.flush_status
    return status == OK


def _bounds(tokens: int, ratio: float) -> tuple[int, int]:
    return int(tokens * ratio), tokens
