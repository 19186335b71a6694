"""The gates: what invalidates a run, what only warns, and that unknown is not fine."""

from dataclasses import replace

import pytest

from service.domain.gates import GATES, check
from service.domain.validity import (
    SEEN_ON_HOST_ONLY,
    SENTENCES,
    SETTLED_BY_EVERY_RUNNER,
    Finding,
    Gate,
    RunFacts,
    Severity,
    Validity,
    failure,
    validity_of,
    validity_of_run,
)
from service.stats.interval import Interval

GROWN, FADED = Interval(0.04, 0.05, 0.06), Interval(-0.3, -0.2, -0.1)
FINE = RunFacts(
    requests_completed=12,
    requests_asked=12,
    input_tokens=12 * 128,
    input_lengths=(128, 128),
    output_tokens=12 * 64,
    output_lengths=(64, 64),
    ignore_eos=True,
    retokenised=12 * 64,
    ttft_p50=0.07,
    tpot_p50=0.007,
    itl_p50=0.007,
    tpot_mean=0.0071,
    itl_mean=0.0071,
    cold=True,
    cache_flushed=True,
    cache_hit=0.0,
    concurrency=3.9,
    concurrency_asked=4,
    duration_s=3600.0,
    client_cpu_share=0.4,
    server_output_tokens=12 * 64,
    server_errors=0,
    retractions=0,
    refusals=(),
    throughput_growth=Interval(-0.01, 0.01, 0.03),
    graphs_asked=True,
    eager_decodes=0,
    kv_capacity=16384,
    kv_needed=4 * 192,
    kv_capacity_before=16384,
    cards_leased=("0", "1"),
    cards_used=("1", "0"),
    strangers=(),
    card_memory_before=0.0003,
    card_clock_share=1.0,
    card_temperature_c=62.0,
    card_temperature_limit_c=90.0,
    card_busy=(0.9, 0.88),
    card_memory_growth=Interval(-0.002, 0.001, 0.004),
    clock_drift_s=0.01,
)
# A card that cannot be looked at, as on a CPU, and a host that tells all the rest.
NO_CARDS = replace(
    FINE,
    cards_leased=(),
    cards_used=None,
    strangers=None,
    card_memory_before=None,
    card_clock_share=None,
    card_temperature_c=None,
    card_temperature_limit_c=None,
    card_busy=None,
    card_memory_growth=None,
)
SHORT = replace(FINE, duration_s=600.0, throughput_growth=FADED, card_memory_growth=GROWN)
# What a runner finds before or beside a repeat, and so never through its facts.
FOUND_BY_HAND = {Gate.TOOL_FAILED, Gate.PROBE_REFUSED, Gate.LENGTHS_NOT_EXACT, Gate.PROFILED}


def seen(facts: RunFacts) -> list[tuple[Gate, Severity]]:
    return [(finding.gate, finding.severity) for finding in check(facts)]


def test_a_run_that_did_what_was_asked_passes_every_gate() -> None:
    assert check(FINE) == ()
    assert validity_of(check(FINE)) is Validity.VALID


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        (
            {
                "requests_completed": 6,
                "output_tokens": 384,
                "input_tokens": 768,
                "retokenised": 384,
            },
            "requests_failed",
        ),
        ({"output_tokens": 12 * 8, "retokenised": 12 * 8}, "output_tokens_not_as_asked"),
        (
            {"ignore_eos": None, "output_tokens": 12 * 8, "retokenised": 12 * 8},
            "output_tokens_not_as_asked",
        ),
        ({"input_tokens": 12 * 130}, "input_tokens_not_as_asked"),
        ({"retokenised": 0}, "no_text_came_back"),
        ({"ttft_p50": 0.0}, "ttft_zero"),
        ({"itl_p50": 0.0}, "itl_zero"),
        (
            {"tpot_mean": 0.00146, "itl_mean": 0.00416, "tpot_p50": 0.00146, "itl_p50": 0.00416},
            "tpot_against_itl",
        ),
        ({"tpot_mean": 0.0218, "tpot_p50": 0.021}, "tpot_against_itl"),
        ({"itl_mean": 7e-6, "itl_p50": 7e-6}, "tpot_against_itl"),
        ({"tpot_mean": None, "tpot_p50": 0.00146, "itl_p50": 0.00416}, "tpot_against_itl"),
        ({"not_finite": ("e2e_p50",)}, "value_not_finite"),
        ({"at_odds": ("ttft_p50 2 s against e2e_p50 1 s",)}, "values_at_odds"),
        ({"part_of_a_result": True}, "part_of_a_result"),
        ({"cache_flushed": False}, "cache_not_flushed"),
        ({"cache_hit": 0.3}, "cache_warm"),
        ({"server_errors": 2}, "server_errors"),
        ({"all_zero": True}, "all_failed"),
        ({"concurrency": 2.93}, "concurrency_not_reached"),
        ({"server_output_tokens": 12 * 32}, "requested_counted_as_generated"),
        ({"retractions": 1}, "requests_retracted"),
        ({"refusals": ("fragmentation",)}, "allocation_refused"),
        ({"eager_decodes": 3}, "graph_off"),
        ({"kv_capacity": 700, "kv_capacity_before": 700}, "kv_capacity_too_small"),
        ({"kv_capacity": 15000}, "kv_capacity_moved"),
        ({"kv_capacity": 18000}, "kv_capacity_moved"),
        ({"client_cpu_share": 0.97}, "client_bound"),
        ({"cards_used": ("0",)}, "server_elsewhere"),
        ({"cards_used": ("0", "1", "2")}, "server_elsewhere"),
        ({"strangers": ("pid 4711 train.py",)}, "stranger_on_cards"),
        ({"strangers": None, "card_memory_before": 0.4}, "stranger_on_cards"),
        ({"card_clock_share": 0.8}, "card_throttled"),
        ({"card_temperature_c": 90.0}, "card_hot"),
        ({"clock_drift_s": -3.0}, "clock_jumped"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failed_gate_makes_a_run_invalid_and_names_itself(
    change: dict[str, object], gate: str
) -> None:
    findings = check(replace(FINE, **change))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.code, finding.severity) for finding in findings] == [(gate, Severity.FAILURE)]
    assert validity_of(findings) is Validity.INVALID
    assert "observed" in findings[0].message


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"retokenised": 12 * 13}, Gate.RETOKENISED_RATIO_ODD),
        ({"concurrency": 3.1}, Gate.CONCURRENCY_NOT_REACHED),
        ({"duration_s": 1.4}, Gate.SHORT_DURATION),
        ({"itl_mean": None, "tpot_p50": 0.021}, Gate.TPOT_AGAINST_ITL),
        ({"itl_p50": 7e-6}, Gate.TPOT_AGAINST_ITL),
        ({"card_temperature_limit_c": None, "card_temperature_c": 91.0}, Gate.CARD_HOT),
        ({"card_busy": (0.9, 0.4)}, Gate.CARD_IMBALANCE),
        ({"throughput_growth": FADED}, Gate.THROUGHPUT_FADES),
        ({"card_memory_growth": GROWN}, Gate.CARD_MEMORY_CREEPS),
    ],
)
def test_what_only_warns_leaves_a_run_valid(change: dict[str, object], gate: Gate) -> None:
    findings = check(replace(FINE, **change))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.gate, finding.severity) for finding in findings] == [(gate, Severity.WARNING)]
    assert validity_of(findings) is Validity.VALID


@pytest.mark.parametrize(
    ("field", "gate"),
    [
        ("requests_asked", Gate.REQUESTS_FAILED),
        ("output_tokens", Gate.OUTPUT_TOKENS_NOT_AS_ASKED),
        ("input_tokens", Gate.INPUT_TOKENS_NOT_AS_ASKED),
        ("retokenised", Gate.NO_TEXT_CAME_BACK),
        ("ttft_p50", Gate.TTFT_ZERO),
        ("itl_p50", Gate.ITL_ZERO),
        ("cache_flushed", Gate.CACHE_NOT_FLUSHED),
        ("concurrency", Gate.CONCURRENCY_NOT_REACHED),
        ("server_errors", Gate.SERVER_ERRORS),
        ("cache_hit", Gate.CACHE_WARM),
        ("retractions", Gate.REQUESTS_RETRACTED),
        ("refusals", Gate.ALLOCATION_REFUSED),
        ("throughput_growth", Gate.THROUGHPUT_FADES),
        ("graphs_asked", Gate.GRAPH_OFF),
        ("eager_decodes", Gate.GRAPH_OFF),
        ("client_cpu_share", Gate.CLIENT_BOUND),
        ("cards_leased", Gate.SERVER_ELSEWHERE),
        ("cards_used", Gate.SERVER_ELSEWHERE),
        ("strangers", Gate.STRANGER_ON_CARDS),
        ("card_memory_before", Gate.STRANGER_ON_CARDS),
        ("card_clock_share", Gate.CARD_THROTTLED),
        ("card_temperature_c", Gate.CARD_HOT),
        ("card_busy", Gate.CARD_IMBALANCE),
        ("card_memory_growth", Gate.CARD_MEMORY_CREEPS),
        ("clock_drift_s", Gate.CLOCK_JUMPED),
    ],
)
def test_what_nobody_told_is_unknown_and_not_passed(field: str, gate: Gate) -> None:
    findings = check(replace(FINE, **{field: None}))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.gate, finding.severity) for finding in findings] == [(gate, Severity.UNKNOWN)]
    assert validity_of(findings) is Validity.INCOMPLETE


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ignore_eos": False, "output_tokens": 700}, id="an end that was asked for"),
        pytest.param({"output_lengths": (32, 64), "output_tokens": 12 * 60}, id="drawn lengths"),
        pytest.param({"itl_per_token": False, "itl_mean": 0.05, "itl_p50": 0.05}, id="wide gaps"),
        pytest.param({"tpot_mean": 0.017}, id="lengths that are drawn"),
        pytest.param({"itl_p50": 0.001}, id="prefills that hold decoding up"),
        pytest.param({"cold": False, "cache_flushed": None, "cache_hit": 0.9}, id="a kept cache"),
        pytest.param({"concurrency_asked": None, "concurrency": None}, id="an open load"),
        pytest.param(
            {"streamed": False, "retokenised": None, "ttft_p50": None, "itl_p50": None},
            id="a tool that sees no single token",
        ),
        pytest.param(
            {"output_tokens": 12, "output_lengths": (1, 1), "tpot_p50": 0.0, "itl_p50": 0.0,
             "retokenised": 12},
            id="one token a request has no gap",
        ),
    ],
)  # fmt: skip
def test_a_gate_that_does_not_apply_finds_nothing(change: dict[str, object]) -> None:
    assert check(replace(FINE, **change)) == ()  # type: ignore[arg-type]  # a table of any field


def test_the_kv_capacity_that_nobody_tells_is_unknown_to_both_of_its_gates() -> None:
    assert seen(replace(FINE, kv_capacity=None)) == [
        (Gate.KV_CAPACITY_TOO_SMALL, Severity.UNKNOWN),
        (Gate.KV_CAPACITY_MOVED, Severity.UNKNOWN),
    ]


def test_a_run_in_which_nothing_completed_fails_as_a_whole_and_no_token_is_counted() -> None:
    nothing = replace(FINE, requests_completed=0, input_tokens=0, output_tokens=0, retokenised=9)

    assert seen(nothing) == [
        (Gate.ALL_FAILED, Severity.FAILURE),
        (Gate.REQUESTS_FAILED, Severity.FAILURE),
    ]


def test_requested_tokens_are_told_from_generated_ones_by_two_signs_together() -> None:
    stopped_early = replace(
        FINE,
        server_output_tokens=None,
        retokenised=12 * 42,
        tpot_p50=0.00146,
        itl_p50=0.00416,
        tpot_mean=None,
    )
    random_weights = replace(FINE, server_output_tokens=None, retokenised=12 * 13)

    assert [gate for gate, _ in seen(stopped_early)] == [
        Gate.REQUESTED_COUNTED_AS_GENERATED,
        Gate.RETOKENISED_RATIO_ODD,
        Gate.TPOT_AGAINST_ITL,
    ]
    assert seen(random_weights) == [(Gate.RETOKENISED_RATIO_ODD, Severity.WARNING)]


def test_a_long_run_may_have_its_clock_slewed_but_not_set() -> None:
    an_hour = replace(FINE, duration_s=3600.0)

    assert check(replace(an_hour, clock_drift_s=1.8)) == ()
    assert seen(replace(an_hour, clock_drift_s=2.0)) == [(Gate.CLOCK_JUMPED, Severity.FAILURE)]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(NO_CARDS, id="a host without cards"),
        pytest.param(
            replace(FINE, cards_leased=("0",), cards_used=("0",), card_busy=None),
            id="one card has nobody to be unlike",
        ),
        pytest.param(SHORT, id="a short load has no slope"),
        pytest.param(
            replace(FINE, graphs_asked=False, eager_decodes=9), id="graphs were not asked"
        ),
        pytest.param(
            replace(FINE, kv_needed=None, kv_capacity_before=None, kv_capacity=None),
            id="an open load in a first launch",
        ),
    ],
)
def test_a_gate_on_the_host_that_does_not_apply_finds_nothing(facts: RunFacts) -> None:
    assert check(facts) == ()


def test_every_gate_has_a_sentence_and_somebody_who_asks_it() -> None:
    broken = replace(
        FINE,
        requests_completed=6,
        output_tokens=400,
        input_tokens=12,
        retokenised=0,
        ttft_p50=0.0,
        itl_p50=0.0,
        not_finite=("e2e_p50",),
        at_odds=("ttft_p50 2 s against e2e_p50 1 s",),
        part_of_a_result=True,
        all_zero=True,
        cache_flushed=False,
        cache_hit=0.9,
        concurrency=0.1,
        duration_s=1.0,
        client_cpu_share=1.0,
        server_output_tokens=12,
        server_errors=1,
        retractions=1,
        refusals=("x",),
        eager_decodes=1,
        kv_capacity=1,
        cards_used=(),
        strangers=("x",),
        card_clock_share=0.1,
        card_temperature_c=99.0,
        card_busy=(0.1, 0.9),
        clock_drift_s=9.0,
    )
    odd = replace(SHORT, duration_s=3600.0, retokenised=1, tpot_p50=1.0, tpot_mean=1.0)
    asked = {finding.gate for facts in (broken, odd) for finding in check(facts)}

    assert set(SENTENCES) == set(Gate)
    assert asked | FOUND_BY_HAND == set(Gate)
    assert len(GATES) == len(asked)


def test_findings_come_in_the_order_of_the_list_of_gates() -> None:
    known = RunFacts(
        cold=True, kv_needed=9, all_zero=True, concurrency_asked=4, concurrency=1.0, duration_s=1.0
    )
    found = [finding.gate for finding in check(known)]

    assert found == [gate for gate in Gate if gate in found]


def test_nothing_known_is_incomplete() -> None:
    assert validity_of(check(RunFacts())) is Validity.INCOMPLETE


@pytest.mark.parametrize("gate", sorted(SETTLED_BY_EVERY_RUNNER))
def test_a_run_whose_own_result_or_log_tells_no_more_is_incomplete(gate: Gate) -> None:
    assert validity_of_run([_unknown(gate)]) is Validity.INCOMPLETE


@pytest.mark.parametrize("gate", sorted(set(Gate) - SETTLED_BY_EVERY_RUNNER))
def test_a_run_on_a_host_that_withholds_something_is_judged_all_the_same(gate: Gate) -> None:
    assert validity_of_run([_unknown(gate)]) is Validity.VALID


@pytest.mark.parametrize("gate", list(Gate))
def test_any_failed_gate_makes_a_run_invalid_whatever_is_unknown(gate: Gate) -> None:
    found = [_unknown(Gate.SERVER_ERRORS), failure(gate, observed=1, required=0)]

    assert validity_of_run(found) is Validity.INVALID


def test_what_is_seen_on_the_host_only_is_unknown_to_every_bare_file() -> None:
    told_by_a_file = replace(
        FINE,
        client_cpu_share=None,
        server_errors=None,
        retractions=None,
        refusals=None,
        throughput_growth=None,
        eager_decodes=None,
        cards_leased=None,
        cards_used=None,
        strangers=None,
        card_memory_before=None,
        card_clock_share=None,
        card_temperature_c=None,
        card_busy=None,
        card_memory_growth=None,
        clock_drift_s=None,
    )

    assert {gate for gate, severity in seen(told_by_a_file)} == SEEN_ON_HOST_ONLY
    assert set(dict(seen(told_by_a_file)).values()) == {Severity.UNKNOWN}


def _unknown(gate: Gate) -> Finding:
    return Finding(gate, Severity.UNKNOWN, "unknown", "…")
