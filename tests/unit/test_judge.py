"""A small judge bench: hardly a wrong name over searches, no false incident over nights."""

import numpy as np

from tests.bench.attribution import searches
from tests.bench.judge import nights


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
