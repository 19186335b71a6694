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
    settled,
    word_of,
)
from service.domain.metric import METRICS, Metric
from service.domain.verdict import Outcome
from service.stats.variance import Components, Expected

PLENTY = Cost(100, 1e6)
SAME, WORSE, OPEN = Outcome.UNCHANGED, Outcome.REGRESSED, Outcome.INCONCLUSIVE


def suspect(
    name: str,
    *,
    metric: str = "tpot_p50",
    evidence: float = 5.0,
    group: str = "one",
    cost: float = 60.0,
    change: float = 0.1,
) -> Suspect:
    return Suspect(Cell(name, "p"), metric, evidence, group, 100.0, cost, 1, change)


def test_the_cheapest_cells_of_equal_evidence_come_first() -> None:
    found = chosen([suspect("dear", cost=600.0), suspect("cheap", cost=20.0)])

    assert [each.cell.condition_key for each in found] == ["cheap", "dear"]


def test_of_a_regime_a_cell_is_judged_by_the_metric_that_showed_most() -> None:
    weak = suspect("a", metric="output_throughput", evidence=4.0)
    strong = suspect("a", evidence=-8.0)

    assert chosen([weak, strong]) == (strong,)


def test_a_cell_that_shows_far_more_than_is_usual_is_not_the_first_choice() -> None:
    quiet = [suspect(f"c{n}", change=0.06) for n in range(3)]

    found = chosen([suspect("a bad run", evidence=5.5, change=0.5), *quiet])

    assert [each.cell.condition_key for each in found] == ["c0", "c1", "c2", "a bad run"]


def test_each_regime_that_an_event_shows_is_measured_again() -> None:
    decode = [suspect(f"c{n}", evidence=9.0) for n in range(CELLS_MAX + 3)]
    prefill = [suspect(f"c{n}", metric="ttft_p50", evidence=4.0) for n in range(3)]

    found = chosen([*decode, *prefill])

    assert [each.metric for each in found] == ["tpot_p50", "ttft_p50"] * (CELLS_MAX // 2)


@pytest.mark.parametrize(
    "few",
    [
        pytest.param([suspect("a", metric="ttft_p50")], id="one in twenty, as may be by chance"),
        pytest.param(
            [suspect(f"a{n}", metric="ttft_p50", change=0.02) for n in range(9)],
            id="many, and less than their tolerance",
        ),
    ],
)
def test_a_regime_that_hardly_moved_is_not_waited_for(few: Sequence[Suspect]) -> None:
    found = chosen([*few, *(suspect(f"c{n}", evidence=3.0) for n in range(19))])

    assert {each.metric for each in found} == {"tpot_p50"}


def test_where_everything_moved_little_the_regime_of_most_series_is_measured() -> None:
    little = [suspect(f"c{n}", change=0.001) for n in range(3)]

    found = chosen([*little, suspect("x", metric="ttft_p50", change=0.001)])

    assert {each.metric for each in found} == {"tpot_p50"}


def test_a_server_that_shows_both_regimes_is_worth_a_dearer_launch() -> None:
    alone = [suspect(f"c{n}", evidence=9.0, group="one", cost=10.0) for n in range(4)]
    both = [suspect("d", group="two"), suspect("d", metric="ttft_p50", group="two")]

    assert {each.group for each in chosen([*alone, *both])} == {"two"}


def test_a_cell_that_is_judged_by_two_metrics_is_measured_once() -> None:
    one = design([suspect("a")], left=PLENTY, cold_caches=False)
    two = [suspect("a"), suspect("a", metric="ttft_p50")]

    assert design(two, left=PLENTY, cold_caches=False).each == one.each


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


@pytest.mark.parametrize(
    ("decode", "prefill", "is_last", "ends"),
    [
        pytest.param(WORSE, OPEN, False, None, id="the other regime is open"),
        pytest.param(WORSE, OPEN, True, WORSE, id="it stays open"),
        pytest.param(WORSE, SAME, False, WORSE, id="it is unchanged"),
        pytest.param(WORSE, Outcome.IMPROVED, False, WORSE, id="it is better"),
        pytest.param(Outcome.IMPROVED, SAME, False, Outcome.IMPROVED, id="one is better"),
        pytest.param(WORSE, Outcome.BROKEN, False, WORSE, id="it broke"),
        pytest.param(OPEN, Outcome.BROKEN, False, Outcome.BROKEN, id="it broke before anything"),
    ],
)
def test_a_confirm_ends_once_every_regime_is_told(
    decode: Outcome, prefill: Outcome, is_last: bool, ends: Outcome | None
) -> None:
    found = {suspect("a"): decode, suspect("b", metric="ttft_p50"): prefill}

    assert conclusion(found, is_last=is_last) is ends


def test_more_cells_share_one_error() -> None:
    alone = design([suspect("a")], left=PLENTY, cold_caches=False)
    two = design([suspect("a"), suspect("b")], left=PLENTY, cold_caches=False)

    assert (1 - alone.confidence) == pytest.approx(2 * (1 - two.confidence))


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        pytest.param(Outcome.REGRESSED, Outcome.REGRESSED, id="what the rule says stays"),
        pytest.param(Outcome.UNCHANGED, Outcome.UNCHANGED, id="unchanged as well"),
        pytest.param(Outcome.INVALID, Outcome.INCONCLUSIVE, id="what it could not judge is open"),
        pytest.param(Outcome.MISSING, Outcome.INCONCLUSIVE, id="what is missing is open"),
    ],
)
def test_a_confirm_ends_with_a_word_of_the_rule_or_inconclusive(
    outcome: Outcome, word: Outcome
) -> None:
    assert word_of(outcome) is word


def test_costs_add_up_and_never_leave_less_than_nothing() -> None:
    spent = Cost(2, 60.0).plus(Cost(4, 90.0))

    assert spent == Cost(6, 150.0)
    assert Cost(5, 200.0).less(spent) == Cost(0, 50.0)


def launches(*levels: float) -> list[list[float]]:
    return [[level * each for each in (0.998, 1.0, 1.002)] for level in levels]


EVEN = launches(1.0, 1.002, 0.999, 1.001)
TPOT, THROUGHPUT = METRICS["tpot_p50"], METRICS["output_throughput"]


@pytest.mark.parametrize(
    ("metric", "candidate", "outcome", "held"),
    [
        pytest.param(TPOT, (1.1, 1.1, 1.098, 1.102), WORSE, WORSE, id="every launch is slow"),
        pytest.param(TPOT, (1.4, 1.0, 1.001, 0.999), WORSE, OPEN, id="one launch was slow"),
        pytest.param(
            THROUGHPUT, (0.9, 0.9, 0.902, 0.898), WORSE, WORSE, id="a fall of throughput is worse"
        ),
        pytest.param(
            TPOT, (0.9, 0.9, 0.902, 0.898), Outcome.IMPROVED, Outcome.IMPROVED, id="all are faster"
        ),
        pytest.param(TPOT, (1.4, 1.0, 1.001, 0.999), SAME, SAME, id="unchanged stays"),
        pytest.param(
            TPOT, (1.1,), Outcome.INSUFFICIENT_BASELINE, OPEN, id="too few launches ask for more"
        ),
    ],
)
def test_no_single_launch_decides(
    metric: Metric, candidate: Sequence[float], outcome: Outcome, held: Outcome
) -> None:
    assert settled(metric, outcome, EVEN, launches(*candidate)) is held


def test_two_launches_that_history_vouches_for_are_told_without_one_of_them() -> None:
    known = Expected(Components(1e-5, 0.0, 1e-5), 20.0)

    assert settled(TPOT, WORSE, EVEN[:2], launches(1.1, 1.1), expected=known) is WORSE
    assert settled(TPOT, WORSE, EVEN[:2], launches(1.1, 1.1)) is OPEN
