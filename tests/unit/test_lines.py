"""Lines for a person: percent, units for the eye, and one line a verdict."""

import pytest

from service.cli.comparison_lines import verdict_line
from service.cli.lines import percent, scaled, share
from service.domain.metric import METRICS, Unit
from service.domain.verdict import judge_samples
from service.formats.readings import ValueRead
from service.formats.verdicts import VerdictRead

THROUGHPUT = METRICS["output_throughput"]
BASELINE = [[100.0, 101.0, 99.0], [100.5, 99.5, 100.0]]


def line(candidate: list[list[float]]) -> str:
    return verdict_line(
        VerdictRead.of(judge_samples(THROUGHPUT, BASELINE, candidate, tolerance=0.03))
    )


def test_ratios_are_percent_only_here() -> None:
    assert (percent(0.042), percent(-0.042), share(0.03)) == ("+4.2 %", "-4.2 %", "3.0 %")
    assert percent(-0.0001) == percent(0.0) == "+0.0 %"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0244, Unit.SECOND, "24.40 ms"),
        (3.5, Unit.SECOND, "3.50 s"),
        (659.8, Unit.TOKEN_PER_SECOND, "659.80 tok/s"),
    ],
)
def test_values_are_scaled_for_the_eye(value: float, unit: Unit, text: str) -> None:
    assert scaled(ValueRead(value=value, unit=unit)) == text


def test_no_value_is_a_dash() -> None:
    assert scaled(None) == "-"


def test_a_worsening_reads_positive_for_every_metric() -> None:
    assert line([[90.0, 90.5, 89.5], [90.0, 90.2, 89.8]]).startswith(
        "output_throughput regressed: 100.00 tok/s → 90.00 tok/s, worse by +10.0 % (interval +"
    )


def test_where_nothing_was_seen_the_line_says_what_could_have_been() -> None:
    assert "a worsening from 3." in line([[100.0, 100.0, 101.0], [100.0, 99.0, 100.0]])


def test_a_verdict_without_an_interval_gives_its_reason() -> None:
    assert line([]) == "output_throughput missing: the candidate has no value"
