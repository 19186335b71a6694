"""Confirm's pure rules: what is measured again, in which order, for how much, and how it ends."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from service.domain.cell import Cell
from service.domain.confirm import (
    CELLS_MAX,
    Arm,
    Cost,
    OverBudgetError,
    Suspect,
    arms,
    chosen,
    conclusion,
    design,
    due_look,
)
from service.domain.verdict import Outcome

PLENTY = Cost(100, 1e6)
SAME, WORSE, OPEN = Outcome.UNCHANGED, Outcome.REGRESSED, Outcome.INCONCLUSIVE


def suspect(name: str, *, evidence: float = 5.0, group: str = "one", cost: float = 60.0) -> Suspect:
    return Suspect(Cell(name, "p"), "tpot_p50", evidence, group, 100.0, cost, 1)


def test_the_cheapest_cells_of_equal_evidence_come_first() -> None:
    found = chosen([suspect("dear", cost=600.0), suspect("cheap", cost=20.0)])

    assert [each.cell.condition_key for each in found] == ["cheap", "dear"]


def test_a_cell_is_judged_by_the_metric_that_showed_most() -> None:
    weak = Suspect(Cell("a", "p"), "ttft_p50", 4.0, "one", 1.0, 1.0, 1)
    strong = Suspect(Cell("a", "p"), "tpot_p50", -8.0, "one", 1.0, 1.0, 1)

    assert chosen([weak, strong]) == (strong,)


def test_the_cells_of_one_server_are_measured_and_not_too_many() -> None:
    many = [suspect(f"c{n}") for n in range(CELLS_MAX + 3)]

    found = chosen([*many, suspect("other", group="two")])

    assert len(found) == CELLS_MAX
    assert {each.group for each in found} == {"one"}


def test_a_small_budget_costs_looks_before_cells() -> None:
    cells = [suspect("a"), suspect("b")]

    planned = design(cells, left=Cost(8, 1e6), cold_caches=False)

    assert (planned.counts, len(planned.suspects)) == ((2, 4), 2)


def test_loading_weights_is_part_of_the_cost_and_too_little_is_refused() -> None:
    with pytest.raises(OverBudgetError, match="the first look needs 6 launches and 960 card"):
        design([suspect("a")], left=Cost(6, 900.0), cold_caches=True)


def test_launches_are_interleaved_in_blocks_after_the_burn_in() -> None:
    planned = design([suspect("a")], left=PLENTY, cold_caches=True)

    found = arms(planned, random.Random(1).randrange)

    blocks = [found[at : at + 2] for at in range(0, len(found), 2)]
    assert len(found) == planned.cost.launches
    assert all(Counter(block) == Counter(Arm) for block in blocks)
    assert len({*blocks[1:]}) == 2


@pytest.mark.parametrize(
    ("launches", "seen", "due"),
    [
        pytest.param(1, 0, None, id="before the first look"),
        pytest.param(2, 0, 2, id="at the first look"),
        pytest.param(3, 2, None, id="between looks"),
        pytest.param(6, 2, 4, id="a look that was missed comes first"),
        pytest.param(6, 6, None, id="no look is taken twice"),
    ],
)
def test_a_look_is_due_once_it_was_planned(launches: int, seen: int, due: int | None) -> None:
    assert due_look((2, 4, 6), launches, seen=seen) == due


@pytest.mark.parametrize(
    ("outcomes", "is_last", "ends"),
    [
        pytest.param([WORSE, OPEN], False, WORSE, id="one cell is enough"),
        pytest.param([SAME, SAME], False, SAME, id="all cells are unchanged"),
        pytest.param([SAME, OPEN], False, None, id="more launches are to tell"),
        pytest.param([SAME, OPEN], True, OPEN, id="nothing is left to tell"),
        pytest.param([SAME, Outcome.BROKEN], False, Outcome.BROKEN, id="a stack broke"),
    ],
)
def test_a_look_ends_a_confirm_or_asks_for_more(
    outcomes: Sequence[Outcome], is_last: bool, ends: Outcome | None
) -> None:
    found = {suspect(str(at)): outcome for at, outcome in enumerate(outcomes)}

    assert conclusion(found, is_last=is_last) is ends


def test_more_cells_share_one_error() -> None:
    alone = design([suspect("a")], left=PLENTY, cold_caches=False)
    two = design([suspect("a"), suspect("b")], left=PLENTY, cold_caches=False)

    assert (1 - alone.confidence) == pytest.approx(2 * (1 - two.confidence))
