"""The decision rule: where the interval and its center lie decides."""

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.metric import METRICS
from service.domain.verdict import Launches, Outcome, Terms, foremost, judge, judge_samples
from service.stats.change import LAUNCH_LUCK_UNSEEN
from service.stats.interval import Interval
from tests.shared_data import shared

TTFT = METRICS["ttft_p50"]
TPOT = METRICS["tpot_p50"]
THROUGHPUT = METRICS["output_throughput"]


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        pytest.param(0.01, 0.09, Outcome.REGRESSED, id="above zero, center beyond tolerance"),
        pytest.param(-0.02, 0.02, Outcome.UNCHANGED, id="wholly inside"),
        pytest.param(-0.09, -0.01, Outcome.IMPROVED, id="below zero, center beyond tolerance"),
        pytest.param(-0.01, 0.08, Outcome.INCONCLUSIVE, id="center beyond tolerance, zero inside"),
        pytest.param(-0.08, 0.01, Outcome.INCONCLUSIVE, id="center below tolerance, zero inside"),
        pytest.param(0.005, 0.04, Outcome.INCONCLUSIVE, id="above zero, center within tolerance"),
        pytest.param(-0.03, 0.03, Outcome.UNCHANGED, id="touches both bounds"),
        pytest.param(0.0, 0.08, Outcome.INCONCLUSIVE, id="touches zero, center beyond tolerance"),
        pytest.param(0.01, 0.05, Outcome.REGRESSED, id="center at the tolerance"),
        pytest.param(
            0.01, 0.02, Outcome.UNCHANGED, id="surely worse, surely by less than accepted"
        ),
        pytest.param(-0.5, 0.5, Outcome.INCONCLUSIVE, id="not significant is not unchanged"),
    ],
)
def test_where_interval_and_center_lie_decides(low: float, high: float, outcome: Outcome) -> None:
    change = Interval(low, (low + high) / 2, high)

    assert judge(TTFT, change, tolerance=0.03).outcome is outcome


def test_a_fall_in_throughput_is_a_worsening() -> None:
    verdict = judge(THROUGHPUT, Interval(-0.09, -0.07, -0.04), tolerance=0.03)

    assert verdict.outcome is Outcome.REGRESSED
    assert verdict.worsening == Interval(0.04, 0.07, 0.09)


def test_a_rise_in_throughput_is_an_improvement() -> None:
    assert judge(THROUGHPUT, Interval(0.04, 0.07, 0.09), tolerance=0.03).outcome is Outcome.IMPROVED


@given(st.floats(-0.9, 2), st.floats(-0.9, 2), st.floats(-0.9, 2), st.floats(0.001, 0.9))
def test_the_rule_always_says_one_of_its_four_words(
    first: float, second: float, third: float, tolerance: float
) -> None:
    low, center, high = sorted((first, second, third))

    verdict = judge(TTFT, Interval(low, center, high), tolerance=tolerance)

    assert verdict.outcome in {
        Outcome.IMPROVED,
        Outcome.UNCHANGED,
        Outcome.REGRESSED,
        Outcome.INCONCLUSIVE,
    }


def test_samples_are_judged_by_launch_with_what_could_have_been_seen() -> None:
    verdict = judge_samples(
        TPOT, [[1.0, 1.01], [1.0, 1.0, 1.0]], [[1.2, 1.21], [1.2, 1.2, 1.2]], tolerance=0.03
    )

    assert verdict.outcome is Outcome.REGRESSED
    assert verdict.smallest_detectable is not None
    assert 0.03 < verdict.smallest_detectable < 0.06
    assert verdict.baseline == pytest.approx(1.0025, abs=1e-4)
    assert verdict.candidate == pytest.approx(1.2025, abs=1e-4)


@pytest.mark.parametrize(
    ("baseline", "candidate", "outcome"),
    [
        pytest.param([[1.0] * 4], [[1.0] * 5], Outcome.INSUFFICIENT_BASELINE, id="four repeats"),
        pytest.param(
            [[1.0, 1.1], [1.0, 1.1]], [[1.0] * 5], Outcome.INSUFFICIENT_BASELINE, id="2+2"
        ),
        pytest.param([], [[1.0] * 5], Outcome.INSUFFICIENT_BASELINE, id="no baseline"),
        pytest.param([[1.0] * 5], [], Outcome.MISSING, id="no candidate"),
        pytest.param([[1.0] * 5], [[], []], Outcome.MISSING, id="launches without a value"),
        pytest.param([[1.0] * 5], [[1.0, 0.0]], Outcome.INVALID, id="a value of zero"),
    ],
)
def test_what_has_no_interval_has_its_own_word(
    baseline: Launches, candidate: Launches, outcome: Outcome
) -> None:
    verdict = judge_samples(TTFT, baseline, candidate, tolerance=0.1)

    assert verdict.outcome is outcome
    assert verdict.worsening is None
    assert verdict.smallest_detectable is None
    assert verdict.reason


def test_a_plan_may_ask_for_fewer_repeats() -> None:
    verdict = judge_samples(
        TTFT,
        [[1.0, 1.01], [1.0, 1.01]],
        [[1.0, 1.01], [1.01, 1.0]],
        tolerance=0.1,
        terms=Terms(min_repeats=4),
    )

    assert verdict.outcome is Outcome.UNCHANGED


def test_one_value_a_side_is_an_insufficient_baseline_even_where_a_plan_asks_for_one() -> None:
    verdict = judge_samples(TTFT, [[1.0]], [[1.5]], tolerance=0.1, terms=Terms(min_repeats=1))

    assert verdict.outcome is Outcome.INSUFFICIENT_BASELINE


def test_a_verdict_from_one_launch_a_side_carries_the_warning() -> None:
    verdict = judge_samples(TTFT, [[1.0, 1.1, 1.0, 1.1, 1.0]], [[1.0, 1.1]], tolerance=0.1)

    assert verdict.warnings == (LAUNCH_LUCK_UNSEEN,)


@pytest.mark.parametrize(
    ("outcomes", "first"),
    [
        pytest.param([Outcome.UNCHANGED, Outcome.IMPROVED], Outcome.IMPROVED, id="good news"),
        pytest.param([Outcome.UNCHANGED, Outcome.INCONCLUSIVE], Outcome.INCONCLUSIVE, id="unsure"),
        pytest.param(
            [Outcome.NOT_COMPARABLE, Outcome.INVALID], Outcome.INVALID, id="invalid first"
        ),
        pytest.param([Outcome.INVALID, Outcome.REGRESSED], Outcome.REGRESSED, id="regressed first"),
        pytest.param([], Outcome.MISSING, id="nothing at all"),
    ],
)
def test_the_foremost_of_many_speaks_for_them(outcomes: list[Outcome], first: Outcome) -> None:
    assert foremost(outcomes) is first


@pytest.mark.parametrize(("name", "column"), [("output_throughput", 1), ("ttft_p50", 2)])
def test_real_launches_of_one_stack_are_hardly_ever_told_apart(name: str, column: int) -> None:
    text = shared("sglang-cpu/latin_launches.json").read_text()
    launches = [[repeat[column] for repeat in repeats] for _, repeats in json.loads(text)]
    pairs = [
        (left, right)
        for left in combinations(range(len(launches)), 2)
        for right in combinations(range(len(launches)), 2)
        if not set(left) & set(right)
    ]

    verdicts = [
        judge_samples(
            METRICS[name],
            [launches[index] for index in left],
            [launches[index] for index in right],
            tolerance=0.0001,
        ).outcome
        for left, right in pairs
    ]

    alarms = verdicts.count(Outcome.REGRESSED) + verdicts.count(Outcome.IMPROVED)
    assert alarms / len(pairs) <= 0.05
