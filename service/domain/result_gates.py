"""The gates on what a benchmark tool's own result tells."""

from service.domain.validity import Finding, Gate, RunFacts, failure, unknown, warning

# Chunks of a prompt and special tokens of a template move the count of input tokens a little.
INPUT_SLACK = 0.01
# SGLang's nightly runs and our own repeats lie within; random weights give 0.2, a stand-in
# server 2.0, both of honest runs: so the ratio by itself only warns.
RETOKENISED_RATIO = (0.85, 1.15)
# A backend that takes requested for generated tokens gave 0.35 (8 of 24 tokens came back). A count
# that is wrong moves the ratio of means and that of medians alike. Honest runs move one: where
# prefills hold decoding up, a request's mean gap is many times the median one (8 where 3 of 7 gaps
# hold a prefill), but never below half of it; and where lengths are drawn, a mean over requests is
# not one over gaps (2.4 in a public file, whose medians give 1.3).
TPOT_ITL_RATIO = (0.5, 2.0)
# No prefill makes it, and a unit that is mistaken makes a thousand, of the means as well.
TPOT_ITL_RATIO_MAX = 100.0
# A server counts its own tokens and has no reason to count fewer than it sent.
SERVER_COUNT_SLACK = 0.01
# Ramp and tail take about one part in N of a closed load of N times its concurrency, and 5 times
# reaches the first figure. The second is what 1.5 times gives, or a load of which half failed:
# such files lie at 0.69 to 0.73, and honest ones at 0.95 and above, whatever the tool.
LEAST_CONCURRENCY_SHARE = 0.85
INVALID_CONCURRENCY_SHARE = 0.75
# Public runs of 3 s showed 5 % of change that was their warm-up.
LEAST_DURATION_S = 30.0
NAMES_SHOWN = 3


def _all_failed(facts: RunFacts) -> Finding | None:
    gate = Gate.ALL_FAILED
    if facts.requests_completed == 0:
        return failure(gate, observed="0 completed", required="at least 1")
    if facts.all_zero:
        return failure(gate, observed="0.0 in every value", required="values above 0")
    return None


def _requests(facts: RunFacts) -> Finding | None:
    gate, completed, asked = Gate.REQUESTS_FAILED, facts.requests_completed, facts.requests_asked
    if completed == 0:
        required = "at least 1" if asked is None else asked
        return failure(gate, observed="0 completed", required=required)
    if completed is None or asked is None:
        return unknown(gate)
    if completed != asked:
        return failure(gate, observed=f"{completed} completed", required=asked)
    return None


def _output_tokens(facts: RunFacts) -> Finding | None:
    gate = Gate.OUTPUT_TOKENS_NOT_AS_ASKED
    if facts.output_lengths is None or facts.ignore_eos is False or _nothing_completed(facts):
        return None
    if facts.output_tokens is None or facts.requests_completed is None:
        return unknown(gate)
    low, high = (facts.requests_completed * length for length in facts.output_lengths)
    if low <= facts.output_tokens <= high:
        return None
    return failure(gate, observed=f"{facts.output_tokens} tokens", required=_range(low, high))


def _input_tokens(facts: RunFacts) -> Finding | None:
    gate = Gate.INPUT_TOKENS_NOT_AS_ASKED
    if facts.input_lengths is None or _nothing_completed(facts):
        return None
    if facts.input_tokens is None or facts.requests_completed is None:
        return unknown(gate)
    low, high = (facts.requests_completed * length for length in facts.input_lengths)
    if low * (1 - INPUT_SLACK) <= facts.input_tokens <= high * (1 + INPUT_SLACK):
        return None
    required = f"{_range(low, high)}, within 1 %"
    return failure(gate, observed=f"{facts.input_tokens} tokens", required=required)


def _requested_for_generated(facts: RunFacts) -> Finding | None:
    """Find a count of output tokens that was taken from the request.

    Either the server says that it generated fewer, or two signs come together, each of which an
    honest run may show alone: less text than tokens, and less time per token than between two.
    """
    gate, counted = Gate.REQUESTED_COUNTED_AS_GENERATED, facts.output_tokens
    if not counted:
        return None
    generated = facts.server_output_tokens
    if generated is not None and counted > generated * (1 + SERVER_COUNT_SLACK):
        required = f"at most the server's {generated}, within 1 %"
        return failure(gate, observed=f"{counted} tokens", required=required)
    ratio = min(_tpot_over_itl(facts), default=TPOT_ITL_RATIO[0])
    if facts.retokenised is None or ratio >= TPOT_ITL_RATIO[0]:
        return None
    share = facts.retokenised / counted
    if share >= RETOKENISED_RATIO[0]:
        return None
    observed = f"{share:.2f} of the tokens in the text, {ratio:.2f} of the gap per token"
    required = f"at least {RETOKENISED_RATIO[0]}, or at least {TPOT_ITL_RATIO[0]}"
    return failure(gate, observed=observed, required=required)


def _no_text(facts: RunFacts) -> Finding | None:
    gate = Gate.NO_TEXT_CAME_BACK
    if not facts.streamed:
        return None
    if facts.retokenised is None:
        return unknown(gate)
    if facts.retokenised == 0:
        return failure(gate, observed="0 tokens in the text", required="more than 0")
    return None


def _retokenised_ratio(facts: RunFacts) -> Finding | None:
    if not (facts.streamed and facts.retokenised and facts.output_tokens):
        return None
    ratio = facts.retokenised / facts.output_tokens
    low, high = RETOKENISED_RATIO
    if low <= ratio <= high:
        return None
    gate = Gate.RETOKENISED_RATIO_ODD
    return warning(gate, observed=f"{ratio:.2f}", required=f"{low} to {high}")


def _ttft(facts: RunFacts) -> Finding | None:
    if not facts.streamed or "ttft_p50" in facts.not_finite:
        return None
    return _above_zero(Gate.TTFT_ZERO, facts.ttft_p50)


def _itl(facts: RunFacts) -> Finding | None:
    if not facts.streamed or facts.one_token_each or "itl_p50" in facts.not_finite:
        return None
    return _above_zero(Gate.ITL_ZERO, facts.itl_p50)


def _tpot_against_itl(facts: RunFacts) -> Finding | None:
    gate, ratios = Gate.TPOT_AGAINST_ITL, _tpot_over_itl(facts)
    low, high = TPOT_ITL_RATIO
    if not ratios or (low <= min(ratios) <= high and max(ratios) <= TPOT_ITL_RATIO_MAX):
        return None
    observed = "a ratio of " + " and ".join(f"{ratio:.2f}" for ratio in ratios)
    medians, means = ratios[0], ratios[1:]
    # Tokens that a busy client reads in one go have gaps of next to nothing, most of them at worst;
    # a mistaken unit or count would be in the means as well.
    may_be_honest = low <= means[0] <= high if means else medians <= TPOT_ITL_RATIO_MAX
    return (warning if medians > high and may_be_honest else failure)(
        gate, observed=observed, required=f"{low} to {high}"
    )


def _not_finite(facts: RunFacts) -> Finding | None:
    if not facts.not_finite:
        return None
    shown = ", ".join(facts.not_finite[:NAMES_SHOWN])
    more = len(facts.not_finite) - NAMES_SHOWN
    names = f"{shown} and {more} more" if more > 0 else shown
    observed = f"NaN, infinity or less than 0 in {names}"
    return failure(Gate.VALUE_NOT_FINITE, observed=observed, required="finite numbers from 0 on")


def _part(facts: RunFacts) -> Finding | None:
    if not facts.part_of_a_result:
        return None
    return failure(Gate.PART_OF_A_RESULT, observed="values alone", required="a count of requests")


def _at_odds(facts: RunFacts) -> Finding | None:
    if not facts.at_odds:
        return None
    shown = "; ".join(facts.at_odds[:NAMES_SHOWN])
    return failure(Gate.VALUES_AT_ODDS, observed=shown, required="the other way round")


def _concurrency(facts: RunFacts) -> Finding | None:
    gate, asked = Gate.CONCURRENCY_NOT_REACHED, facts.concurrency_asked
    if asked is None:
        return None
    if facts.concurrency is None:
        return unknown(gate)
    if facts.concurrency >= LEAST_CONCURRENCY_SHARE * asked:
        return None
    too_few = facts.concurrency < INVALID_CONCURRENCY_SHARE * asked
    share = INVALID_CONCURRENCY_SHARE if too_few else LEAST_CONCURRENCY_SHARE
    observed = f"{facts.concurrency:.2f} in flight"
    required = f"at least {share * asked:.2f}, which is {share} of {asked}"
    return (failure if too_few else warning)(gate, observed=observed, required=required)


def _duration(facts: RunFacts) -> Finding | None:
    if facts.duration_s is None or facts.duration_s >= LEAST_DURATION_S:
        return None
    observed = f"{facts.duration_s:.2f} s"
    required = f"at least {LEAST_DURATION_S:.0f} s"
    return warning(Gate.SHORT_DURATION, observed=observed, required=required)


def _tpot_over_itl(facts: RunFacts) -> tuple[float, ...]:
    """Return the ratio of the medians, then that of the means where they are told.

    None of them where they say nothing: several tokens may share a gap, or no gap took any time.
    """
    if not (facts.streamed and facts.itl_per_token):
        return ()
    pairs = ((facts.tpot_p50, facts.itl_p50), (facts.tpot_mean, facts.itl_mean))
    return tuple(tpot / itl for tpot, itl in pairs if tpot and itl and tpot > 0 and itl > 0)


def _nothing_completed(facts: RunFacts) -> bool:
    """Return whether no request completed: then no count of tokens says anything more."""
    return facts.requests_completed == 0


def _above_zero(gate: Gate, value: float | None) -> Finding | None:
    if value is None:
        return unknown(gate)
    return None if value > 0 else failure(gate, observed=f"{value:g} s", required="more than 0")


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


RESULT_GATES = (
    _all_failed,
    _requests,
    _output_tokens,
    _input_tokens,
    _requested_for_generated,
    _no_text,
    _retokenised_ratio,
    _ttft,
    _itl,
    _tpot_against_itl,
    _not_finite,
    _at_odds,
    _part,
    _concurrency,
    _duration,
)
