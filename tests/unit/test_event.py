"""One event for one cause: pooled, listed, merged, and named after its host where it is one."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.event import Event, host_of, joined
from service.domain.metric import Better
from service.domain.regime import Regime, regime_of
from service.domain.screen import (
    ValuesError,
    Watch,
    Watched,
    least_of,
    look,
    smallest_effects,
    watch,
)

RUNS = 60
CHANGE = 40


def cells(count: int, *, metric: str = "tpot_p50", hosts: int = 0) -> list[Watched]:
    return [
        Watched(
            f"cell {number}",
            metric,
            Better.LOWER,
            least_of(metric),
            f"host {number % hosts}" if hosts else None,
        )
        for number in range(count)
    ]


def seen(
    series: Sequence[Watched],
    worsening: Callable[[int, int], float],
    *,
    sigma: float = 0.01,
    shared: float = 0.0,
    seed: int = 0,
    runs: int = RUNS,
) -> tuple[Watch, list[Event]]:
    """Return the events of runs in which all series share some luck, and some of them worsen.

    worsening: by series and run, of the logarithm.
    """
    random = np.random.default_rng(seed)
    state = watch(series)
    found: list[Event] = []
    for run in range(runs):
        luck = random.standard_normal() * shared
        logs = random.standard_normal(len(series)) * sigma + luck
        values = [
            math.exp(float(logs[row]) + each.sign * worsening(row, run))
            for row, each in enumerate(series)
        ]
        state, events = look(state, values)
        found += events
    return state, found


def from_the_change(size: float, rows: int) -> Callable[[int, int], float]:
    return lambda row, run: size if run >= CHANGE and row < rows else 0.0


def test_a_change_of_all_cells_is_one_event_that_lists_them() -> None:
    _, events = seen(cells(24), from_the_change(0.05, 24))

    assert len(events) == 1
    assert events[0].worse
    assert abs(events[0].change_run - CHANGE) <= 1
    assert len(events[0].moved) >= 22


def test_a_change_of_one_cell_names_that_cell_alone() -> None:
    _, events = seen(cells(24), from_the_change(0.06, 1))

    assert [each.series for event in events for each in event.moved] == ["cell 0"]
    assert events[0].moved[0].change == pytest.approx(0.06, abs=0.015)


def test_a_fall_in_throughput_is_for_the_worse() -> None:
    series = [Watched("c", "output_throughput", Better.HIGHER, 0.0075)]

    _, events = seen(series, from_the_change(0.05, 1))

    assert events[0].worse
    assert events[0].moved[0].change < 0


def test_the_sum_of_many_noisy_cells_sees_what_none_of_them_can() -> None:
    _, events = seen(cells(24), from_the_change(0.05, 24), sigma=0.05, seed=3)

    assert [(event.worse, event.trigger) for event in events] == [(True, "all")]


def test_luck_that_cells_of_a_launch_share_is_no_event() -> None:
    nights = [seen(cells(24), lambda _row, _run: 0.0, shared=0.02, seed=seed) for seed in range(8)]

    assert [event for _, events in nights for event in events] == []


def test_a_shift_of_every_series_of_one_host_is_the_host() -> None:
    _, events = seen(
        cells(12, hosts=3), lambda row, run: 0.08 if run >= CHANGE and row % 3 == 1 else 0.0
    )

    assert [event.host for event in events] == ["host 1"]


def test_a_shift_of_every_host_is_none_of_them() -> None:
    _, events = seen(cells(12, hosts=3), from_the_change(0.08, 12))

    assert [event.host for event in events] == [None]


def test_cells_that_were_not_measured_are_presumed() -> None:
    state = watch(cells(4))
    found: list[Event] = []
    random = np.random.default_rng(1)
    for run in range(RUNS):
        size = 0.1 if run >= CHANGE else 0.0
        values: list[float | None] = [
            math.exp(size + 0.01 * float(noise)) for noise in random.standard_normal(4)
        ]
        values[3] = None if run >= CHANGE else values[3]
        state, events = look(state, values)
        found += events

    assert [event.presumed for event in found] == [("cell 3",)]
    assert "cell 3" not in {each.series for each in found[0].moved}


def test_what_is_seen_again_nearby_is_no_new_event() -> None:
    known = Event(40, 44, worse=True, trigger="a", moved=())

    assert joined([known], Event(44, 50, worse=True, trigger="b", moved=())) is known
    assert joined([known], Event(46, 50, worse=True, trigger="b", moved=())) is None
    assert joined([known], Event(41, 50, worse=False, trigger="b", moved=())) is None


@pytest.mark.parametrize(
    ("moved", "host"),
    [
        pytest.param({"a1", "a2", "a3"}, "a", id="all of one host and none elsewhere"),
        pytest.param({"a1", "a2"}, None, id="a part of one host"),
        pytest.param({"a1", "a2", "a3", "b1"}, None, id="one of another host too"),
        pytest.param(set(), None, id="none"),
    ],
)
def test_a_host_is_named_when_it_moved_and_no_other(moved: set[str], host: str | None) -> None:
    hosts = {name: name[0] for name in ("a1", "a2", "a3", "b1", "b2", "b3")}

    assert host_of(moved, hosts) == host


def test_with_one_host_in_all_nothing_can_be_said_of_it() -> None:
    assert host_of({"a1", "a2", "a3"}, {"a1": "a", "a2": "a", "a3": "a"}) is None


def test_events_far_back_are_forgotten() -> None:
    state, events = seen(cells(3), from_the_change(0.1, 3), runs=150)

    assert len(events) >= 1
    assert len(state.events) <= len(events)
    assert all(state.runs - event.seen <= RUNS + CHANGE + 20 for event in state.events)


def test_the_smallest_effect_of_a_quiet_series_is_the_smallest_that_matters() -> None:
    state, _ = seen(cells(1), lambda _row, _run: 0.0, sigma=0.0001)

    assert smallest_effects(state) == (least_of("tpot_p50"),)


@pytest.mark.parametrize(
    ("metric", "regime"),
    [
        pytest.param("ttft_p50", Regime.PREFILL, id="time to first token"),
        pytest.param("TPOT", Regime.DECODE, id="time per token"),
        pytest.param("output_throughput", Regime.DECODE, id="throughput"),
        pytest.param("kv_capacity", Regime.CAPACITY, id="capacity"),
        pytest.param("rainfall", Regime.OTHER, id="something else"),
    ],
)
def test_each_metric_speaks_of_one_regime(metric: str, regime: Regime) -> None:
    assert regime_of(metric) is regime


def test_a_run_of_too_few_values_is_refused() -> None:
    with pytest.raises(ValuesError, match="2 in all, and this has 1"):
        look(watch(cells(2)), [1.0])


@settings(max_examples=20, deadline=None)
@given(
    nights=st.lists(
        st.lists(st.none() | st.floats(1e-9, 1e9), min_size=5, max_size=5), min_size=30, max_size=60
    )
)
def test_whatever_is_measured_or_missing_has_an_answer(
    nights: list[list[float | None]],
) -> None:
    state = watch(cells(5, hosts=2))
    for values in nights:
        state, events = look(state, values)
        measured = {f"cell {row}" for row, value in enumerate(values) if value is not None}

        assert all({each.series for each in event.moved} <= measured for event in events)


def test_a_matrix_without_cells_sees_nothing() -> None:
    assert look(watch(()), [])[1] == ()
