"""The scan: equal to a slow one, blind to the future, and of constant cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.stats import screen as scan
from service.stats.detectable import smallest_detectable
from service.stats.discoveries import discoveries
from service.stats.refine import change_index
from service.stats.seeds import SeedEffects, paired

LEAST = 0.0075


@dataclass(frozen=True)
class Level:
    center: float
    scale: float
    narrow: float
    wide: float
    correlation: float
    count: int


def held(value: float, most: float) -> float:
    return max(-most, min(most, value))


def level(stretch: Sequence[float]) -> Level:
    """Describe a stretch of history as docs/comparison.md does, one value at a time."""
    middle = median(stretch)
    spread = 1.4826 * median(abs(value - middle) for value in stretch)
    steps = 1.4826 * median(abs(b - a) for a, b in pairwise(stretch)) / math.sqrt(2)
    scale = max(spread, steps, 0.0015)
    weights = [1 / max(1, abs(value - middle) / (1.5 * scale)) for value in stretch]
    center = sum(w * v for w, v in zip(weights, stretch, strict=True)) / sum(weights)
    narrow = [held((value - center) / scale, 1.75) for value in stretch]
    wide = [held((value - center) / scale, 4.0) for value in stretch]
    squares = sum(z * z for z in narrow)
    count = len(stretch)
    correlation = sum(a * b for a, b in pairwise(narrow)) / squares if squares else 0.0
    return Level(
        center,
        scale,
        math.sqrt((squares + 25 * 0.9) / (count + 25)),
        math.sqrt((sum(z * z for z in wide) + 25) / (count + 25)),
        held(max(correlation * count / (count + 30), 0), 0.7),
        count,
    )


def evidence(before: Sequence[float], since: Sequence[float]) -> float:
    """Return the evidence that the values since lie at another level than those before."""
    known = level(before)
    k, r = len(since), known.correlation
    variance = k * (1 + 2 * r * (1 - 1 / k)) + 1.1 * k * k / known.count * (1 + 2 * r)
    error = math.sqrt(variance) * (1 + 2 / known.count)
    residuals = [(value - known.center) / known.scale for value in since]
    close = sum(held(q, 1.75) for q in residuals) / (known.narrow * error)
    far = sum(held(q, 4.0) for q in residuals) / (known.wide * error) / 1.4
    return max(close, far, key=abs)


def slow_steps(values: Sequence[float], threshold: float) -> list[tuple[int, int, bool]]:
    """Return (seen, change, rose) of every alarm, from the whole history each time."""
    found = []
    start = 0
    for now in range(1, len(values) + 1):
        scored = []
        for k in range(2, 21):
            cut = now - k
            taken = cut if cut - start < 20 else cut - (cut - start) % 4
            before, since = (
                values[max(start, taken - 80) : max(taken, 0)],
                values[max(cut, 0) : now],
            )
            if cut - start >= 8:
                scored.append((evidence(before, since), k, level(before)))
        for score, k, known in sorted(scored, key=lambda each: (-abs(each[0]), each[1])):
            if abs(score) < threshold:
                break
            rise = [math.copysign(1, score) * (v - known.center) for v in values[now - k : now]]
            if median(rise) < LEAST or sum(r > 0 for r in rise) < 0.7 * k:
                continue
            first = max(start, now - 103)
            change = first + change_index(
                np.array(values[first:now]), known.scale, latest=scan.LATEST
            )
            shift = median(values[change:now]) - median(values[first:change])
            if shift * math.copysign(1, score) >= LEAST:
                found.append((now, change, shift > 0))
                start = change
            break
    return found


def fast_steps(values: Sequence[float], threshold: float) -> list[tuple[int, int, bool]]:
    state, found = scan.begin(1), []
    for now, value in enumerate(values, 1):
        state, steps = one_more(state, [value], threshold)
        found += [(now, now - step.runs, step.shift > 0) for step in steps]
    return found


def one_more(
    state: scan.Screen, values: Sequence[float], threshold: float
) -> tuple[scan.Screen, list[scan.Step]]:
    state = scan.advance(state, np.array(values))
    evidence_now = scan.evidence_of(state)
    steps = scan.steps_of(state, evidence_now, threshold=threshold, least=[LEAST] * state.count)
    return scan.restarted(state, steps), steps


def history(seed: int, *, runs: int, sigma: float, shift: float = 0.0, at: int = 0) -> list[float]:
    random = np.random.default_rng(seed)
    values = random.standard_t(3, runs) * sigma
    values[at:] += shift
    return [float(value) for value in values]


@pytest.mark.parametrize("seed", range(6))
def test_the_fast_scan_says_what_the_slow_one_says(seed: int) -> None:
    values = history(seed, runs=70, sigma=0.01, shift=(-1) ** seed * 0.03, at=40)
    values += history(seed + 50, runs=60, sigma=0.02, shift=0.05, at=30)

    assert fast_steps(values, 3.0) == slow_steps(values, 3.0)


def test_evidence_is_the_slow_ones_for_every_possible_change() -> None:
    values = history(3, runs=120, sigma=0.01)
    state = scan.begin(1)
    for value in values:
        state = scan.advance(state, np.array([value]))

    fast = scan.evidence_of(state)[0]

    slow = [
        evidence(values[120 - k - (120 - k) % 4 - 80 : 120 - k - (120 - k) % 4], values[120 - k :])
        for k in range(2, 21)
    ]
    assert fast[1:] == pytest.approx(slow, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(factor=st.floats(1e-6, 1e6), seed=st.integers(0, 2**32))
def test_the_unit_of_the_values_does_not_matter(factor: float, seed: int) -> None:
    values = history(seed, runs=60, sigma=0.01, shift=0.04, at=35)
    scaled = [value + math.log(factor) for value in values]

    assert fast_steps(scaled, 3.5) == fast_steps(values, 3.5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.integers(10, 69))
def test_what_was_said_is_not_changed_by_what_comes_later(seed: int, cut: int) -> None:
    values = history(seed, runs=70, sigma=0.01, shift=0.03, at=40)

    early = fast_steps(values[:cut], 3.0)

    assert early == [step for step in fast_steps(values, 3.0) if step[0] <= cut]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_rise_mirrored_is_a_fall(seed: int) -> None:
    values = history(seed, runs=60, sigma=0.01, shift=0.03, at=40)

    mirrored = fast_steps([-value for value in values], 3.0)

    assert mirrored == [(seen, change, not rose) for seen, change, rose in fast_steps(values, 3.0)]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_evidence_does_not_hang_on_the_order_of_the_newest_runs(seed: int) -> None:
    values = history(seed, runs=60, sigma=0.01)
    newest = values[-20:]
    np.random.default_rng(seed).shuffle(newest)
    states = []
    for runs in (values, values[:-20] + newest):
        state = scan.begin(1)
        for value in runs:
            state = scan.advance(state, np.array([value]))
        states.append(scan.evidence_of(state)[0, -1])

    assert states[0] == pytest.approx(states[1])


def test_series_watched_together_are_scanned_as_if_alone() -> None:
    many = [history(seed, runs=60, sigma=0.01, shift=0.03 * seed, at=40) for seed in range(5)]
    state, found = scan.begin(5), []
    for now in range(60):
        state, steps = one_more(state, [values[now] for values in many], 3.5)
        found += [(step.series, now + 1, now + 1 - step.runs) for step in steps]

    alone = [
        (series, seen, change)
        for series, values in enumerate(many)
        for seen, change, _ in fast_steps(values, 3.5)
    ]
    assert sorted(found) == sorted(alone)


def test_a_series_without_a_value_stays_as_it_was() -> None:
    state = scan.begin(2)
    for value in history(1, runs=30, sigma=0.01):
        state = scan.advance(state, np.array([value, value]))

    after = scan.advance(state, np.array([math.nan, 0.0]))

    assert np.array_equal(after.recent[0], state.recent[0])
    assert not np.array_equal(after.recent[1], state.recent[1])


def test_one_wild_run_never_alarms() -> None:
    values = history(1, runs=50, sigma=0.01)

    assert fast_steps([*values, 5.0], scan.ALONE) == fast_steps(values, scan.ALONE)


def test_two_hosts_in_turn_are_noise_and_no_change() -> None:
    random = np.random.default_rng(5)
    values = [0.05 * (run % 2) + 0.005 * random.standard_normal() for run in range(120)]

    assert fast_steps(values, scan.ALONE) == []


@pytest.mark.parametrize(
    ("shift", "runs_to_see"),
    [pytest.param(0.10, 2, id="10 sigma in two runs"), pytest.param(0.03, 6, id="3 sigma in six")],
)
def test_large_steps_are_seen_soon(shift: float, runs_to_see: int) -> None:
    random = np.random.default_rng(7)
    values = random.standard_normal(80) * 0.01
    values[60:] += shift

    seen, change, rose = fast_steps(values.tolist(), scan.ALONE)[0]

    assert change == 60
    assert seen <= 60 + runs_to_see
    assert rose


def test_what_is_remembered_does_not_grow_with_history() -> None:
    state = scan.begin(3)
    sizes = set()
    for run in range(250):
        state = scan.advance(state, np.full(3, run % 7 * 0.01))
        sizes.add(sum(part.nbytes for part in (state.recent, state.age, state.levels, state.sums)))

    assert len(sizes) == 1


def test_a_screen_is_restored_from_its_values_and_ages_alone() -> None:
    state = scan.begin(2)
    for run in range(150):
        values = [history(7, runs=150, sigma=0.01)[run], 0.05 * (run > 90) + 0.001 * (run % 5)]
        state, _ = one_more(state, values, scan.ALONE)

    again = scan.restored(state.recent, state.age)

    assert np.array_equal(again.sums, state.sums, equal_nan=True)
    assert scan.evidence_of(again) == pytest.approx(scan.evidence_of(state), nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), runs=st.integers(10, 120), threshold=st.floats(0.5, 5))
def test_evidence_out_of_reach_is_never_there(seed: int, runs: int, threshold: float) -> None:
    state = scan.begin(1)
    for value in history(seed, runs=runs, sigma=0.01, shift=0.02, at=runs - 5):
        state = scan.advance(state, np.array([value]))
        strongest = np.nan_to_num(np.abs(scan.evidence_of(state))).max()

        assert strongest < threshold or scan.within_reach(state, threshold=threshold)
        assert strongest == 0 or scan.within_reach(state, threshold=strongest)


def test_most_quiet_runs_are_out_of_reach() -> None:
    values = np.random.default_rng(5).standard_normal(150) * 0.01
    state, near = scan.begin(1), 0
    for value in values:
        state = scan.advance(state, np.array([value]))
        near += scan.within_reach(state, threshold=scan.ALONE)

    assert near <= 5


def test_the_threshold_grows_with_the_series_screened_together() -> None:
    assert scan.threshold_for(1) == scan.ALONE
    assert scan.threshold_for(24) ** 2 == pytest.approx(scan.ALONE**2 + 2 * math.log(24))


def test_the_smallest_detectable_effect_is_seen_four_times_in_five() -> None:
    random = np.random.default_rng(11)
    seen = 0
    for _ in range(100):
        values = random.standard_normal(80) * 0.01
        state = scan.begin(1)
        for value in values:
            state = scan.advance(state, np.array([value]))
        smallest = smallest_detectable(state.levels[:, :, 0], threshold=scan.ALONE)[0]
        later = values.tolist() + (random.standard_normal(20) * 0.01 + np.log1p(smallest)).tolist()
        seen += any(step[0] > 80 and step[2] for step in fast_steps(later, scan.ALONE))

    assert 72 <= seen <= 98


def test_nothing_is_detectable_before_there_is_a_baseline() -> None:
    assert smallest_detectable(scan.begin(2).levels[:, :, 0], threshold=4.0).tolist() == [
        math.inf,
        math.inf,
    ]


def test_false_discoveries_are_held_to_their_share() -> None:
    random = np.random.default_rng(2)
    shares = []
    for _ in range(300):
        strong = random.standard_normal(40)
        strong[:10] += 4
        listed = discoveries(strong, false_share=0.1)
        shares.append(listed[10:].sum() / max(listed.sum(), 1))

    assert fmean(shares) < 0.1


def test_seeds_that_come_and_go_do_not_move_a_run() -> None:
    effects, known = {"1": 0.0, "2": 0.3, "3": -0.4}, SeedEffects()
    values = []
    for run in range(12):
        seeds = ("1", "2", "3") if run % 2 else ("1", "2")
        value, known = paired(known, {seed: 5 + effects[seed] for seed in seeds})
        values.append(value)

    assert max(values[1:]) - min(values[1:]) < 0.001


def test_the_comparison_page_works_its_example_as_the_code_does() -> None:
    page = (Path(__file__).parents[2] / "docs/comparison.md").read_text(encoding="utf-8")
    example = page.split("A worked example, TPOT in ms:")[1].split("```")[1]
    before, rest = example.split("24 runs")[1].split("then")
    values = [float(word) for word in (*before.split(), *rest.splitlines()[0].split())]
    state, evidence_then, steps = scan.begin(1), [], []
    for value in values:
        state = scan.advance(state, np.array([math.log(value)]))
        evidence_then.append(scan.evidence_of(state)[0])
        steps += scan.steps_of(state, evidence_then[-1][None], threshold=scan.ALONE, least=[LEAST])

    assert len(steps) == 1
    assert f"= {evidence_then[-1][4]:.2f}, at least {scan.ALONE}" in example
    assert f"evidence(4) = {evidence_then[-2][3]:.2f}" in example
    assert f"center {math.exp(state.levels[0, 0, 4]):.3f}" in example
    assert f"scale {100 * state.levels[1, 0, 4]:.3f} %, √v {state.levels[2, 0, 4]:.3f}" in example
    assert values[-steps[0].runs] == 10.22
    assert f"shift {math.expm1(steps[0].shift):+.1%}" == "shift +1.8%"
