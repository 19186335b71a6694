"""Hosts apart: the textbook's between-hosts variance, told from launches and never from stacks."""

import random
from statistics import fmean

import pytest

from service.stats.hosts import HostsApart, hosts_apart


def test_two_hosts_of_equal_counts_are_the_textbooks_one_way_analysis() -> None:
    found = hosts_apart([{"h1": [1.0, 1.2], "h2": [2.0, 2.2]}])

    between, within = 2 * (1.0 - 0.0) ** 2 / 2, 0.02
    assert found.variance == pytest.approx((between - within) / 2)
    assert found.freedom == 1


def test_a_stack_that_is_faster_adds_nothing() -> None:
    alike = hosts_apart([{"h1": [1.0, 1.2], "h2": [2.0, 2.2]}] * 2)
    apart = hosts_apart(
        [{"h1": [1.0, 1.2], "h2": [2.0, 2.2]}, {"h1": [7.0, 7.2], "h2": [8.0, 8.2]}]
    )

    assert apart.variance == pytest.approx(alike.variance)
    assert apart.freedom == alike.freedom == 2


@pytest.mark.parametrize(
    "stacks",
    [
        pytest.param([], id="nothing was measured"),
        pytest.param([{"h1": [1.0, 1.1, 1.2]}], id="one host"),
        pytest.param([{"h1": [1.0], "h2": [2.0]}], id="no host launched twice"),
        pytest.param([{"h1": [1.0, 1.1]}, {"h2": [2.0, 2.1]}], id="a stack for each host"),
        pytest.param([{"h1": [1.0, 1.1], "h2": []}], id="a host without a launch"),
    ],
)
def test_what_cannot_tell_hosts_from_launches_tells_nothing(
    stacks: list[dict[str, list[float]]],
) -> None:
    assert hosts_apart(stacks) == HostsApart(0.0, 0)


def test_launches_that_differ_more_than_hosts_leave_no_variance_below_zero() -> None:
    assert hosts_apart([{"h1": [1.0, 3.0], "h2": [1.1, 2.9]}]).variance == 0.0


def test_unequal_counts_are_unbiased() -> None:
    draw = random.Random(7)

    def stack() -> dict[str, list[float]]:
        return {
            host: [level + draw.gauss(0, 0.02) for _ in range(count)]
            for host, count in (("h1", 2), ("h2", 5), ("h3", 9))
            for level in [draw.gauss(1, 0.05)]
        }

    found = fmean(hosts_apart([stack() for _ in range(30)]).variance for _ in range(60))

    assert found == pytest.approx(0.05**2, rel=0.1)
