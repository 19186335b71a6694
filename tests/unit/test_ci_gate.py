"""The gate in CI: what counts, what is certain, and how an error is spent over its looks."""

import numpy as np
import pytest
from scipy.special import ndtri

from service.domain.ci_gate import (
    Counts,
    Looks,
    RoundsError,
    Standing,
    counting,
    exit_code,
    is_certain,
    looks_of,
    outcome_of,
    planned_chances,
)
from service.domain.verdict import Outcome
from service.stats.spending import confidences
from service.stats.variance import Components, Expected


@pytest.mark.parametrize(
    ("outcome", "standing", "has_incident", "is_waived", "counts"),
    [
        pytest.param(
            Outcome.REGRESSED, Standing.GATES, False, False, Counts.COUNTED, id="regressed"
        ),
        pytest.param(
            Outcome.REGRESSED, Standing.INFORMS, False, False, Counts.INFORMS, id="informs"
        ),
        pytest.param(Outcome.REGRESSED, Standing.GATES, True, True, Counts.KNOWN, id="incident"),
        pytest.param(Outcome.REGRESSED, Standing.GATES, False, True, Counts.WAIVED, id="waived"),
        pytest.param(Outcome.BROKEN, Standing.GATES, True, True, Counts.COUNTED, id="broken"),
        pytest.param(Outcome.MISSING, Standing.GATES, True, True, Counts.COUNTED, id="missing"),
        pytest.param(
            Outcome.NOT_COMPARABLE, Standing.GATES, True, True, Counts.COUNTED, id="unlike"
        ),
        pytest.param(Outcome.UNCHANGED, Standing.GATES, True, True, Counts.COUNTED, id="well"),
    ],
)
def test_only_a_worsening_is_ever_excused(
    outcome: Outcome,
    standing: Standing,
    has_incident: bool,
    is_waived: bool,
    counts: Counts,
) -> None:
    found = counting(outcome, standing=standing, has_incident=has_incident, is_waived=is_waived)

    assert found is counts


def test_where_nothing_counts_nothing_is_said_to_be_well() -> None:
    assert outcome_of([]) is Outcome.INCONCLUSIVE
    assert outcome_of([Outcome.UNCHANGED, Outcome.REGRESSED]) is Outcome.REGRESSED


@pytest.mark.parametrize(
    ("outcome", "blocks", "code"),
    [
        pytest.param(Outcome.INCONCLUSIVE, True, 4, id="inconclusive blocks"),
        pytest.param(Outcome.INCONCLUSIVE, False, 0, id="inconclusive passes"),
        pytest.param(Outcome.INSUFFICIENT_BASELINE, False, 4, id="no baseline never passes"),
        pytest.param(Outcome.REGRESSED, False, 3, id="regressed never passes"),
        pytest.param(Outcome.MISSING, False, 5, id="missing never passes"),
    ],
)
def test_only_inconclusive_may_pass_and_only_where_the_plan_says_so(
    outcome: Outcome,
    blocks: bool,
    code: int,
) -> None:
    assert exit_code(outcome, inconclusive_blocks=blocks) == code


@pytest.mark.parametrize(
    ("outcomes", "certain"),
    [
        pytest.param([Outcome.REGRESSED, Outcome.INCONCLUSIVE], True, id="one is regressed"),
        pytest.param([Outcome.UNCHANGED, Outcome.IMPROVED], True, id="none is worse"),
        pytest.param([Outcome.UNCHANGED, Outcome.INCONCLUSIVE], False, id="one is open"),
        pytest.param([Outcome.UNCHANGED, Outcome.INVALID], False, id="one is invalid"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_a_cell_is_certain_where_more_rounds_change_no_word(
    outcomes: list[Outcome],
    certain: bool,
) -> None:
    assert is_certain(outcomes) is certain


@pytest.mark.parametrize(
    ("rounds", "looks"),
    [(1, (1,)), (2, (2,)), (3, (2, 3)), (4, (2, 3, 4)), (8, (2, 4, 6, 8)), (10, (3, 5, 8, 10))],
)
def test_looks_are_spread_evenly_from_the_second_round_on(
    rounds: int, looks: tuple[int, ...]
) -> None:
    assert looks_of(rounds) == Looks(looks)


@pytest.mark.parametrize("rounds", [(), (0, 2), (2, 2), (4, 2)])
def test_looks_that_do_not_rise_are_refused(rounds: tuple[int, ...]) -> None:
    with pytest.raises(RoundsError):
        Looks(rounds)


def test_a_look_is_due_once_both_stacks_have_its_rounds() -> None:
    looks = Looks((2, 4, 8))

    assert [looks.due(measured) for measured in (1, 2, 3, 4, 7, 9)] == [0, 2, 2, 4, 4, 8]
    assert looks.confidence(3, whole=0.95) == looks.confidence(2, whole=0.95)
    assert looks.confidence(1, whole=0.95) == looks.confidence(2, whole=0.95)


def test_one_look_has_the_whole_error_and_more_looks_share_it() -> None:
    assert confidences((5,), whole=0.95) == pytest.approx((0.95,))
    shared = confidences((2, 4, 6, 8), whole=0.95)
    assert all(each > 0.95 for each in shared)
    assert list(shared) == sorted(shared, reverse=True)


@pytest.mark.parametrize("counts", [(1, 2, 3, 4), (2, 8), (3, 5, 8, 10)])
def test_equal_arms_leave_all_bounds_together_as_often_as_was_to_be_spent(
    counts: tuple[int, ...],
) -> None:
    random = np.random.default_rng(7)
    gains = np.diff(counts, prepend=0)
    paths = np.cumsum(random.normal(0, np.sqrt(gains), (100_000, len(counts))), axis=1)
    bounds = ndtri((1 + np.asarray(confidences(counts, whole=0.95))) / 2)
    left = (np.abs(paths) / np.sqrt(counts) > bounds).any(axis=1).mean()

    assert left == pytest.approx(0.05, abs=0.003)


def test_a_plan_states_more_power_for_more_rounds_and_the_same_each_time() -> None:
    expected = Expected(Components(0.03**2, 0.0, 0.03**2), 10.0)

    def unchanged(rounds: int) -> float:
        return planned_chances(
            expected, looks_of(rounds), repeats=3, tolerance=0.05, worsening=0.0, confidence=0.95
        ).unchanged

    assert unchanged(6) < unchanged(12) < unchanged(24)
    assert unchanged(12) == unchanged(12)
