"""Creep: what was accepted, and which sums of steps are told as creep."""

import pytest

from service.domain.creep import creep_of, is_accepted
from service.domain.incident import Triage
from service.domain.metric import METRICS
from service.domain.verdict import Outcome, Verdict, judge, unjudged
from service.stats.interval import Interval

TPOT = METRICS["tpot_p50"]
TOLERANCE = 0.03


def verdict(center: float, *, half: float = 0.005) -> Verdict:
    interval = Interval(center - half, center, center + half)
    return judge(TPOT, interval, tolerance=TOLERANCE)


@pytest.mark.parametrize(
    ("whole", "step", "crept"),
    [
        pytest.param(0.04, 0.02, True, id="a small step, and the sum beyond"),
        pytest.param(0.04, 0.04, False, id="one step brought it"),
        pytest.param(0.02, 0.01, False, id="the sum is within"),
        pytest.param(0.04, -0.01, True, id="the last step was a gain"),
        pytest.param(-0.04, -0.01, False, id="better than the baseline"),
        pytest.param(0.04, 0.03, False, id="a step of the tolerance is beyond it"),
    ],
)
def test_creep_is_a_sum_beyond_the_tolerance_of_steps_within_it(
    whole: float, step: float, crept: bool
) -> None:
    found = creep_of([verdict(whole)], [verdict(step)])

    assert bool(found) is crept


def test_a_creep_keeps_the_whole_and_the_step() -> None:
    (found,) = creep_of([verdict(0.04)], [verdict(0.02)])

    assert (found.metric, found.worsening, found.step) == ("tpot_p50", 0.04, 0.02)
    assert (found.low, found.high, found.tolerance) == (0.035, 0.045, TOLERANCE)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param([], id="not measured"),
        pytest.param([unjudged(TPOT, Outcome.INVALID, "x", tolerance=TOLERANCE)], id="not judged"),
    ],
)
def test_a_step_that_nobody_judged_tells_nothing(step: list[Verdict]) -> None:
    assert creep_of([verdict(0.04)], step) == ()


@pytest.mark.parametrize(
    ("outcome", "triage", "accepted"),
    [
        (Outcome.UNCHANGED, None, True),
        (Outcome.IMPROVED, None, True),
        (Outcome.INCONCLUSIVE, None, True),
        (Outcome.REGRESSED, None, False),
        (Outcome.BROKEN, None, False),
        (Outcome.REGRESSED, Triage.ACCEPT, True),
        (Outcome.REGRESSED, Triage.NOISE, True),
        (Outcome.UNCHANGED, Triage.OPEN, False),
        (Outcome.UNCHANGED, Triage.FIX, False),
        (Outcome.UNCHANGED, Triage.HOST, False),
    ],
)
def test_what_people_said_of_a_stack_goes_before_what_the_rule_says(
    outcome: Outcome, triage: Triage | None, accepted: bool
) -> None:
    assert is_accepted(outcome, triage) is accepted
