"""Two runners of one host never share a card."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runners.cards import CardsTakenError, HostTakenError, held_cards, held_host
from runners.devices.device import Card
from tests.tracked_files import ROOT

CARDS = (Card(0, "core", "shared"), Card(1, "core", "shared"))


def test_two_runners_get_different_cards(tmp_path: Path) -> None:
    with (
        held_cards(CARDS, chip="cpu", count=1, folder=tmp_path, wait_s=0) as first,
        held_cards(CARDS, chip="cpu", count=1, folder=tmp_path, wait_s=0) as second,
    ):
        assert (first, second) == ((CARDS[0],), (CARDS[1],))


def test_a_runner_that_wants_more_than_is_free_does_not_start(tmp_path: Path) -> None:
    with (
        held_cards(CARDS, chip="cpu", count=1, folder=tmp_path, wait_s=0),
        pytest.raises(CardsTakenError, match="2 cards are wanted and 1 are free"),
        held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0),
    ):
        pass


def test_a_lock_is_never_opened_through_a_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("private")
    mine.chmod(0o600)
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "cpu-0.lock").symlink_to(mine)

    with (
        pytest.raises(OSError, match=r"cpu-0\.lock"),
        held_cards(CARDS, chip="cpu", count=1, folder=tmp_path / "locks", wait_s=0),
    ):
        pass
    assert mine.stat().st_mode & 0o777 == 0o600


def test_a_lock_that_is_there_is_not_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0):
        pass
    opened, really = [], os.open

    def noted(path: Path, flags: int, *more: int) -> int:
        opened.append(flags)
        return really(path, flags, *more)

    monkeypatch.setattr(os, "open", noted)
    with held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0):
        pass

    assert len(opened) == 2
    assert not any(flags & os.O_CREAT for flags in opened)


def test_cards_are_free_again_once_their_runner_is_gone(tmp_path: Path) -> None:
    with held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0):
        pass

    with held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0) as held:
        assert held == CARDS


def test_taken_cards_are_waited_for(tmp_path: Path) -> None:
    holding = held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0)
    holding.__enter__()
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            holding.__exit__(None, None, None)

    with held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=9, sleep=sleep) as held:
        assert held == CARDS
    assert len(pauses) == 3


def test_cards_of_another_chip_are_other_cards(tmp_path: Path) -> None:
    with (
        held_cards(CARDS, chip="cpu", count=2, folder=tmp_path, wait_s=0),
        held_cards(CARDS, chip="kunlun", count=2, folder=tmp_path, wait_s=0) as held,
    ):
        assert held == CARDS


HOLDER = """
import sys, time
from pathlib import Path
from runners.cards import held_host
with held_host(Path(sys.argv[1]), alone=True):
    print("held", flush=True)
    time.sleep(300)
"""


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)], ids=str)
def test_a_host_that_one_has_alone_is_shared_with_nobody(
    *, first: bool, second: bool, tmp_path: Path
) -> None:
    with (
        held_host(tmp_path, alone=first),
        pytest.raises(HostTakenError, match="alone"),
        held_host(tmp_path, alone=second),
    ):
        pass


def test_packed_jobs_share_a_host(tmp_path: Path) -> None:
    with held_host(tmp_path, alone=False), held_host(tmp_path, alone=False):
        pass


def test_who_waits_for_a_host_has_it_once_its_holder_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waited: list[float] = []

        def wait() -> None:
            waited.append(time.monotonic())
            if len(waited) == 3:
                holder.kill()
            time.sleep(0.02)

        with held_host(tmp_path, alone=True, wait=wait):
            assert len(waited) >= 3
