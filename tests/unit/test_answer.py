"""Whether two stacks answer alike: held to what launches of one stack differ by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answer import FLOOR, LaunchAnswer, Quality, quality, shift

ANSWERS = st.lists(st.floats(-20, 0), min_size=3, max_size=3)


def test_answers_that_moved_with_the_launch_alone_are_within_tolerance() -> None:
    seen = shift([[-2.0, -3.0], [-2.1, -3.0]], [[-2.05, -3.1], [-2.0, -3.0]])

    assert seen is not None
    assert seen.distance == pytest.approx(0.05)
    assert seen.tolerance == pytest.approx(0.2)
    assert not seen.is_beyond


def test_answers_that_moved_further_are_named() -> None:
    seen = shift([[-2.0, -3.0], [-2.0, -3.0]], [[-2.0, -3.5]])

    assert seen is not None
    assert seen.is_beyond
    assert str(seen).startswith("answers moved by 0.5 nats a token")


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        pytest.param([], [[-1.0]], id="no baseline"),
        pytest.param([[-1.0]], [], id="no candidate"),
        pytest.param([[]], [[]], id="no prompt"),
        pytest.param([[-1.0]], [[-1.0, -2.0]], id="another set of prompts"),
    ],
)
def test_where_nobody_looked_nothing_is_said(
    baseline: list[list[float]], candidate: list[list[float]]
) -> None:
    assert shift(baseline, candidate) is None


@given(st.lists(ANSWERS, min_size=1, max_size=4))
def test_a_stack_against_itself_never_moved(answers: list[list[float]]) -> None:
    seen = shift(answers, list(reversed(answers)))

    assert seen is not None
    assert seen.distance == pytest.approx(0, abs=1e-9)
    assert seen.tolerance >= FLOOR


def test_at_saturation_answers_are_held_to_those_of_the_largest_load_both_were_asked_under() -> (
    None
):
    before = [LaunchAnswer([-2.0], [-2.1], 4), LaunchAnswer([-2.0], [-2.12], 16)]
    after = [LaunchAnswer([-2.0], [-2.1], 4), LaunchAnswer([-2.001], [-2.6], 16)]

    seen = quality(before, [*after, LaunchAnswer([-2.0], [-9.0], 64)])

    assert seen.concurrency == 16
    assert seen.idle is not None
    assert not seen.idle.is_beyond
    assert seen.loaded is not None
    assert seen.loaded.distance == pytest.approx(0.48)
    assert seen.is_beyond
    assert [warning[:30] for warning in seen.warnings] == ["with 16 requests in flight, an"]


def test_the_tolerance_at_saturation_is_learned_from_launches_under_that_load() -> None:
    before = [LaunchAnswer([-2.0], [-2.0], 8), LaunchAnswer([-2.0], [-2.2], 8)]

    seen = quality(before, [LaunchAnswer([-2.0], [-2.4], 8)])

    assert seen.loaded is not None
    assert seen.loaded.tolerance == pytest.approx(0.4)
    assert not seen.is_beyond


def test_launches_never_asked_under_load_say_nothing_of_it() -> None:
    assert quality([LaunchAnswer([-2.0])], [LaunchAnswer([-2.0], [-3.0], 4)]) == Quality(
        idle=shift([[-2.0]], [[-2.0]])
    )
