"""Cards from an outer allocation, the hours in which they may be used, and slices of them."""

from datetime import UTC, datetime

import pytest

from runners.devices.allocation import AllocationError, allocated
from runners.devices.device import Card
from service.domain.window import WindowError, window

UUID = "GPU-00000000-0000-4000-8000-00000000000{}"
CARDS = tuple(
    Card(number, "P800", "OAM", UUID.format(number), f"0000:0{number + 3}:00.0", minor)
    for number, minor in enumerate((1, 2, 0))
)


@pytest.mark.parametrize(
    ("setting", "variables", "numbers"),
    [
        pytest.param("", {}, [0, 1, 2], id="no allocation: all"),
        pytest.param("1", {}, [1], id="the tool's number"),
        pytest.param("/dev/xpu0, xpu1", {}, [0, 2], id="device nodes, whose numbers are others"),
        pytest.param(UUID.format(2).removeprefix("GPU-"), {}, [2], id="a UUID without its prefix"),
        pytest.param("00000000:04:00.0", {}, [1], id="a PCI address in the long spelling"),
        pytest.param("", {"SLURM_JOB_GPUS": "0,2"}, [1, 2], id="what Slurm gives the job"),
        pytest.param(
            "", {"SLURM_STEP_GPUS": "1", "SLURM_JOB_GPUS": "0,1"}, [0], id="a step's before a job's"
        ),
        pytest.param("2", {"SLURM_JOB_GPUS": "0"}, [2], id="what is set before what Slurm says"),
    ],
)
def test_only_the_cards_of_an_outer_allocation_are_used(
    setting: str, variables: dict[str, str], numbers: list[int]
) -> None:
    assert [card.number for card in allocated(CARDS, setting, variables)] == numbers


def test_a_card_that_is_not_here_is_named_and_nothing_is_started() -> None:
    with pytest.raises(AllocationError, match="names the card 'xpu7'"):
        allocated(CARDS, "0,xpu7", {})


@pytest.mark.parametrize(
    ("text", "hour", "is_open"),
    [
        pytest.param("22:00-06:00 Asia/Shanghai", 15, True, id="late in the evening there"),
        pytest.param("22:00-06:00 Asia/Shanghai", 21, True, id="after midnight there"),
        pytest.param("22:00-06:00 Asia/Shanghai", 22, False, id="its end is not in it"),
        pytest.param("22:00-06:00 Asia/Shanghai", 13, False, id="in the day"),
        pytest.param("09:00-17:30 UTC", 9, True, id="its begin is in it"),
        pytest.param("09:00-17:30 UTC", 18, False, id="after it"),
    ],
)
def test_a_job_begins_within_the_window_alone(text: str, hour: int, is_open: bool) -> None:
    now = datetime(2026, 11, 30, hour, 0, tzinfo=UTC)

    assert window(text).is_open(now) is is_open


@pytest.mark.parametrize("text", ["22:00", "22-6 UTC", "01:00-02:00 Nowhere", "01:00-01:00 UTC"])
def test_what_is_no_window_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(WindowError, match="22:00-06:00 Asia/Shanghai"):
        window(text)
