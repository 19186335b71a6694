"""Values that cannot both be true make a result invalid, whatever tool wrote them."""

from collections.abc import Mapping

import pytest

from service.domain.odds import at_odds
from service.domain.validity import Gate, Validity
from service.formats.tools.registry import read_bytes
from tests import results


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        pytest.param({}, (), id="nothing told"),
        pytest.param({"ttft_p50": 0.1, "ttft_p90": 0.1, "ttft_p99": 0.2}, (), id="in order"),
        pytest.param({"itl_p50": 0.1, "itl_p99": 0.0999}, (), id="apart by rounding"),
        pytest.param(
            {"ttft_p50": 0.3, "ttft_p99": 0.2},
            ("ttft_p50 0.3 s against ttft_p99 0.2 s",),
            id="a median above its tail",
        ),
        pytest.param(
            {"tpot_p90": 0.3, "tpot_p95": 0.2},
            ("tpot_p90 0.3 s against tpot_p95 0.2 s",),
            id="two tails exchanged",
        ),
        pytest.param(
            {"ttft_mean": 2.0, "e2e_mean": 1.0},
            ("ttft_mean 2 s against e2e_mean 1 s",),
            id="a part above the whole",
        ),
        pytest.param({"itl_p99": 2.0, "e2e_p99": 1.0}, (), id="a gap of the longest request"),
    ],
)
def test_only_what_cannot_be_is_at_odds(
    metrics: Mapping[str, float], expected: tuple[str, ...]
) -> None:
    assert at_odds(metrics) == expected


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"median_ttft_ms": 0.07, "p99_ttft_ms": 0.00009}, id="seconds in one field"),
        pytest.param({"median_e2e_latency_ms": 3.31}, id="a whole request in seconds"),
        pytest.param({"median_ttft_ms": 3310.0, "median_e2e_latency_ms": 70.0}, id="exchanged"),
        pytest.param({"median_tpot_ms": 51000.0, "median_itl_ms": 50000.0}, id="microseconds"),
    ],
)
def test_a_unit_mistaken_or_two_fields_exchanged_is_invalid(changes: dict[str, float]) -> None:
    (reading,) = read_bytes(results.lines([results.serving(**changes)]), file="a").readings

    assert reading.validity is Validity.INVALID
    assert Gate.VALUES_AT_ODDS in [finding.gate for finding in reading.findings]
