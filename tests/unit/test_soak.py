"""Long loads: the slope of what was measured, and that one odd value makes none."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runners.benchmarks.card_facts import Moment, cards_seen
from runners.devices.device import CardSample
from service.domain.condition import Load
from service.domain.gates import check
from service.domain.host_gates import CREEP_MAX
from service.domain.soak import SOAK_S, growth, relative_growth
from service.domain.validity import Gate, RunFacts
from service.formats.workload_files import Intensity, WorkloadFile
from service.stats.interval import Interval
from service.stats.trend import POINTS_MAX, slope

LOADS = 300
TIMES = [float(at) for at in range(100)]


@given(rise=st.floats(-1e3, 1e3, allow_nan=False), level=st.floats(-1e6, 1e6, allow_nan=False))
def test_a_straight_line_has_its_own_slope(rise: float, level: float) -> None:
    assert slope(TIMES, [level + rise * at for at in TIMES]).center == pytest.approx(rise, abs=1e-6)


def test_a_long_stretch_is_reduced_and_keeps_its_slope() -> None:
    times = [float(at) for at in range(20 * POINTS_MAX + 7)]

    assert slope(times, [0.5 * at for at in times]).center == pytest.approx(0.5)


def test_a_quarter_of_odd_values_changes_no_slope_by_much() -> None:
    values = [10.0 + (90.0 if at % 4 == 0 else 0.01 * at) for at in TIMES]

    assert slope(TIMES, values).center == pytest.approx(0.01, abs=0.005)


def test_values_of_one_moment_have_no_slope() -> None:
    assert slope([3.0, 3.0], [1.0, 2.0]) == Interval(0.0, 0.0, 0.0)


def test_growth_is_over_the_whole_stretch_and_relative_to_the_middle() -> None:
    falling = [100.0 - 0.2 * at for at in TIMES]

    grown, ratio = growth(TIMES, falling), relative_growth(TIMES, falling)
    assert grown is not None
    assert ratio is not None
    assert grown.center == pytest.approx(-19.8)
    assert ratio.center == pytest.approx(-0.22, abs=0.001)


@pytest.mark.parametrize("alike", [0.0, 0.6], ids=["strangers", "neighbours that are alike"])
def test_nineteen_of_twenty_intervals_hold_the_slope(alike: float) -> None:
    held, draw = 0, np.random.default_rng(7)
    for _ in range(LOADS):
        noise = draw.normal(size=len(TIMES))
        for at in range(1, len(TIMES)):
            noise[at] += alike * noise[at - 1]
        found = slope(TIMES, [0.02 * at + each for at, each in zip(TIMES, noise, strict=True)])
        held += found.low <= 0.02 <= found.high

    # Of 300 at 95 %, 285 are expected and 266 are five standard deviations fewer.
    assert held >= LOADS * 0.887


def test_a_card_that_leaks_is_named_with_how_much_an_hour_and_how_long_it_lasts() -> None:
    """Four hours on a scaled clock: a leak of 1.5 GiB an hour under the sawtooth of a heap."""
    gib, every_s = 2**30, 10.0
    leaking = [
        [_at(0, 40 * gib), _at(1, int(40 * gib + 1.5 * gib * at * every_s / 3600 + at % 7 * 2e7))]
        for at in range(int(4 * 3600 / every_s))
    ]
    moments = [Moment(at * every_s, cards, frozenset({7})) for at, cards in enumerate(leaking)]

    seen = cards_seen([0, 1], [_at(0, 0), _at(1, 0)], moments)

    words = seen.evidence[Gate.CARD_MEMORY_CREEPS]
    found = re.match(r"card 1 takes (\d+) MiB more an hour \((\d+) to (\d+)\), and would be", words)
    assert found is not None, words
    center, low, high = map(int, found.groups())
    assert low <= center <= high
    assert center == pytest.approx(1536, rel=0.01)
    assert high - low < 0.1 * center
    assert "full in 33.3 hours" in words
    grown = seen.facts.card_memory_growth
    assert grown is not None
    assert grown.low > CREEP_MAX


def _at(number: int, used: int) -> CardSample:
    return CardSample(number=number, memory_bytes=used, memory_used=used / (96 * 2**30), pids=(7,))


def test_a_load_that_is_to_last_is_driven_for_as_long_as_was_asked() -> None:
    workload = WorkloadFile(
        name="soak", load=Load.OPEN, input_tokens=8, output_tokens=8, rate=2.0, lasts_s=7200.0
    )
    draw = np.random.default_rng(3)

    prompts = workload.traffic(Intensity(rate=2.0), prompts=None, seeds=[1]).prompts

    lasted = draw.exponential(1 / 2.0, size=(LOADS, prompts)).sum(axis=1)
    assert (lasted >= 7200.0).mean() > 0.99
    assert prompts < 1.03 * 2.0 * 7200.0


def test_a_load_that_ends_with_its_prompts_cannot_be_told_how_long_to_last() -> None:
    with pytest.raises(ValidationError, match="over when its prompts are"):
        WorkloadFile(name="soak", load=Load.CLOSED, input_tokens=8, output_tokens=8, lasts_s=9.0)


def test_too_few_values_or_a_middle_of_zero_tell_nothing() -> None:
    assert growth(TIMES[:9], TIMES[:9]) is None
    assert relative_growth([], []) is None
    assert relative_growth(TIMES, [0.0] * 100) is None


@pytest.mark.parametrize(
    ("memory", "throughput", "codes"),
    [
        ((0.04, 0.05, 0.06), (-0.3, -0.2, -0.1), {"card_memory_creeps", "throughput_fades"}),
        ((-0.01, 0.05, 0.11), (-0.4, -0.2, 0.01), set()),
        ((0.004, 0.005, 0.006), (-0.04, -0.03, -0.02), set()),
    ],
    ids=["beyond the bounds", "an interval that holds no change at all", "within the bounds"],
)
def test_a_slope_is_a_finding_where_it_is_large_and_certain(
    memory: tuple[float, ...], throughput: tuple[float, ...], codes: set[str]
) -> None:
    facts = RunFacts(
        duration_s=SOAK_S,
        card_memory_growth=Interval(*memory),
        throughput_growth=Interval(*throughput),
    )

    found = {finding.gate.value for finding in check(facts) if finding.severity == "warning"}
    assert found == codes
