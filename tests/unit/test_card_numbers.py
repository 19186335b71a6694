"""The numbers of cards inside the measured torch: asked of it, joined by UUID, never assumed."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from runners.devices.device import Card, Device, Probe
from runners.preflight.card_numbers import numbered, said

CARDS = (
    Card(0, "P800", "OAM", uuid="GPU-aa"),
    Card(1, "P800", "OAM", uuid="GPU-bb"),
)
TORCH = """\
import os
class cuda:
    def device_count():
        return {count} if "CUDA_VISIBLE_DEVICES" not in os.environ else 0
    def get_device_properties(number):
        class Properties:
            pass
        Properties.uuid = {uuids}[number]
        return Properties
"""


@dataclass(frozen=True)
class FakeDevice:
    torch_device: str = "cuda"

    def probe(self) -> Probe:
        return Probe(self.torch_device, "nccl")


def ordinals(folder: Path, torch: str, device: FakeDevice | None = None) -> list[int | None]:
    (folder / "torch.py").write_text(torch, encoding="utf-8")
    python = folder / "python"
    lines = ("#!/bin/sh", "shift", f'PYTHONPATH={folder} exec {sys.executable} "$@"')
    python.write_text("\n".join((*lines, "")), encoding="utf-8")
    python.chmod(0o755)
    hidden = {"CUDA_VISIBLE_DEVICES": "0", "XPU_VISIBLE_DEVICES": "0"}
    asked = cast("Device", device or FakeDevice())
    return [card.ordinal for card in numbered(asked, CARDS, python, hidden, limit_s=30)]


@pytest.mark.parametrize(
    ("uuids", "numbers"),
    [
        pytest.param(["bb", "aa"], [1, 0], id="torch counts the other way round"),
        pytest.param(["cc", "AA", "GPU-bb"], [1, 2], id="a card of others comes first"),
        pytest.param([None, None], [None, None], id="torch tells no UUID"),
        pytest.param(["aa", "cc"], [None, None], id="one of ours is not shown"),
        pytest.param(["aa", "aa", "bb"], [None, None], id="one is shown twice"),
        pytest.param([], [None, None], id="torch sees no card"),
    ],
)
def test_cards_are_joined_by_uuid_or_left_as_they_are(
    uuids: list[str | None], numbers: list[int | None], tmp_path: Path
) -> None:
    assert ordinals(tmp_path, TORCH.format(count=len(uuids), uuids=uuids)) == numbers


@pytest.mark.parametrize(
    ("torch", "device"),
    [
        pytest.param("raise OSError('libcuda.so.1')", FakeDevice(), id="torch does not come up"),
        pytest.param("raise SystemError", FakeDevice("cpu"), id="a CPU is never asked"),
    ],
)
def test_a_torch_that_tells_nothing_leaves_cards_as_they_are(
    torch: str, device: FakeDevice, tmp_path: Path
) -> None:
    assert ordinals(tmp_path, torch, device) == [None, None]


def test_numbers_are_said_only_where_they_differ() -> None:
    same = [Card(0, "P800", "OAM", ordinal=0), Card(1, "P800", "OAM", ordinal=1)]
    crossed = [Card(0, "P800", "OAM", ordinal=1), Card(1, "P800", "OAM", ordinal=0)]

    assert (said(same), said(CARDS)) == ("", "")
    assert said(crossed) == "torch counts card 0 as cuda:1, card 1 as cuda:0"
