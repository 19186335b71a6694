"""The kunlun device on a stand-in host: joined by address, honest where it cannot see."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from runners.devices.cpu import NoCardsError
from runners.devices.device import Card, Device, JoinError, device_for, with_ordinals
from runners.devices.host import DeviceError, Host, ProgramError
from runners.devices.kunlun.device import KunlunDevice, part_class
from runners.devices.kunlun.host_files import driver_version, image_versions
from runners.devices.kunlun.smi import XpuSmi
from tests.xpu_smi import Shown, answers, machine, query, shown, stand_in, stand_in_host, table

# Who owns nothing.
NOBODY = 65534


def device(folder: Path, cards: list[Shown]) -> KunlunDevice:
    return KunlunDevice(Host.of(stand_in_host(folder, cards)))


def changed(folder: Path, forms: Mapping[str, str]) -> None:
    stand_in(folder, {**answers(shown(2)), **forms})


def test_it_is_found_by_its_name_and_satisfies_the_protocol(tmp_path: Path) -> None:
    found: Device = device_for("kunlun", Host.of(stand_in_host(tmp_path, shown(1))))

    assert (found.name, len(found.cards())) == ("kunlun", 1)


def test_index_and_device_node_are_joined_and_never_assumed_equal(tmp_path: Path) -> None:
    cards = device(tmp_path, shown(4)).cards()

    assert [(card.number, card.minor) for card in cards] == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert cards[0].address == "0000:03:00.0"
    assert (cards[0].model, cards[0].form) == ("P800", "OAM")


def test_a_card_without_its_node_is_not_ours_and_is_told_of(tmp_path: Path) -> None:
    seen = device(tmp_path, shown(2))
    (tmp_path / "root/dev/xpu1").unlink()

    assert [card.number for card in seen.cards()] == [1]
    assert seen.problems() == (
        "/dev/xpu1 is not there: pass it into the container (--device=/dev/xpu1)",
    )


def test_both_visibility_variables_are_equal() -> None:
    cards = [Card(2, "P800", "OAM"), Card(0, "P800", "OAM", ordinal=5)]

    assert KunlunDevice().environment(cards) == {
        "CUDA_VISIBLE_DEVICES": "2,5",
        "XPU_VISIBLE_DEVICES": "2,5",
    }


def test_no_cards_is_no_way_to_serve() -> None:
    with pytest.raises(NoCardsError):
        KunlunDevice().environment([])


def test_the_numbers_inside_torch_are_joined_by_uuid() -> None:
    cards = [Card(0, "P800", "OAM", uuid="GPU-aa"), Card(1, "P800", "OAM", uuid="GPU-bb")]

    assert [card.ordinal for card in with_ordinals(cards, {0: "BB", 1: "aa"})] == [1, 0]
    with pytest.raises(JoinError, match="card 1"):
        with_ordinals(cards, {0: "aa"})
    with pytest.raises(JoinError, match="twice"):
        with_ordinals(cards, {0: "aa", 1: "GPU-aa"})


def test_a_sample_holds_what_the_card_tells_and_no_guess(tmp_path: Path) -> None:
    busy = replace(shown(1)[0], used=49152, busy=97, temperature=61, power=310, pids=(41, 42))
    (sample,) = device(tmp_path, [busy]).samples()

    assert (sample.memory_used, sample.busy, sample.temperature_c) == (0.5, 0.97, 61.0)
    assert (sample.power_w, sample.clock_hz, sample.pids) == (310.0, 1450e6, (41, 42))
    assert (sample.clock, sample.temperature_limit_c) == (None, None)


def test_memory_is_the_cards_own(tmp_path: Path) -> None:
    cards = [replace(card, used=card.index * 1024) for card in shown(2)]
    seen = device(tmp_path, cards)

    assert [seen.memory(card).free_bytes // 2**20 for card in seen.cards()] == [98304, 97280]


def test_facts_name_what_was_seen_and_what_was_not(tmp_path: Path) -> None:
    seen = device(tmp_path, shown(2)).facts()

    assert seen["kunlun-driver"] == "5.0.21.26"
    assert seen["card-firmware"] == "1.0.2.14.1.48"
    assert seen["card-pcie-generation"] == "3"
    assert (seen["card-class"], seen["xpu-rt"]) == ("VC", "10.2 (xpu-smi -q)")
    assert seen["kunlun-driver-proc"] == "unknown"


def test_cards_of_two_kinds_are_counted(tmp_path: Path) -> None:
    one, other = shown(2)
    seen = device(tmp_path, [one, replace(other, part_number="B00100300110312")]).facts()

    assert seen["card-class"] == "VC x1, VD x1"


def test_facts_are_unknown_where_the_tool_is_missing(tmp_path: Path) -> None:
    seen = KunlunDevice(Host(tmp_path, {"KUNLINE_XPU_SMI": str(tmp_path / "none")})).facts()

    assert (seen["kunlun-driver"], seen["topology"]) == ("unknown", "unknown")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up root's rights for a while, where a test has them: root may read everything."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_what_only_root_could_read_is_said_to_be_so() -> None:
    # Not tmp_path: what lies below its owner's folder is hidden from everybody else.
    with TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        path = root / "proc/kunlun/version"
        path.parent.mkdir(parents=True)
        path.write_text("5.0")

        with as_nobody():
            open_to_all = Host(root).text("/proc/kunlun/version")
        path.chmod(0)
        with as_nobody():
            closed = Host(root).text("/proc/kunlun/version")

    assert (open_to_all, closed) == ("5.0", "unknown(permission)")


def test_a_driver_that_differs_from_the_tools_is_a_problem(tmp_path: Path) -> None:
    seen = device(tmp_path, shown(1))
    path = tmp_path / "root/proc/kunlun/version"
    path.parent.mkdir(parents=True)
    path.write_text("version 5.0.21.21\n")

    assert "5.0.21.26, and the loaded module is 5.0.21.21" in seen.problems()[0]


def test_uncorrected_memory_errors_are_a_problem(tmp_path: Path) -> None:
    seen = device(tmp_path, [replace(shown(1)[0], uncorrected=3)])

    assert "card 0 has 3 uncorrected memory errors" in seen.problems()[0]


@pytest.mark.parametrize(
    "forms",
    [
        pytest.param({"": table(shown(1))}, id="the table shows a card less"),
        pytest.param({"-L": "XPU 0: P800 OAM  GPU-1\nXPU 1: P800 OAM  GPU-2\n"}, id="other UUIDs"),
        pytest.param({"-m": machine(shown(1))}, id="machine lines of a card less"),
        pytest.param({"-m": "one two three\n"}, id="machine lines of another form"),
        pytest.param({"-q": query(shown(2))[:-40]}, id="a query that is cut off"),
        pytest.param({"-q": "Intel XPU System Management Interface\n"}, id="Intel's tool"),
    ],
)
def test_forms_that_disagree_are_no_card_at_all(tmp_path: Path, forms: Mapping[str, str]) -> None:
    seen = device(tmp_path, shown(2))
    changed(tmp_path, forms)

    with pytest.raises(DeviceError):
        seen.cards()


def test_a_tool_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    program = tmp_path / "hangs"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    began = time.monotonic()

    with pytest.raises(ProgramError, match=r"was not done after 0\.2 s"):
        XpuSmi(Host(variables={"KUNLINE_XPU_SMI": str(program)}), limit_s=0.2).said("-q")
    assert time.monotonic() - began < 30


def test_only_words_that_ask_are_ever_used(tmp_path: Path) -> None:
    seen = device(tmp_path, shown(2))
    words = tmp_path / "words"
    program = tmp_path / "xpu-smi"
    body = program.read_text().replace("#!/bin/sh", f'#!/bin/sh\necho "$*" >> "{words}"')
    program.write_text(body)

    seen.cards()
    seen.samples()
    seen.facts()
    seen.problems()

    assert set(words.read_text().splitlines()) == {"", "-L", "-q", "-m", "topo -m"}


@pytest.mark.parametrize(
    ("part_number", "name"),
    [
        pytest.param("B00100300110112", "VC", id="one OAM class"),
        pytest.param("B00100300110312", "VD", id="the other OAM class"),
        pytest.param("B00100300110211", "PCIe", id="PCIe"),
        pytest.param("B00100300110999", "unknown", id="never seen"),
        pytest.param(None, "unknown", id="not told"),
    ],
)
def test_a_part_number_tells_the_class(part_number: str | None, name: str) -> None:
    assert part_class(part_number) == name


@pytest.mark.parametrize(
    ("text", "version"),
    [
        pytest.param("a b c KUNLUN d e f g h 5.0.21.26 x", "5.0.21.26", id="the tenth field"),
        pytest.param("kernel module 5.19.0.0", "5.19.0.0", id="one version in free text"),
        pytest.param("no figure", "unknown", id="none"),
        pytest.param("unknown(permission)", "unknown(permission)", id="not readable"),
    ],
)
def test_the_modules_text_gives_the_driver(text: str, version: str) -> None:
    assert driver_version(text) == version


def test_an_images_list_keeps_no_address_of_a_registry() -> None:
    seen = image_versions("xre_addr=https://u:secret@host/p/xre-5.19.0.0.tar.gz?t=1\n# more\n")

    assert seen["image-xre"] == "xre-5.19.0.0.tar.gz"
    assert "secret" not in str(seen)


def test_a_slice_of_a_card_is_refused_and_what_to_ask_for_is_said(tmp_path: Path) -> None:
    whole = device(tmp_path, shown(2))
    assert whole.problems() == ()
    told = query(shown(2)).replace("98304 MiB", "24576 MiB")
    changed(tmp_path, {"-q": told})

    problems = whole.problems()

    assert len(problems) == 2
    assert "card 0 has 24576 MiB, and a whole P800 has 98304: it is a slice" in problems[0]
    assert "kunlunxin.com/xpu" in problems[0]
