"""The CPU is a chip whose cards are cores, and a chip that nothing drives is refused."""

import os

import pytest

from runners.devices.cpu import CpuDevice, NoCardsError, processor
from runners.devices.device import (
    INTERFACE_VERSION,
    Card,
    Device,
    UnknownChipError,
    chips,
    device_for,
)


def test_the_cards_are_the_cores_this_process_may_use() -> None:
    cards = CpuDevice().cards()

    assert [card.number for card in cards] == sorted(os.sched_getaffinity(0))


def test_each_rank_gets_its_core_and_one_thread() -> None:
    cards = [Card(3, "cpu", "core"), Card(5, "cpu", "core")]

    assert CpuDevice().environment(cards) == {
        "SGLANG_CPU_OMP_THREADS_BIND": "3|5",
        "OMP_NUM_THREADS": "1",
    }


def test_no_cards_is_no_way_to_serve() -> None:
    with pytest.raises(NoCardsError):
        CpuDevice().environment([])


def test_memory_is_the_hosts() -> None:
    memory = CpuDevice().memory(Card(0, "cpu", "core"))

    assert 0 < memory.free_bytes < memory.total_bytes


def test_the_facts_are_the_recorded_components_below_python() -> None:
    assert set(CpuDevice().facts()) == {"linux", "cpu"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("processor\t: 0\nmodel name\t: Some CPU @ 2.70GHz\n", "Some CPU @ 2.70GHz"),
        pytest.param("processor\t: 0\n", "unknown", id="a kernel that hides it"),
    ],
)
def test_the_processor_has_the_name_that_the_kernel_tells(text: str, name: str) -> None:
    assert processor(text) == name


def test_the_cpu_device_satisfies_the_protocol() -> None:
    device: Device = CpuDevice()

    assert device.name == "cpu"
    assert CpuDevice.interface_version == INTERFACE_VERSION


def test_the_installed_cpu_device_is_found_by_name() -> None:
    assert "cpu" in chips()
    assert device_for("cpu").name == "cpu"


def test_a_chip_that_nothing_drives_is_named_with_those_that_are_driven() -> None:
    with pytest.raises(UnknownChipError, match=r"no device for chip 'abacus'.*cpu"):
        device_for("abacus")
