"""Exit codes: the table of design, and which of many cells speaks for all."""

import pytest

from service.cli.exit_codes import EXIT_CODE, VALIDITY_EXIT_CODE, exit_code_of_cells
from service.domain.validity import Validity
from service.domain.verdict import Outcome

GOOD, WORSE, UNSURE, BAD, UNLIKE = (
    Outcome.UNCHANGED,
    Outcome.REGRESSED,
    Outcome.INCONCLUSIVE,
    Outcome.BROKEN,
    Outcome.NOT_COMPARABLE,
)


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.IMPROVED, 0),
        (Outcome.UNCHANGED, 0),
        (Outcome.REGRESSED, 3),
        (Outcome.INCONCLUSIVE, 4),
        (Outcome.INSUFFICIENT_BASELINE, 4),
        (Outcome.BROKEN, 5),
        (Outcome.INVALID, 5),
        (Outcome.MISSING, 5),
        (Outcome.NOT_COMPARABLE, 6),
    ],
)
def test_each_outcome_has_its_code(outcome: Outcome, code: int) -> None:
    assert EXIT_CODE[outcome] == code
    assert exit_code_of_cells([outcome]) == code


def test_no_outcome_has_the_code_of_a_crash_or_of_wrong_usage() -> None:
    assert set(EXIT_CODE) == set(Outcome)
    assert set(VALIDITY_EXIT_CODE) == set(Validity)
    assert not {1, 2} & set(EXIT_CODE.values()) | {1, 2} & set(VALIDITY_EXIT_CODE.values())


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        pytest.param([GOOD, UNSURE, UNLIKE, BAD, WORSE], 3, id="regressed before all"),
        pytest.param([GOOD, UNSURE, UNLIKE, BAD], 5, id="then broken"),
        pytest.param([GOOD, UNSURE, UNLIKE], 6, id="then not comparable"),
        pytest.param([GOOD, UNSURE], 4, id="then inconclusive"),
        pytest.param([GOOD, Outcome.IMPROVED], 0, id="then all is well"),
        pytest.param([], 5, id="nothing was measured"),
    ],
)
def test_the_first_that_occurs_speaks_for_many_cells(outcomes: list[Outcome], code: int) -> None:
    assert exit_code_of_cells(outcomes) == code
    assert exit_code_of_cells(reversed(outcomes)) == code
