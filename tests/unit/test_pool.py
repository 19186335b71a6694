"""Sums over series of one row: equal to a slow one, and honest about luck that rows share."""

import math
from itertools import pairwise

import numpy as np
import pytest

from service.stats import pool as rows
from service.stats.levels import NARROW, levels_of
from service.stats.screen import ALONE
from tests.unit.test_screen import held, level


def after(values: np.ndarray, groups: list[list[bool]]) -> rows.Pool:
    state = rows.begin(np.array(groups))
    for row in values:
        state = rows.advance(state, row)
    return state


def nights(
    seed: int, *, count: int = 12, runs: int = 70, shared: float = 0.0, sigma: float = 0.01
) -> np.ndarray:
    random = np.random.default_rng(seed)
    own = random.standard_normal((runs, count)) * sigma
    return np.asarray(own + random.standard_normal((runs, 1)) * shared)


def slow_evidence(values: np.ndarray, runs: int) -> float:
    """Return the evidence of the sum of all series that the newest runs lie elsewhere."""
    before, since = values[:-runs][-80:], values[-runs:]
    known = [level(column.tolist()) for column in before.T]
    weights = [1 / max(each.scale, 0.004) for each in known]

    def summed(row: np.ndarray) -> float:
        residuals = [(v - k.center) / k.scale for v, k in zip(row.tolist(), known, strict=True)]
        return sum(w * held(q, 1.75) for w, q in zip(weights, residuals, strict=True))

    sums = [summed(row) for row in before]
    squares = sum(one * one for one in sums)
    apart = sum((w * k.narrow) ** 2 for w, k in zip(weights, known, strict=True))
    alike = sum(w * k.narrow for w, k in zip(weights, known, strict=True)) ** 2
    variance = (squares + 25 * (0.6 * apart + 0.4 * alike)) / (len(sums) + 25)
    correlation = sum(a * b for a, b in pairwise(sums)) / squares * len(sums) / (len(sums) + 30)
    r, n = held(max(correlation, 0), 0.7), len(sums)
    total = runs * (1 + 2 * r * (1 - 1 / runs)) + 1.1 * runs * runs / n * (1 + 2 * r)
    error = math.sqrt(max(variance, apart) * total) * (1 + 2 / n)
    return sum(summed(row) for row in since) / error


@pytest.mark.parametrize("runs", [2, 7, 20])
def test_the_sum_says_what_the_slow_one_says(runs: int) -> None:
    values = nights(1, shared=0.01)

    fast = rows.evidence_of(after(values, [[True] * 12]))[0, runs - 1]

    assert fast == pytest.approx(slow_evidence(values, runs), rel=1e-9)


def test_groups_know_nothing_of_one_another() -> None:
    values = nights(2)
    both = after(values, [[True] * 6 + [False] * 6, [False] * 6 + [True] * 6])

    alone = after(values[:, :6], [[True] * 6])

    assert rows.evidence_of(both)[0] == pytest.approx(rows.evidence_of(alone)[0], nan_ok=True)


def test_luck_that_a_row_shares_is_in_its_spread_and_a_naive_sum_is_wrong_most_of_the_time() -> (
    None
):
    honest, naive = [], []
    for seed in range(150):
        state = after(nights(seed, shared=0.01), [[True] * 12])
        evidence = rows.evidence_of(state)[0, 4]
        described = levels_of(state.recent[:, -75:-5])
        independent = math.sqrt(((state.weights[0, :, 4] * described[NARROW]) ** 2).sum())
        honest.append(evidence)
        naive.append(evidence * state.spreads[0, 0, 4] / independent)

    assert 0.75 < np.std(honest) < 1.15
    assert np.mean(np.abs(naive) > 1.96) > 0.4
    assert np.max(np.abs(honest)) < ALONE


def test_a_series_without_a_value_adds_nothing_to_its_row() -> None:
    values = nights(3)
    state = after(values, [[True] * 12])
    row = values[0].copy()
    row[4:] = math.nan

    missing = rows.advance(state, row)

    centers = missing.levels[0, :, 0]
    assert missing.recent[4:, -1] == pytest.approx(centers[4:])
    assert missing.recent[:4, -1] == pytest.approx(row[:4])


def test_after_a_change_the_rows_before_it_count_no_more() -> None:
    values = nights(4)
    values[50:] += 0.05

    again = rows.restarted(after(values, [[True] * 12]), 20)

    assert np.nanmax(np.abs(rows.evidence_of(again))) < ALONE


def test_before_there_is_a_baseline_there_is_no_evidence() -> None:
    assert np.isnan(rows.evidence_of(after(nights(5, runs=8), [[True] * 12]))[0, 1:]).all()
