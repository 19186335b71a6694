"""Whether two stacks answer alike: held to what launches of one stack differ by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answer import FLOOR, shift

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
