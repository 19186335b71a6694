"""Attribution: a single culprit in few combos, interactions by that name, and no guess beside."""

import math
from collections.abc import Callable
from itertools import combinations

import pytest

from service.domain.attribution import (
    Attribution,
    Cause,
    Combo,
    Level,
    NothingDiffersError,
    Part,
    Search,
    as_logarithm,
    launches_to_tell,
    level,
    most_combos,
    next_of,
    steps_of,
    told_among,
)
from service.domain.constraint import Constraint, Together
from service.domain.metric import METRICS
from service.domain.stack import SwapScope
from service.stats.interval import Interval

Truth = Callable[[Combo], Level]


def parts(count: int) -> tuple[Part, ...]:
    return tuple(Part(f"part-{place}", "1", "2") for place in range(count))


def search_of(count: int, fits: Callable[[Combo], bool] = lambda _: True) -> Search:
    return Search(steps_of(parts(count), ()), fits)


def walked(search: Search, truth: Truth) -> tuple[Attribution, dict[Combo, Level]]:
    """Return what was found, and every combo that was measured for it."""
    seen: dict[Combo, Level] = {}
    while not isinstance(found := next_of(search, seen), Attribution):
        assert found not in seen
        seen[found] = truth(found)
    return found, seen


def needs(*steps: int) -> Truth:
    return lambda combo: Level.BAD if combo >= set(steps) else Level.GOOD


def named(found: Attribution) -> list[str]:
    return [part.name for step in found.steps for part in step.parts]


@pytest.mark.parametrize("count", range(1, 21))
def test_a_single_culprit_is_found_within_the_promised_combos(count: int) -> None:
    walks = [walked(search_of(count), needs(culprit)) for culprit in range(count)]

    assert [found.cause for found, _ in walks] == [Cause.SINGLE] * count
    assert [named(found) for found, _ in walks] == [[f"part-{place}"] for place in range(count)]
    assert max(len(seen) for _, seen in walks) <= most_combos(count)


@pytest.mark.parametrize("count", range(2, 9))
def test_components_that_are_slow_only_together_are_named_as_an_interaction(count: int) -> None:
    pairs = list(combinations(range(count), 2))
    walks = [walked(search_of(count), needs(*pair)) for pair in pairs]

    assert {found.cause for found, _ in walks} == {Cause.INTERACTION}
    assert [named(found) for found, _ in walks] == [
        [f"part-{place}" for place in pair] for pair in pairs
    ]
    assert max(len(seen) for _, seen in walks) <= 2 * most_combos(count)


def test_an_interaction_of_three_is_named_whole() -> None:
    found, _ = walked(search_of(6), needs(0, 3, 5))

    assert (found.cause, named(found)) == (Cause.INTERACTION, ["part-0", "part-3", "part-5"])


def test_each_combo_tells_among_fewer_steps_and_the_culprit_is_among_them() -> None:
    search = search_of(8)
    _, seen = walked(search, needs(5))

    among = []
    before: dict[Combo, Level] = {}
    for combo, state in seen.items():
        among.append(told_among(search, before, combo))
        before[combo] = state

    assert [len(each) for each in among[:3]] == [8, 4, 2]
    assert all(5 in each for each in among)


def test_what_was_measured_before_is_not_asked_for_again() -> None:
    _, seen = walked(search_of(8), needs(5))
    kept = dict(list(seen.items())[:-1])

    assert next_of(search_of(8), kept) == list(seen)[-1]
    assert isinstance(next_of(search_of(8), seen), Attribution)


@pytest.mark.parametrize(
    ("count", "combos"), [(1, 0), (2, 2), (3, 3), (4, 3), (5, 4), (8, 4), (9, 5)]
)
def test_a_single_culprit_costs_the_logarithm_and_one(count: int, combos: int) -> None:
    assert most_combos(count) == combos


def test_combos_that_cannot_be_installed_are_gone_around() -> None:
    """Step 0 wants step 1 beside it, as a plugin wants the runtime it was built against."""
    search = search_of(4, fits=lambda combo: 0 not in combo or 1 in combo)

    found, seen = walked(search, needs(2))

    assert (found.cause, named(found)) == (Cause.SINGLE, ["part-2"])
    assert all(search.fits(combo) for combo in seen)


def test_steps_that_no_installable_combo_tells_apart_are_named_together() -> None:
    found, seen = walked(search_of(2, fits=lambda combo: len(combo) != 1), needs(0))

    assert (found.cause, named(found)) == (Cause.INSEPARABLE, ["part-0", "part-1"])
    assert seen == {}


def test_a_broken_combo_is_gone_around() -> None:
    first = next_of(search_of(4), {})
    assert isinstance(first, frozenset)

    found, _ = walked(
        search_of(4), lambda combo: Level.BROKEN if combo == first else needs(3)(combo)
    )

    assert (found.cause, named(found)) == (Cause.SINGLE, ["part-3"])


@pytest.mark.parametrize(
    ("state", "cause"), [(Level.BETWEEN, Cause.SEVERAL), (Level.UNTOLD, Cause.UNTOLD)]
)
def test_a_combo_on_neither_side_ends_it_without_a_name(state: Level, cause: Cause) -> None:
    found, seen = walked(search_of(4), lambda _: state)

    assert (found.cause, len(found.steps), len(seen)) == (cause, 4, 1)


def test_a_held_step_of_the_host_is_named_where_it_is_slow_with_nothing_else() -> None:
    held = steps_of([Part("driver", "5.0", "5.1", SwapScope.HOST)], ())
    search = Search(steps_of(parts(4), ()), lambda _: True, held)

    found, seen = walked(search, lambda _: Level.BAD)

    assert (found.cause, named(found)) == (Cause.HELD, ["driver"])
    assert list(seen) == [frozenset()]


def test_beside_a_held_step_that_is_fast_the_others_are_searched() -> None:
    held = steps_of([Part("driver", "5.0", "5.1", SwapScope.HOST)], ())
    search = Search(steps_of(parts(4), ()), lambda _: True, held)

    found, _ = walked(search, needs(1))

    assert (found.cause, named(found)) == (Cause.SINGLE, ["part-1"])


def test_parts_that_move_together_are_one_step() -> None:
    drop = Constraint("one drop", Together(("part-0", "part-2")), source="a stack file")

    found = steps_of(parts(3), [drop])

    assert [[part.name for part in step.parts] for step in found] == [
        ["part-0", "part-2"],
        ["part-1"],
    ]


def test_equal_stacks_have_nothing_to_attribute() -> None:
    with pytest.raises(NothingDiffersError):
        steps_of((), ())


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        pytest.param(0.20, 0.40, Level.BAD, id="beyond half-way"),
        pytest.param(-0.05, 0.10, Level.GOOD, id="below half-way"),
        pytest.param(0.05, 0.25, Level.BETWEEN, id="across half-way, away from both ends"),
        pytest.param(-0.05, 0.25, Level.UNTOLD, id="across half-way, with the good end"),
        pytest.param(0.05, 0.35, Level.UNTOLD, id="across half-way, with the bad end"),
    ],
)
def test_where_the_interval_lies_puts_a_combo_on_a_side(
    low: float, high: float, expected: Level
) -> None:
    assert level(Interval(low, (low + high) / 2, high), 0.3) is expected


@pytest.mark.parametrize(
    ("half_width", "launches"),
    [
        pytest.param(0.01, 2, id="sharp enough already"),
        pytest.param(0.15, 8, id="twice too wide takes four times as many"),
        pytest.param(0.90, 24, id="never more than the most"),
    ],
)
def test_a_combo_gets_the_launches_that_tell_it_from_both_ends(
    half_width: float, launches: int
) -> None:
    worsening = Interval(0.3 - half_width, 0.3, 0.3 + half_width)

    assert launches_to_tell(worsening, 2) == launches


@pytest.mark.parametrize(
    ("metric", "good", "bad"),
    [
        pytest.param("ttft_p50", 1.0, 3.0, id="a latency three times as long"),
        pytest.param("output_throughput", 3.0, 1.0, id="a throughput of a third"),
    ],
)
def test_the_mark_is_as_far_from_the_good_stack_as_from_the_bad_one(
    metric: str, good: float, bad: float
) -> None:
    of = METRICS[metric]
    half, whole = (
        as_logarithm(of, Interval(*[of.worsening(value / good - 1)] * 3)).center
        for value in ((good * bad) ** 0.5, bad)
    )

    assert whole == pytest.approx(math.log(3))
    assert half == pytest.approx(whole / 2)


def test_a_bound_beyond_everything_is_still_a_number() -> None:
    found = as_logarithm(METRICS["output_throughput"], Interval(0.2, 0.9, 1.4))

    assert found.low == pytest.approx(-math.log(0.8))
    assert found.center < found.high < math.inf
