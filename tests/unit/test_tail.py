"""Tail percentiles: from how many requests on they are offered, and what is said below."""

import pytest

from service.domain.reading import Reading
from service.domain.tail import LEAST_REQUESTS, withheld
from service.domain.validity import RunFacts


def test_the_least_requests_are_those_of_wilks() -> None:
    assert dict(LEAST_REQUESTS) == {"p90": 29, "p95": 59, "p99": 299}


@pytest.mark.parametrize(
    ("completed", "kept_back"),
    [
        (None, ["ttft_p90", "itl_p95", "e2e_p99"]),
        (28, ["ttft_p90", "itl_p95", "e2e_p99"]),
        (29, ["itl_p95", "e2e_p99"]),
        (96, ["e2e_p99"]),
        (299, []),
    ],
)
def test_each_tail_is_offered_from_its_own_number_of_requests_on(
    completed: int | None, kept_back: list[str]
) -> None:
    metrics = dict.fromkeys(("ttft_p50", "ttft_mean", "ttft_p90", "itl_p95", "e2e_p99"), 1.0)

    assert list(withheld(metrics, completed)) == kept_back


def test_the_reason_says_what_is_needed_and_what_there_was() -> None:
    assert withheld({"ttft_p99": 1.0}, 96) == {
        "ttft_p99": "a p99 needs at least 299 completed requests, and 96 completed"
    }
    assert "their number is not told" in withheld({"ttft_p99": 1.0}, None)["ttft_p99"]


def test_a_reading_offers_no_tail_of_too_few_requests_and_says_so() -> None:
    metrics = {"ttft_p50": 0.1, "ttft_p90": 0.2, "ttft_p99": 0.3}
    reading = Reading("a", 1, "tool", None, 1, {}, metrics, RunFacts(requests_completed=96))

    assert reading.metrics == {"ttft_p50": 0.1, "ttft_p90": 0.2}
    assert reading.withheld.keys() == {"ttft_p99"}
