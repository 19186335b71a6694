"""What tries of messages come to: once all ranks have come, and no less for a larger one."""

import json
from pathlib import Path

import pytest

from runners.preflight.inside.collectives import curve_told, once, usual


def test_a_message_takes_from_when_the_last_rank_came_until_all_have_it() -> None:
    assert once([(1.0, 3.0), (2.0, 2.5)], 1) == pytest.approx(1.0)
    assert once([(1.0, 3.0), (1.0, 2.5)], 10) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("tries", "seconds"),
    [
        pytest.param([[1, 3], [4]], [2, 4], id="rising"),
        pytest.param([[5], [1], [4]], [3, 3, 4], id="two that fall"),
        pytest.param([[6], [3], [0], [9]], [3, 3, 3, 9], id="three that fall"),
        pytest.param([[1], [6], [3], [0]], [1, 3, 3, 3], id="a fall that reaches back"),
    ],
)
def test_no_larger_message_is_said_to_take_less(
    tries: list[list[float]], seconds: list[float]
) -> None:
    told = usual({str(size): each for size, each in enumerate(tries)})

    assert list(told.values()) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("device", "seconds"),
    [pytest.param("cpu", 0.02, id="mean on a CPU"), pytest.param("cuda", 0.001, id="median")],
)
def test_a_wait_for_a_processor_counts_where_ranks_share_them(
    tmp_path: Path, device: str, seconds: float
) -> None:
    rounds = 1 if device == "cpu" else 10
    spans = [[0.0, each * rounds] for each in (0.001, 0.001, 0.058)]
    for rank in range(2):
        (tmp_path / f"spans{rank}").write_text(json.dumps({"1024": spans}))

    told = curve_told("", 2, tmp_path, device)

    assert told["seconds"]["1024"] == pytest.approx(seconds)
    assert told["bytes_per_s"]["1024"] == pytest.approx(1024 / 0.001)
