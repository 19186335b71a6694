"""The gates: what must hold of a run before anything may be concluded from it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

LEAST_CONCURRENCY_SHARE = 0.85
LEAST_DURATION_S = 30.0
INPUT_SLACK = 0.01
COLD_CACHE_HIT = 0.01
RETOKENISED_RATIO = (0.85, 1.15)
TPOT_ITL_RATIO = (0.5, 2.0)
NAMES_SHOWN = 3


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
    """The closed list of gates; each value is the stable code of what it finds."""

    REQUESTS_FAILED = "requests_failed"
    OUTPUT_TOKENS_NOT_AS_ASKED = "output_tokens_not_as_asked"
    INPUT_TOKENS_NOT_AS_ASKED = "input_tokens_not_as_asked"
    NO_TEXT_CAME_BACK = "no_text_came_back"
    RETOKENISED_RATIO_ODD = "retokenised_ratio_odd"
    TTFT_ZERO = "ttft_zero"
    ITL_ZERO = "itl_zero"
    TPOT_AGAINST_ITL = "tpot_against_itl"
    VALUE_NOT_FINITE = "value_not_finite"
    CACHE_NOT_FLUSHED = "cache_not_flushed"
    CACHE_WARM = "cache_warm"
    CONCURRENCY_NOT_REACHED = "concurrency_not_reached"
    SERVER_ERRORS = "server_errors"
    SHORT_DURATION = "short_duration"


SENTENCES = MappingProxyType(
    {
        Gate.REQUESTS_FAILED: "every request asked for must complete",
        Gate.OUTPUT_TOKENS_NOT_AS_ASKED: "as many output tokens as asked for must come back",
        Gate.INPUT_TOKENS_NOT_AS_ASKED: "input tokens must be within 1 % of what was asked for",
        Gate.NO_TEXT_CAME_BACK: "the text that came back must hold tokens",
        Gate.RETOKENISED_RATIO_ODD: (
            "the text that came back should hold about as many tokens as were counted"
        ),
        Gate.TTFT_ZERO: "the median time to first token must be above zero",
        Gate.ITL_ZERO: "the median gap between tokens must be above zero",
        Gate.TPOT_AGAINST_ITL: "time per token and gap between tokens must be of one size",
        Gate.VALUE_NOT_FINITE: "every value must be a finite number",
        Gate.CACHE_NOT_FLUSHED: "the server must have confirmed that its cache was flushed",
        Gate.CACHE_WARM: "a cold cell must not be served from the prefix cache",
        Gate.CONCURRENCY_NOT_REACHED: (
            "requests in flight should reach the concurrency, or ramp and tail dominate"
        ),
        Gate.SERVER_ERRORS: "the server's log must hold no error while the load ran",
        Gate.SHORT_DURATION: "the load should last long enough for start and end not to count",
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

    requests_*: counts. *_lengths: bounds of what was asked for one request, in tokens, or None.
    retokenised: tokens in the text that came back, counted by the client. ttft_p50, tpot_p50,
    itl_p50: seconds. streamed: False for tools that see no single token, whose token gates do not
    apply. itl_per_token: False where one gap may hold several tokens (speculative decoding,
    stream interval). ignore_eos: None reads as the tools' default, which is to ignore it.
    not_finite: names of values that were NaN or infinite. cold: whether the cell wants an empty
    prefix cache; None is not known. cache_hit: ratio. server_errors: lines of the server's log.
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
    not_finite: tuple[str, ...] = ()
    cold: bool | None = None
    cache_flushed: bool | None = None
    cache_hit: float | None = None
    concurrency: float | None = None
    concurrency_asked: int | None = None
    server_errors: int | None = None
    duration_s: float | None = None

    @property
    def one_token_each(self) -> bool:
        """Whether every request answered one token, so that no gap between tokens exists."""
        return self.output_tokens is not None and self.output_tokens == self.requests_completed


def check(facts: RunFacts) -> tuple[Finding, ...]:
    """Return what the gates find in one repeat, in the order of the list of gates.

    Whatever a gate would need and nobody told is found as unknown; a passed gate finds nothing.
    """
    return tuple(finding for gate in _GATES if (finding := gate(facts)) is not None)


def validity_of(findings: Iterable[Finding]) -> Validity:
    """Return invalid for any failure, else incomplete for any unknown, else valid."""
    severities = {finding.severity for finding in findings}
    if Severity.FAILURE in severities:
        return Validity.INVALID
    return Validity.INCOMPLETE if Severity.UNKNOWN in severities else Validity.VALID


def _failure(gate: Gate, observed: object, required: object) -> Finding:
    return Finding(gate, Severity.FAILURE, str(observed), str(required))


def _warning(gate: Gate, observed: object, required: object) -> Finding:
    return Finding(gate, Severity.WARNING, str(observed), str(required))


def _unknown(gate: Gate) -> Finding:
    return Finding(gate, Severity.UNKNOWN, "unknown", SENTENCES[gate])


def _requests(facts: RunFacts) -> Finding | None:
    gate = Gate.REQUESTS_FAILED
    if facts.requests_completed == 0:
        return _failure(gate, "0 completed", "at least 1")
    if facts.requests_completed is None or facts.requests_asked is None:
        return _unknown(gate)
    if facts.requests_completed != facts.requests_asked:
        return _failure(gate, f"{facts.requests_completed} completed", facts.requests_asked)
    return None


def _output_tokens(facts: RunFacts) -> Finding | None:
    gate = Gate.OUTPUT_TOKENS_NOT_AS_ASKED
    if facts.output_lengths is None or facts.ignore_eos is False or _nothing_completed(facts):
        return None
    if facts.output_tokens is None or facts.requests_completed is None:
        return _unknown(gate)
    low, high = (facts.requests_completed * length for length in facts.output_lengths)
    if low <= facts.output_tokens <= high:
        return None
    return _failure(gate, f"{facts.output_tokens} tokens", _range(low, high))


def _input_tokens(facts: RunFacts) -> Finding | None:
    gate = Gate.INPUT_TOKENS_NOT_AS_ASKED
    if facts.input_lengths is None or _nothing_completed(facts):
        return None
    if facts.input_tokens is None or facts.requests_completed is None:
        return _unknown(gate)
    low, high = (facts.requests_completed * length for length in facts.input_lengths)
    if low * (1 - INPUT_SLACK) <= facts.input_tokens <= high * (1 + INPUT_SLACK):
        return None
    return _failure(gate, f"{facts.input_tokens} tokens", f"{_range(low, high)}, within 1 %")


def _no_text(facts: RunFacts) -> Finding | None:
    if not facts.streamed:
        return None
    if facts.retokenised is None:
        return _unknown(Gate.NO_TEXT_CAME_BACK)
    if facts.retokenised == 0:
        return _failure(Gate.NO_TEXT_CAME_BACK, "0 tokens in the text", "more than 0")
    return None


def _retokenised_ratio(facts: RunFacts) -> Finding | None:
    if not (facts.streamed and facts.retokenised and facts.output_tokens):
        return None
    ratio = facts.retokenised / facts.output_tokens
    low, high = RETOKENISED_RATIO
    if low <= ratio <= high:
        return None
    return _warning(Gate.RETOKENISED_RATIO_ODD, f"{ratio:.2f}", f"{low} to {high}")


def _ttft(facts: RunFacts) -> Finding | None:
    if not facts.streamed or "ttft_p50" in facts.not_finite:
        return None
    return _above_zero(Gate.TTFT_ZERO, facts.ttft_p50)


def _itl(facts: RunFacts) -> Finding | None:
    if not facts.streamed or facts.one_token_each or "itl_p50" in facts.not_finite:
        return None
    return _above_zero(Gate.ITL_ZERO, facts.itl_p50)


def _tpot_against_itl(facts: RunFacts) -> Finding | None:
    if not (facts.streamed and facts.itl_per_token and facts.tpot_p50 and facts.itl_p50):
        return None
    ratio = facts.tpot_p50 / facts.itl_p50
    low, high = TPOT_ITL_RATIO
    if low <= ratio <= high:
        return None
    return _failure(Gate.TPOT_AGAINST_ITL, f"a ratio of {ratio:.2f}", f"{low} to {high}")


def _not_finite(facts: RunFacts) -> Finding | None:
    if not facts.not_finite:
        return None
    shown = ", ".join(facts.not_finite[:NAMES_SHOWN])
    more = len(facts.not_finite) - NAMES_SHOWN
    observed = f"{shown} and {more} more" if more > 0 else shown
    return _failure(Gate.VALUE_NOT_FINITE, f"NaN or infinity in {observed}", "finite numbers")


def _flushed(facts: RunFacts) -> Finding | None:
    if facts.cold is False or facts.cache_flushed is True:
        return None
    if facts.cache_flushed is None:
        return _unknown(Gate.CACHE_NOT_FLUSHED)
    return _failure(Gate.CACHE_NOT_FLUSHED, "no confirmation", "an answer of 200")


def _cache_warm(facts: RunFacts) -> Finding | None:
    if facts.cold is not True or facts.cache_hit is None or facts.cache_hit <= COLD_CACHE_HIT:
        return None
    return _failure(Gate.CACHE_WARM, f"a hit ratio of {facts.cache_hit:.3f}", COLD_CACHE_HIT)


def _concurrency(facts: RunFacts) -> Finding | None:
    if facts.concurrency_asked is None:
        return None
    if facts.concurrency is None:
        return _unknown(Gate.CONCURRENCY_NOT_REACHED)
    if facts.concurrency >= LEAST_CONCURRENCY_SHARE * facts.concurrency_asked:
        return None
    return _warning(
        Gate.CONCURRENCY_NOT_REACHED,
        f"{facts.concurrency:.2f} in flight",
        f"{LEAST_CONCURRENCY_SHARE} of {facts.concurrency_asked}",
    )


def _server_errors(facts: RunFacts) -> Finding | None:
    if facts.server_errors is None:
        return _unknown(Gate.SERVER_ERRORS)
    if facts.server_errors:
        return _failure(Gate.SERVER_ERRORS, f"{facts.server_errors} lines", 0)
    return None


def _duration(facts: RunFacts) -> Finding | None:
    if facts.duration_s is None or facts.duration_s >= LEAST_DURATION_S:
        return None
    return _warning(Gate.SHORT_DURATION, f"{facts.duration_s:.2f} s", f"{LEAST_DURATION_S:.0f} s")


def _nothing_completed(facts: RunFacts) -> bool:
    """Return whether no request completed: then no count of tokens says anything more."""
    return facts.requests_completed == 0


def _above_zero(gate: Gate, value: float | None) -> Finding | None:
    if value is None:
        return _unknown(gate)
    return None if value > 0 else _failure(gate, f"{value:g} s", "more than 0")


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


_GATES: tuple[Callable[[RunFacts], Finding | None], ...] = (
    _requests,
    _output_tokens,
    _input_tokens,
    _no_text,
    _retokenised_ratio,
    _ttft,
    _itl,
    _tpot_against_itl,
    _not_finite,
    _flushed,
    _cache_warm,
    _concurrency,
    _server_errors,
    _duration,
)
