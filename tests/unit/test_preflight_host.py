"""What the host alone shows before anything runs on its cards: their health, pins, and links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from runners.devices.device import Card, CardSample, Device, Topology
from runners.devices.host import ProgramError
from runners.preflight import host
from runners.preflight.layers import Breaks, Skipped, Works
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope

CARDS = (Card(0, "P800", "OAM"), Card(1, "P800", "OAM"))
LINKS: Mapping[tuple[str, str], str] = {
    ("XPU0", "XPU1"): "XL",
    ("XPU0", "NIC0"): "PIX",
    ("XPU1", "NIC0"): "SYS",
}


@dataclass(frozen=True)
class FakeDevice:
    name: str = "kunlun"
    sampled: Sequence[CardSample] = ()
    complaints: Sequence[str] = ()
    matrix: Topology | None = field(default_factory=lambda: Topology(LINKS, {"NIC0": "mlx5_0"}))
    silent: bool = False

    def cards(self) -> Sequence[Card]:
        return CARDS

    def samples(self) -> Sequence[CardSample]:
        return self.sampled

    def problems(self) -> Sequence[str]:
        if self.silent:
            raise ProgramError(["xpu-smi", "-q"], "was not done after 20 s")
        return self.complaints

    def topology(self) -> Topology | None:
        if self.silent:
            raise ProgramError(["xpu-smi", "topo", "-m"], "was not done after 20 s")
        return self.matrix


@pytest.mark.parametrize(
    "problem", ["card 1 has 3 uncorrected memory errors", "/dev/xpu1 is not there", "/dev/xpu1: no"]
)
def test_what_is_wrong_with_a_card_is_its_holders(problem: str) -> None:
    device = cast("Device", FakeDevice(complaints=[problem]))

    assert isinstance(host.health(device, CARDS[:1], 1), Works)
    assert isinstance(host.health(device, CARDS[1:], 1), Breaks)


@pytest.mark.parametrize(
    ("device", "finding"),
    [
        pytest.param(FakeDevice(silent=True), "was not done after 20 s", id="the tool hangs"),
        pytest.param(FakeDevice(complaints=["/dev/xpu1 is not there"]), "/dev/xpu1", id="no node"),
        pytest.param(
            FakeDevice(sampled=[CardSample(1, temperature_c=91.0)]), "card 1 is at 91 C", id="hot"
        ),
        pytest.param(
            FakeDevice(sampled=[CardSample(1, temperature_c=70.0, temperature_limit_c=65.0)]),
            "card 1 is at 70 C",
            id="beyond its own limit",
        ),
        pytest.param(
            FakeDevice(sampled=[CardSample(0, pids=(41, 42))]), "process 41, 42", id="a stranger"
        ),
    ],
)
def test_a_card_that_is_not_well_is_found_before_anything_runs_on_it(
    device: FakeDevice, finding: str
) -> None:
    found = host.health(cast("Device", device), CARDS, 2)

    assert isinstance(found, Breaks)
    assert finding in found.finding
    assert found.remedy


def test_a_site_says_from_where_on_a_card_at_rest_is_too_hot_for_it() -> None:
    warm = cast("Device", FakeDevice(sampled=[CardSample(0, temperature_c=78.0)]))

    assert isinstance(host.health(warm, CARDS, 2), Works)
    assert isinstance(host.health(warm, CARDS, 2, rest_c=60.0), Breaks)


def test_what_is_on_a_card_that_is_not_asked_for_is_not_looked_at() -> None:
    device = FakeDevice(sampled=[CardSample(1, temperature_c=91.0, pids=(41,))])

    assert isinstance(host.health(cast("Device", device), CARDS, 1), Works)


STACK = Stack(
    "s",
    (
        Component("kunlun-driver", "5.0.21.47", Layer.DRIVER, SwapScope.HOST),
        Component("card-firmware", "1.54", Layer.DEVICE, SwapScope.HOST),
        Component("xre", "unknown", Layer.RUNTIME, SwapScope.CONTAINER, recorded=True),
    ),
)


@pytest.mark.parametrize(
    ("layer", "observed", "kind", "said"),
    [
        pytest.param(
            Layer.DRIVER, {"kunlun-driver": "5.0.21.8"}, Breaks, "5.0.21.8", id="another driver"
        ),
        pytest.param(
            Layer.DRIVER, {"card-firmware": "1.48"}, Breaks, "1.48", id="another firmware"
        ),
        pytest.param(
            Layer.DRIVER, {"kunlun-driver": "unknown"}, Works, "kunlun-driver unknown", id="unseen"
        ),
        pytest.param(
            Layer.RUNTIME, {"xre": "5.13.0.0"}, Skipped, "seen here: xre 5.13.0.0", id="not pinned"
        ),
    ],
)
def test_a_layer_is_held_to_what_the_stack_pins_of_it(
    layer: Layer, observed: dict[str, str], kind: type, said: str
) -> None:
    found = host.pins(STACK, observed, layer)

    assert isinstance(found, kind)
    assert said in (found.reason if isinstance(found, Skipped) else found.finding)


@pytest.mark.parametrize(
    ("device", "said"),
    [
        pytest.param(FakeDevice(), "links: XPU0-XPU1 XL; NICs: XPU0-mlx5_0 PIX", id="told"),
        pytest.param(FakeDevice(matrix=None), "", id="a chip without links"),
        pytest.param(FakeDevice(silent=True), "was not done after 20 s", id="the tool hangs"),
        pytest.param(
            FakeDevice(matrix=Topology({("XPU0", "XPU1"): "SYS"})),
            "links: XPU0-XPU1 SYS; NICs: none behind the same bridge",
            id="no link and no NIC",
        ),
    ],
)
def test_links_and_nics_are_told_in_words(device: FakeDevice, said: str) -> None:
    found = host.between(cast("Device", device), CARDS)

    assert found.endswith(said)
    assert bool(found) is bool(said)
