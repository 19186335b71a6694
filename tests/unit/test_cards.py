"""Two runners of one host never share a card."""

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
