"""The test at a known change: one row is enough where many series move, and one bad run is not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from service.domain.metric import Better
from service.domain.screen import AT_KNOWN_CHANGE, Watched, least_of, look, watch
from service.stats import pool as rows_of
from service.stats.known_change import FEWEST_ROWS, Newest, moved_with, newest_of
from service.stats.levels import Floats

COUNT, ROWS = 60, 40
SPREAD = 0.02


def noise(seed: int, rows: int, *, shared: float = 0.0) -> Floats:
    """Draw rows of logarithms; shared: the luck that all series of a row have in common."""
    random = np.random.default_rng(seed)
    luck = random.standard_normal((rows, 1)) * shared
    return luck + random.standard_normal((rows, COUNT)) * SPREAD


def seen(rows: Floats, *, change: int | None = None, earlier: Sequence[int] = ()) -> Newest | None:
    """Return what the newest of some rows shows.

    change: rows since the last known change; earlier: since those before it.
    """
    empty = rows_of.begin(np.ones((1, COUNT), dtype=bool))
    recent = np.hstack((empty.recent[:, len(rows) :], rows.T))
    pool = replace(empty, recent=recent, age=change or len(rows))
    return newest_of(pool, rows=len(rows), changes=earlier)


def found(newest: Newest | None) -> float:
    assert newest is not None
    return float(newest.groups[0])


def test_a_shift_of_a_third_of_the_series_is_seen_in_its_first_row() -> None:
    rows = noise(1, ROWS)
    rows[-1, ::3] += 3 * SPREAD

    newest = seen(rows)

    assert newest is not None
    assert found(newest) > 4
    members = np.ones(COUNT, dtype=bool)
    listed = moved_with(newest, members, sign=1, false_share=0.3)
    assert listed[::3].sum() > 0.7 * listed.sum()
    assert not moved_with(newest, members, sign=-1, false_share=0.05)[::3].any()


def test_rows_alike_reach_its_threshold_about_as_seldom_as_the_normal_tail_says() -> None:
    deviates = [abs(found(seen(noise(seed, ROWS)))) for seed in range(300)]

    assert np.mean(np.array(deviates) > 1.96) == pytest.approx(0.05, abs=0.04)
    assert max(deviates) < 4.5


def test_luck_that_all_series_of_a_row_share_is_no_change() -> None:
    deviates = [abs(found(seen(noise(seed, ROWS, shared=SPREAD)))) for seed in range(100)]

    assert max(deviates) < 4


def test_a_few_bad_runs_in_a_row_are_no_change() -> None:
    rows = noise(3, ROWS)
    rows[-1, :2] += 0.5

    assert abs(found(seen(rows))) < 3


def test_right_after_a_change_the_next_one_is_seen() -> None:
    rows = noise(4, ROWS)
    rows[-2:] += 5 * SPREAD

    assert abs(found(seen(rows, change=2))) < 3
    rows[-1, ::3] += 5 * SPREAD
    assert found(seen(rows, change=2)) > AT_KNOWN_CHANGE


def test_after_several_changes_the_next_one_is_seen_and_noise_is_not() -> None:
    rows = noise(6, ROWS)
    rows[-12:] += 5 * SPREAD
    rows[-4:] += 5 * SPREAD

    assert abs(found(seen(rows, change=4, earlier=[4, 12]))) < 3
    rows[-1, ::3] += 3 * SPREAD
    assert found(seen(rows, change=4, earlier=[4, 12])) > AT_KNOWN_CHANGE
    assert found(seen(rows, change=4)) < AT_KNOWN_CHANGE


def test_rows_of_many_levels_reach_its_threshold_no_more_often() -> None:
    deviates = [
        abs(found(seen(noise(seed, ROWS), change=3, earlier=[3, 4, 9, 15, 22])))
        for seed in range(300)
    ]

    assert np.mean(np.array(deviates) > 1.96) < 0.09
    assert max(deviates) < 4.5


def test_too_few_rows_say_nothing() -> None:
    assert seen(noise(5, FEWEST_ROWS)) is None
    assert seen(noise(5, FEWEST_ROWS + 1)) is not None


@pytest.mark.parametrize(
    ("changed", "events"),
    [
        pytest.param(True, 1, id="of another stack"),
        pytest.param(False, 0, id="of the same stack"),
    ],
)
def test_the_screen_sees_a_change_the_night_it_comes_where_the_stack_is_another(
    changed: bool, events: int
) -> None:
    metric = "tpot_p50"
    state = watch(
        Watched(str(place), metric, Better.LOWER, least_of(metric)) for place in range(COUNT)
    )
    rows = noise(6, ROWS)
    rows[-1, ::3] += 5 * SPREAD
    for row in rows[:-1]:
        state, _ = look(state, np.exp(row).tolist())

    _, new = look(state, np.exp(rows[-1]).tolist(), changed=changed)

    assert len(new) == events
    assert all(event.worse and event.change_run == ROWS - 1 for event in new)
    assert all(len(event.moved) >= COUNT // 4 for event in new)


def test_series_of_a_regime_that_stayed_are_not_listed_for_a_bad_run() -> None:
    metrics = ("tpot_p50", "ttft_p50")
    state = watch(
        Watched(f"{metrics[place % 2]} {place}", metrics[place % 2], Better.LOWER, 0.01)
        for place in range(COUNT)
    )
    rows = noise(8, ROWS)
    rows[-1, ::2] += 5 * SPREAD
    rows[-1, 1:6:2] += 0.4
    for row in rows[:-1]:
        state, _ = look(state, np.exp(row).tolist())

    _, (event,) = look(state, np.exp(rows[-1]).tolist(), changed=True)

    assert event.trigger == "decode"
    assert {each.series.split()[0] for each in event.moved} == {"tpot_p50"}
