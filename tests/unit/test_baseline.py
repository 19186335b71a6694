"""Baselines: which run a channel's rule takes for the first accepted one."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from service.domain.baseline import Measured, Rule, first_accepted
from service.domain.cell import Cell

START = datetime(2026, 11, 1, tzinfo=UTC)
CELL, OTHER = Cell("a", "p"), Cell("b", "p")


def measured(stack: str, hours: int, *, cell: Cell = CELL, repeats: int = 5) -> Measured:
    return Measured(cell, stack, START + timedelta(hours=hours), repeats)


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        pytest.param([measured("late", 2), measured("soon", 1)], "soon", id="what came first"),
        pytest.param(
            [measured("soon", 1, repeats=4), measured("late", 2)], "late", id="with enough repeats"
        ),
        pytest.param([measured("b", 1), measured("a", 1)], "a", id="at one time, by key"),
    ],
)
def test_the_first_run_with_enough_repeats_is_the_accepted_one(
    found: Sequence[Measured], taken: str
) -> None:
    assert first_accepted(found, min_repeats=5) == {CELL: taken}


def test_each_cell_has_a_first_of_its_own() -> None:
    found = [measured("x", 1), measured("y", 2), measured("y", 3, cell=OTHER)]

    assert first_accepted(found, min_repeats=5) == {CELL: "x", OTHER: "y"}


def test_nothing_is_accepted_with_too_few_repeats() -> None:
    assert first_accepted([measured("x", 1, repeats=4)], min_repeats=5) == {}


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("p800-*", True),
        ("P800-*", False),
        ("p800-sglang-0.5.1?", True),
        ("cpu-*", False),
    ],
)
def test_a_rule_speaks_of_the_stacks_that_its_pattern_names(pattern: str, covered: bool) -> None:
    rule = Rule(UUID(int=1), "release", pattern, "what we deliver", "ann", START)

    assert rule.covers("p800-sglang-0.5.17") is covered


@pytest.mark.parametrize(("pattern", "covered"), [("p800-*", False), ("p800-*+*", True)])
def test_a_stack_that_was_put_together_is_meant_only_by_a_pattern_that_says_so(
    pattern: str, covered: bool
) -> None:
    rule = Rule(UUID(int=1), "release", pattern, "what we deliver", "ann", START)

    assert rule.covers("p800-sglang-0.5.17+torch") is covered
