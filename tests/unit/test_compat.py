"""What the table says of cells and stacks, and what the advisor and the planner make of it."""

from datetime import UTC, datetime

import pytest

from service.domain.advice import (
    Answer,
    CellEvidence,
    Standing,
    answered,
    distance,
    measuring,
    standing,
)
from service.domain.answer import Quality, Shift
from service.domain.cell import Cell
from service.domain.compat import (
    CellCompat,
    CompatState,
    Seen,
    Served,
    Told,
    Worst,
    state_of,
    together,
    tower,
    turned,
)
from service.domain.compat_match import nearest
from service.domain.coverage import Candidate, proposed
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope
from service.domain.verdict import Outcome
from service.stats.interval import Interval

AT = datetime(2026, 11, 30, tzinfo=UTC)
SERVED = Served("P800", "tiny/tiny")
NOT_USABLE, OK = Seen(0, 0, 2), Seen(3, 0, 0)


@pytest.mark.parametrize(
    ("seen", "outcome", "state"),
    [
        pytest.param(Seen(3, 0, 0), None, CompatState.WORKS, id="nothing to hold it to"),
        pytest.param(OK, Outcome.INCONCLUSIVE, CompatState.WORKS, id="nobody knows yet"),
        pytest.param(OK, Outcome.REGRESSED, CompatState.REGRESSED, id="slower"),
        pytest.param(Seen(3, 1, 0), Outcome.UNCHANGED, CompatState.BROKEN, id="broke once"),
        pytest.param(NOT_USABLE, Outcome.INVALID, CompatState.UNTESTED, id="nothing counts"),
    ],
)
def test_runs_and_a_verdict_say_what_a_cell_is(
    seen: Seen, outcome: Outcome | None, state: CompatState
) -> None:
    assert state_of(seen, outcome) is state


def cell(state: CompatState, **more: object) -> CellCompat:
    return CellCompat(Cell("c", "p"), state, measured_at=AT, **more)  # type: ignore[arg-type]  # fields by name


def worse(by: float) -> Worst:
    return Worst("tpot_p50", Interval(by - 0.01, by, by + 0.01), 0.03)


def test_a_stack_is_as_bad_as_its_worst_cell_and_counts_them_all() -> None:
    cells = [
        cell(CompatState.WORKS, kv_tokens=900, quality=Quality(Shift(0.001, 0.01))),
        cell(CompatState.REGRESSED, worst=worse(0.1), kv_tokens=700),
        cell(
            CompatState.REGRESSED,
            worst=worse(0.3),
            quality=Quality(Shift(0.02, 0.01), Shift(0.03, 0.01), 8),
        ),
    ]

    found = together(SERVED, cells, expected=2)

    assert found.state is CompatState.REGRESSED
    assert found.cells == {
        CompatState.REGRESSED: 2,
        CompatState.WORKS: 1,
        CompatState.UNTESTED: 2,
    }
    assert found.chief.worst == worse(0.3)
    assert found.kv_tokens == 700
    assert found.quality == Quality(Shift(0.02, 0.01), Shift(0.03, 0.01), 8)


def test_the_lowest_broken_layer_speaks_for_a_stack() -> None:
    cells = [
        cell(CompatState.BROKEN, layer=Layer.SERVER),
        cell(CompatState.BROKEN, layer=Layer.COLLECTIVES),
        cell(CompatState.WORKS),
    ]

    assert together(SERVED, cells).chief.layer is Layer.COLLECTIVES


def past(*states: CompatState) -> list[Told]:
    return [Told(f"s{number}", None, state, None) for number, state in enumerate(states)]


@pytest.mark.parametrize(
    ("states", "worked", "broken"),
    [
        pytest.param((CompatState.WORKS, CompatState.BROKEN), "s0", "s1", id="broke"),
        pytest.param(
            (CompatState.WORKS, CompatState.UNTESTED, CompatState.BROKEN), "s0", "s2", id="gap"
        ),
        pytest.param((CompatState.BROKEN, CompatState.REGRESSED), "s1", None, id="mended"),
        pytest.param((CompatState.BROKEN, CompatState.BROKEN), None, "s0", id="never worked"),
        pytest.param((), None, None, id="never tested"),
    ],
)
def test_a_history_says_where_it_turned(
    states: tuple[CompatState, ...], worked: str | None, broken: str | None
) -> None:
    until = turned(past(*states))

    assert (until.last_worked and until.last_worked.stack_name) == worked
    assert (until.first_broken and until.first_broken.stack_name) == broken


STACK = Stack(
    "a",
    (
        Component("driver", "5.0", Layer.DRIVER, SwapScope.HOST),
        Component("xre", "5.37", Layer.RUNTIME, SwapScope.CONTAINER),
        Component("torch", "2.9", Layer.PACKAGES, SwapScope.PROCESS),
        Component("attrs", "25.1", Layer.PACKAGES, SwapScope.PROCESS),
        Component("cpu", "some", Layer.DEVICE, SwapScope.HOST, recorded=True),
    ),
)


def test_the_tower_leaves_out_what_a_lock_brings_and_what_is_recorded() -> None:
    assert tower(STACK) == {"driver": "5.0", "xre": "5.37", "torch": "2.9"}


def test_what_needs_a_reboot_sets_stacks_further_apart() -> None:
    names = tower(STACK)

    assert distance(STACK, {**names, "driver": "4.9"}, names) == 4
    assert distance(STACK, {**names, "torch": "2.8", "xre": "5.19"}, names) == 3
    assert distance(STACK, names, names) == 0


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        pytest.param(CellEvidence(True, True, Outcome.UNCHANGED), Standing.BROKEN, id="broke"),
        pytest.param(CellEvidence(False, False), Standing.MISSING, id="never measured"),
        pytest.param(CellEvidence(True, False, Outcome.REGRESSED), Standing.COSTS, id="slower"),
        pytest.param(
            CellEvidence(True, False, Outcome.UNCHANGED, moved=True),
            Standing.COSTS,
            id="answers moved",
        ),
        pytest.param(
            CellEvidence(True, False, Outcome.UNCHANGED, kv_before=1000, kv_after=900),
            Standing.COSTS,
            id="less room",
        ),
        pytest.param(
            CellEvidence(True, False, Outcome.UNCHANGED, kv_before=1000, kv_after=995),
            Standing.FINE,
            id="room as good as before",
        ),
        pytest.param(CellEvidence(True, False, Outcome.IMPROVED), Standing.FINE, id="faster"),
        pytest.param(CellEvidence(True, False, Outcome.INCONCLUSIVE), Standing.OPEN, id="open"),
    ],
)
def test_a_cell_says_one_thing_of_an_upgrade(evidence: CellEvidence, found: Standing) -> None:
    assert standing(evidence) is found


FINE, COSTS, OPEN, MISSING, BROKEN = (
    Standing.FINE, Standing.COSTS, Standing.OPEN, Standing.MISSING, Standing.BROKEN,
)  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "forbidden", "answer"),
    [
        pytest.param([FINE], False, Answer.YES, id="all fine"),
        pytest.param([FINE, COSTS], False, Answer.COSTS, id="one costs"),
        pytest.param([COSTS, OPEN], False, Answer.COSTS, id="one costs and one is open"),
        pytest.param([FINE, OPEN], False, Answer.UNKNOWN, id="one is open"),
        pytest.param([COSTS, MISSING], False, Answer.UNKNOWN, id="one may break"),
        pytest.param([FINE, BROKEN, MISSING], False, Answer.NO, id="one broke"),
        pytest.param([], False, Answer.UNKNOWN, id="nothing to go by"),
        pytest.param([MISSING], True, Answer.NO, id="forbidden, and never measured"),
        pytest.param([FINE], True, Answer.YES, id="forbidden, and works all the same"),
    ],
)
def test_cells_make_one_answer(cells: list[Standing], forbidden: bool, answer: Answer) -> None:
    assert answered(cells, forbidden=forbidden) is answer


def test_one_command_measures_exactly_the_cells_of_each_plan() -> None:
    plans = {"b" * 64: "demo", "a" * 64: "demo", "c" * 64: "night"}

    assert measuring(plans, stacks=["x", "y"], versions={"xre": "5.37"}) == (
        "kunline run demo --stack x --stack y --with xre=5.37 "
        f"--cell {'a' * 12} --cell {'b' * 12} && "
        f"kunline run night --stack x --stack y --with xre=5.37 --cell {'c' * 12}"
    )
    assert measuring({}, stacks=["x"], versions={}) is None


def test_what_is_installed_is_the_stack_that_differs_least() -> None:
    stacks = [{"xre": "5.19", "torch": "2.9"}, {"xre": "5.37", "torch": "2.9"}, {"other": "1"}]

    exact = nearest({"xre": "5.37", "torch": "2.9", "kernel": "6.1"}, stacks)
    other = nearest({"xre": "5.40", "torch": "2.9"}, stacks)
    blind = nearest({"xre": "unknown(permission)", "torch": "2.9"}, stacks[:1])

    assert exact is not None
    assert (exact.place, exact.is_it, exact.unseen) == (1, True, ())
    assert other is not None
    assert (other.place, str(other.differences[0])) == (0, "xre: 5.19 ≠ 5.40")
    assert blind is not None
    assert (blind.is_it, blind.unseen) == (True, ("xre",))
    assert nearest({"kernel": "6.1"}, stacks) is None


def candidate(name: str, **more: float) -> Candidate:
    told = {"asked": 0, "asked_days": 0.0, "open_cells": 1, "cells": 1, "age_days": 0.0}
    return Candidate(name=name, **{**told, "seconds": 100.0, **more})  # type: ignore[arg-type]  # fields by name


def test_what_is_wanted_open_and_old_comes_first_and_fits_the_budget() -> None:
    wanted = candidate("wanted", asked=5)
    forgotten = candidate("forgotten", asked=5, asked_days=28.0)
    old = candidate("old", open_cells=0, age_days=15.0)
    known = candidate("known", open_cells=0)
    large = candidate("large", asked=50, seconds=900.0)

    chosen = proposed([known, old, forgotten, large, wanted], budget_s=350)

    assert [each.name for each in chosen] == ["wanted", "forgotten", "old"]
