"""A small judge bench: hardly a wrong name over searches, no false incident over nights."""

import numpy as np
import pytest

from service.stats.location import location
from tests.bench.attribution import searches
from tests.bench.judge import CELLS, WARM_NIGHTS, Matrix, Nights, Slow, locations, nights, play


def test_attribution_names_the_right_component_and_hardly_ever_a_wrong_one() -> None:
    found = searches(np.random.default_rng(5), 150)

    assert found.single_right / found.single >= 0.90
    assert found.single_wrong <= 1
    assert found.combos_over == 0
    assert found.interacting_right / found.interacting >= 0.90
    assert found.interacting_wrong_single <= 1


def test_nights_end_in_no_false_incident_cost_few_launches_and_see_causes_as_they_come() -> None:
    found = nights(np.random.default_rng(5), 40)

    assert found.nights == 40
    assert found.false == 0
    assert found.extra / found.launches <= 0.25
    assert sum(found.causes.values()) > 0
    for size, within in ((1.5, 3), (3.0, 0)):
        assert len(found.caught[size]) == found.causes[size]
        assert all(delay <= within for delay in found.caught[size])


def test_two_causes_that_come_with_one_stack_are_both_confirmed_that_night() -> None:
    random = np.random.default_rng(5)
    causes = [
        Slow(WARM_NIGHTS + 1, frozenset(range(regime, CELLS // 2, 2)), 3.0) for regime in (0, 1)
    ]
    found = Nights()

    play(random, found, Matrix.drawn(random).with_causes(causes), last=WARM_NIGHTS + 1)

    assert found.caught[3.0] == [0, 0]
    assert found.suspected == 1


def test_all_cells_at_once_are_located_as_one_by_one() -> None:
    random = np.random.default_rng(5)
    values, sigma = random.normal(0, 0.05, (20, 3)), random.uniform(0.01, 0.05, (20, 1))

    assert locations(values, sigma).tolist() == pytest.approx(
        [location(row.tolist(), of.item()) for row, of in zip(values, sigma, strict=True)]
    )
