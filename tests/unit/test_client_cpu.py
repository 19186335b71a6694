"""The client's share of a core: of its load alone, and unknown where nothing tells."""

import pytest

from runners.benchmarks.client import Pass
from runners.benchmarks.client_cpu import cpu_share

# Busy for two seconds before its load of ten seconds, idle in it, and busy for one second after.
CURVE = ((0.0, 0.0), (2.0, 2.0), (7.0, 2.5), (12.0, 3.0))


def ended(cpu_s: float, samples: tuple[tuple[float, float], ...] = ()) -> Pass:
    return Pass(0, "itself", 0.0, 13.0, cpu_s, samples)


def test_what_a_client_does_before_and_after_its_load_does_not_count() -> None:
    share = cpu_share(ended(4.0, CURVE), load_s=10.0, load_ended=12.0)

    assert share == pytest.approx(0.1)


def test_a_client_busy_all_through_its_load_is_at_one() -> None:
    curve = ((0.0, 0.0), (6.0, 6.0), (12.0, 12.0))

    assert cpu_share(ended(13.0, curve), load_s=10.0, load_ended=12.0) == pytest.approx(1.0)


def test_between_two_samples_the_share_is_in_proportion() -> None:
    curve = ((0.0, 0.0), (4.0, 4.0))

    assert cpu_share(ended(4.0, curve), load_s=2.0, load_ended=3.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("load_s", "share"),
    [
        pytest.param(10.0, 0.4, id="a long load: of the whole pass, an upper bound"),
        pytest.param(2.0, None, id="a short load: unknown"),
        pytest.param(0.0, None, id="no load at all"),
    ],
)
def test_without_samples_only_a_long_load_tells(load_s: float, share: float | None) -> None:
    assert cpu_share(ended(4.0), load_s=load_s, load_ended=None) == share
