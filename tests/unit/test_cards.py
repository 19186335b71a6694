"""Two runners of one host never share a card."""

import os
from pathlib import Path

import pytest

from runners.cards import CardsTakenError, held_cards
from runners.devices.device import Card

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
