"""The cards beside a load: what samples of them say, and what they leave unknown."""

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

import pytest

from runners.benchmarks.card_watch import CardFacts, CardWatch, _Seen, card_facts, sampled
from runners.devices.device import CardSample

IDLE = CardSample(0, 0.0, 1.0, 40.0, 90.0, 0.0, ())
BUSY = CardSample(0, 0.8, 1.0, 70.0, 90.0, 0.9, (10,))
OTHER = CardSample(1, 0.0, 1.0, 40.0, 90.0, 0.0, ())
SERVER = frozenset({10, 11})


def seen(*moments: Sequence[CardSample]) -> list[_Seen]:
    return [_Seen(cards, SERVER) for cards in moments]


def test_a_server_alone_on_its_card_is_told_as_such() -> None:
    facts = card_facts([0], [IDLE, OTHER], seen([IDLE, OTHER], [BUSY, OTHER]))

    assert facts == CardFacts(("0",), ("0",), (), 0.0, 1.0, 70.0, 90.0, (0.45,))


def test_a_server_on_a_card_of_others_is_seen() -> None:
    facts = card_facts([0], [IDLE, OTHER], seen([BUSY, replace(OTHER, pids=(11,))]))

    assert facts.cards_used == ("0", "1")


def test_a_process_that_is_not_the_servers_is_a_stranger() -> None:
    facts = card_facts([0], [IDLE], seen([replace(BUSY, pids=(10, 99))]))

    assert facts.strangers == ("process 99 on card 0",)


def test_a_stranger_on_another_card_is_nobodys_business() -> None:
    facts = card_facts([0], [IDLE], seen([BUSY, replace(OTHER, pids=(99,))]))

    assert facts.strangers == ()


def test_the_lowest_clock_counts_only_under_load() -> None:
    slowed, idle = replace(BUSY, clock=0.7), replace(IDLE, clock=0.2)

    assert card_facts([0], [IDLE], seen([idle], [BUSY], [slowed])).card_clock_share == 0.7


@pytest.mark.parametrize(
    ("untold", "fact"),
    [
        pytest.param("pids", "strangers", id="processes"),
        pytest.param("pids", "cards_used", id="where the server is"),
        pytest.param("clock", "card_clock_share", id="clock"),
        pytest.param("temperature_c", "card_temperature_c", id="temperature"),
        pytest.param("busy", "card_busy", id="utilisation"),
    ],
)
def test_what_a_card_does_not_tell_is_unknown(untold: str, fact: str) -> None:
    card = replace(BUSY, **{untold: None})  # type: ignore[arg-type]  # fields by name

    assert getattr(card_facts([0], [IDLE], seen([card])), fact) is None


def test_a_chip_without_cards_has_none_to_look_at_and_is_not_sampled() -> None:
    def never() -> Sequence[CardSample]:
        pytest.fail("a chip without cards was sampled")

    watch = CardWatch(never, leased=(0,), before=(), server_pids=lambda: SERVER)
    with watch.watching():
        pass

    assert watch.facts() == CardFacts(cards_leased=())


def test_a_device_that_fails_to_tell_leaves_all_unknown() -> None:
    def broken() -> Sequence[CardSample]:
        raise OSError("no xpu-smi here")

    watch = CardWatch(broken, leased=(0,), before=sampled(broken), server_pids=lambda: SERVER)
    with watch.watching():
        pass

    assert watch.facts() == CardFacts()


def test_cards_are_sampled_while_the_block_lasts() -> None:
    taken = Event()

    def samples() -> Sequence[CardSample]:
        taken.set()
        return [BUSY]

    watch = CardWatch(samples, leased=(0,), before=[IDLE], server_pids=lambda: SERVER)
    with watch.watching():
        assert taken.wait(5.0)

    assert watch.facts().cards_used == ("0",)
