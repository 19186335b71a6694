"""The words of the gates: what must hold of a run before anything may be concluded from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from service.stats.interval import Interval


class Severity(StrEnum):
    """What a finding does to a run: a failure makes it invalid, an unknown makes it incomplete."""

    FAILURE = "failure"
    WARNING = "warning"
    UNKNOWN = "unknown"


class Validity(StrEnum):
    """Whether a run or a reading may be judged."""

    VALID = "valid"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


class Gate(StrEnum):
    """The closed list of gates, in the order they are asked; each value is a stable code."""

    TOOL_FAILED = "tool_failed"
    PROBE_REFUSED = "probe_refused"
    LENGTHS_NOT_EXACT = "lengths_not_exact"
    PROFILED = "profiled"
    ALL_FAILED = "all_failed"
    REQUESTS_FAILED = "requests_failed"
    OUTPUT_TOKENS_NOT_AS_ASKED = "output_tokens_not_as_asked"
    INPUT_TOKENS_NOT_AS_ASKED = "input_tokens_not_as_asked"
    REQUESTED_COUNTED_AS_GENERATED = "requested_counted_as_generated"
    NO_TEXT_CAME_BACK = "no_text_came_back"
    RETOKENISED_RATIO_ODD = "retokenised_ratio_odd"
    TTFT_ZERO = "ttft_zero"
    ITL_ZERO = "itl_zero"
    TPOT_AGAINST_ITL = "tpot_against_itl"
    VALUE_NOT_FINITE = "value_not_finite"
    VALUES_AT_ODDS = "values_at_odds"
    PART_OF_A_RESULT = "part_of_a_result"
    CONCURRENCY_NOT_REACHED = "concurrency_not_reached"
    SHORT_DURATION = "short_duration"
    CACHE_NOT_FLUSHED = "cache_not_flushed"
    CACHE_WARM = "cache_warm"
    SERVER_ERRORS = "server_errors"
    REQUESTS_RETRACTED = "requests_retracted"
    ALLOCATION_REFUSED = "allocation_refused"
    THROUGHPUT_FADES = "throughput_fades"
    GRAPH_OFF = "graph_off"
    KV_CAPACITY_TOO_SMALL = "kv_capacity_too_small"
    KV_CAPACITY_MOVED = "kv_capacity_moved"
    CLIENT_BOUND = "client_bound"
    SERVER_ELSEWHERE = "server_elsewhere"
    STRANGER_ON_CARDS = "stranger_on_cards"
    CARD_THROTTLED = "card_throttled"
    CARD_HOT = "card_hot"
    CARD_IMBALANCE = "card_imbalance"
    CARD_MEMORY_CREEPS = "card_memory_creeps"
    CLOCK_JUMPED = "clock_jumped"


SENTENCES = MappingProxyType(
    {
        Gate.TOOL_FAILED: "the benchmark tool must end with exit code 0 and write one result",
        Gate.PROBE_REFUSED: "the server must serve one request of the cell's lengths",
        Gate.LENGTHS_NOT_EXACT: "one request must be served with exactly the lengths asked for",
        Gate.PROFILED: "no profiler may run while a load is measured",
        Gate.ALL_FAILED: "at least one request must complete, with values above zero",
        Gate.REQUESTS_FAILED: "every request asked for must complete",
        Gate.OUTPUT_TOKENS_NOT_AS_ASKED: "as many output tokens as asked for must come back",
        Gate.INPUT_TOKENS_NOT_AS_ASKED: "input tokens must be within 1 % of what was asked for",
        Gate.REQUESTED_COUNTED_AS_GENERATED: (
            "output tokens must be those that came back, not those that were asked for"
        ),
        Gate.NO_TEXT_CAME_BACK: "the text that came back must hold tokens",
        Gate.RETOKENISED_RATIO_ODD: (
            "the text that came back should hold about as many tokens as were counted"
        ),
        Gate.TTFT_ZERO: "the median time to first token must be above zero",
        Gate.ITL_ZERO: "the median gap between tokens must be above zero",
        Gate.TPOT_AGAINST_ITL: "time per token and gap between tokens must be of one size",
        Gate.VALUE_NOT_FINITE: "every value must be a finite number, not below 0",
        Gate.PART_OF_A_RESULT: "a file must tell how its requests fared for its values to count",
        Gate.VALUES_AT_ODDS: "no value may be larger than one that it is a part of",
        Gate.CACHE_NOT_FLUSHED: "the server must have confirmed that its cache was flushed",
        Gate.CACHE_WARM: "a cold cell must not be served from the prefix cache",
        Gate.CONCURRENCY_NOT_REACHED: (
            "requests in flight must reach the concurrency, or ramp, tail and failures dominate"
        ),
        Gate.SHORT_DURATION: "the load should last long enough for start and end not to count",
        Gate.SERVER_ERRORS: "the server's log must hold no error while the load ran",
        Gate.REQUESTS_RETRACTED: "no running request may be taken back because memory was full",
        Gate.ALLOCATION_REFUSED: "no allocation of memory may be refused while the load runs",
        Gate.THROUGHPUT_FADES: "over a long load the server should not slow down",
        Gate.GRAPH_OFF: "every decode step must run as a graph where the server was to use graphs",
        Gate.KV_CAPACITY_TOO_SMALL: "the KV cache must hold all requests in flight at full length",
        Gate.KV_CAPACITY_MOVED: "the KV capacity must be that of the stack's other launches",
        Gate.CLIENT_BOUND: "the client must not use up its core, or it sets the pace itself",
        Gate.SERVER_ELSEWHERE: "the server's processes must be on exactly the leased cards",
        Gate.STRANGER_ON_CARDS: "nobody else may use the leased cards",
        Gate.CARD_THROTTLED: "no card may run below the clock it is set to while the load runs",
        Gate.CARD_HOT: "no card may reach the temperature at which it slows down",
        Gate.CARD_IMBALANCE: "cards that share a model should be about equally busy",
        Gate.CARD_MEMORY_CREEPS: "over a long load no card's used memory should grow",
        Gate.CLOCK_JUMPED: "the host's clock must not be set while the load runs",
    }
)

# What no result file of any tool tells: it takes whoever was on the host while the load ran.
SEEN_ON_HOST_ONLY = frozenset(
    {
        Gate.SERVER_ERRORS,
        Gate.REQUESTS_RETRACTED,
        Gate.ALLOCATION_REFUSED,
        Gate.THROUGHPUT_FADES,
        Gate.GRAPH_OFF,
        Gate.CLIENT_BOUND,
        Gate.SERVER_ELSEWHERE,
        Gate.STRANGER_ON_CARDS,
        Gate.CARD_THROTTLED,
        Gate.CARD_HOT,
        Gate.CARD_IMBALANCE,
        Gate.CARD_MEMORY_CREEPS,
        Gate.CLOCK_JUMPED,
    }
)

# What a runner can settle on every chip and release, with no more rights than its own: from the
# result of the client it started, and from the answers and the log of the server it started.
SETTLED_BY_EVERY_RUNNER = frozenset(
    {
        Gate.ALL_FAILED,
        Gate.REQUESTS_FAILED,
        Gate.OUTPUT_TOKENS_NOT_AS_ASKED,
        Gate.INPUT_TOKENS_NOT_AS_ASKED,
        Gate.NO_TEXT_CAME_BACK,
        Gate.TTFT_ZERO,
        Gate.ITL_ZERO,
        Gate.CACHE_NOT_FLUSHED,
        Gate.SERVER_ERRORS,
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one gate saw: the observed value, the required one, and what it makes of the run."""

    gate: Gate
    severity: Severity
    observed: str
    required: str

    @property
    def code(self) -> str:
        """The stable code of the gate."""
        return self.gate.value

    @property
    def message(self) -> str:
        """One sentence for a person."""
        if self.severity is Severity.UNKNOWN:
            return f"not known whether it holds: {SENTENCES[self.gate]}"
        return f"{SENTENCES[self.gate]}: observed {self.observed}, required {self.required}"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of one repeat; None is not known, which is never the same as fine.

    From the tool's result. requests_*: counts. *_lengths: bounds of what was asked for one
    request, in tokens; None where nobody tells them. retokenised: tokens in the text that came
    back, counted by the client. *_p50, *_mean: seconds. streamed: False for tools
    that see no single token, whose token gates do not apply. itl_per_token: False where one gap
    may hold several tokens (speculative decoding, stream interval). ignore_eos: None reads as the
    tools' default, which is to ignore it. not_finite: names of values: NaN, infinite or below 0.
    at_odds: pairs of values that cannot both be true, in words (service/domain/odds.py).
    part_of_a_result: whether the file by its nature cannot tell how many requests completed.
    all_zero: whether every value the tool measured was 0.0. concurrency: requests in flight, mean.
    client_cpu_share: CPU time of the client over the time of the load, 1.0 is one whole core.

    From the server. cold: whether the cell wants an empty prefix cache. cache_hit: ratio.
    server_output_tokens: how many it says it generated for this load. server_errors,
    retractions: lines of its log. refusals: the cause of each allocation that its log says was
    refused. throughput_growth: by which ratio its decoding sped up over the load, by the slope of
    what it logs; below 0 it slowed down. graphs_asked: whether decoding was to run as graphs;
    eager_decodes: logged decode batches that did not. kv_capacity: tokens;
    kv_needed: tokens that all requests in flight hold at their longest, None where the load has
    no such bound; kv_capacity_before: tokens in an earlier launch of the same stack and cell
    on the same host, None for the first.

    From the host. cards_leased, cards_used: names of the cards, and of those on which the
    server's processes were seen; an empty cards_leased says that there are no cards to look at, as
    on a CPU, and then no gate on cards applies. strangers: what else was seen on the leased cards.
    card_memory_before: the largest used share of a leased card's memory before the launch.
    card_clock_share: the lowest clock under load over the one the card is set to.
    card_temperature_c: the highest, and card_temperature_limit_c the lowest of the cards' own
    limits, in degrees Celsius. card_busy: mean utilisation of each leased card under load, ratios.
    card_memory_growth: by which ratio of its whole memory the card that grew most is fuller at the
    end of the load than at its begin, by the slope of its samples.
    clock_drift_s: by how much the wall clock moved against the monotonic one, seconds.
    """

    requests_completed: int | None = None
    requests_asked: int | None = None
    input_tokens: int | None = None
    input_lengths: tuple[int, int] | None = None
    output_tokens: int | None = None
    output_lengths: tuple[int, int] | None = None
    ignore_eos: bool | None = None
    streamed: bool = True
    itl_per_token: bool = True
    retokenised: int | None = None
    ttft_p50: float | None = None
    tpot_p50: float | None = None
    itl_p50: float | None = None
    tpot_mean: float | None = None
    itl_mean: float | None = None
    not_finite: tuple[str, ...] = ()
    at_odds: tuple[str, ...] = ()
    part_of_a_result: bool = False
    all_zero: bool = False
    cold: bool | None = None
    cache_flushed: bool | None = None
    cache_hit: float | None = None
    concurrency: float | None = None
    concurrency_asked: int | None = None
    duration_s: float | None = None
    client_cpu_share: float | None = None
    server_output_tokens: int | None = None
    server_errors: int | None = None
    retractions: int | None = None
    refusals: tuple[str, ...] | None = None
    throughput_growth: Interval | None = None
    graphs_asked: bool | None = None
    eager_decodes: int | None = None
    kv_capacity: int | None = None
    kv_needed: int | None = None
    kv_capacity_before: int | None = None
    cards_leased: tuple[str, ...] | None = None
    cards_used: tuple[str, ...] | None = None
    strangers: tuple[str, ...] | None = None
    card_memory_before: float | None = None
    card_clock_share: float | None = None
    card_temperature_c: float | None = None
    card_temperature_limit_c: float | None = None
    card_busy: tuple[float, ...] | None = None
    card_memory_growth: Interval | None = None
    clock_drift_s: float | None = None

    @property
    def one_token_each(self) -> bool:
        """Whether every request answered one token, so that no gap between tokens exists."""
        return self.output_tokens is not None and self.output_tokens == self.requests_completed


def failure(gate: Gate, *, observed: object, required: object) -> Finding:
    """Return a gate that does not hold, which makes the run invalid."""
    return Finding(gate, Severity.FAILURE, str(observed), str(required))


def warning(gate: Gate, *, observed: object, required: object) -> Finding:
    """Return a gate that does not hold, which is shown and leaves the run valid."""
    return Finding(gate, Severity.WARNING, str(observed), str(required))


def unknown(gate: Gate) -> Finding:
    """Return a gate of which nobody told what it needs to know."""
    return Finding(gate, Severity.UNKNOWN, "unknown", SENTENCES[gate])


class Found(Protocol):
    """Whatever says what a gate found: a finding, or one that came over the wire."""

    @property
    def code(self) -> str:
        """The stable code of the gate."""
        ...

    @property
    def severity(self) -> str:
        """One of the words of Severity."""
        ...


def validity_of(findings: Iterable[Found]) -> Validity:
    """Return invalid for any failure, else incomplete for any unknown, else valid."""
    severities = {finding.severity for finding in findings}
    if Severity.FAILURE in severities:
        return Validity.INVALID
    return Validity.INCOMPLETE if Severity.UNKNOWN in severities else Validity.VALID


def validity_of_run(findings: Iterable[Found]) -> Validity:
    """Return what a runner's own run is worth; only a valid one is judged.

    A failure makes it invalid. An unknown makes it incomplete where every runner can settle the
    gate: then the tool's result or the server's log has changed its form, and what cannot be read
    any more may as well be zero requests. An unknown of any other gate leaves the run valid and
    is shown with its verdict: whether a card tells its clock, a log its decode mode, or a
    container the processes beside it, lies with the chip, the release and the rights of the
    runner, and a host that withholds it on both sides would otherwise never be judged at all.
    """
    found = tuple(findings)
    decisive = (each for each in found if each.code in SETTLED_BY_EVERY_RUNNER)
    failed = (each for each in found if each.severity == Severity.FAILURE)
    return validity_of((*failed, *decisive))
