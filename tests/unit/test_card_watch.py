"""The cards beside a load: what samples of them say, and what they leave unknown."""

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

import pytest

from runners.benchmarks.card_facts import NOTHING_SEEN, CardFacts, Moment, cards_seen, table_of
from runners.benchmarks.card_watch import CardWatch, sampled
from runners.devices.device import CardSample
from service.domain.validity import Gate

GIB = 2**30
IDLE = CardSample(0, 0.0, 1.0, 40.0, 90.0, 0.0, ())
BUSY = CardSample(0, 0.8, 1.0, 70.0, 90.0, 0.9, (10,), memory_bytes=80 * GIB)
OTHER = CardSample(1, 0.0, 1.0, 40.0, 90.0, 0.0, ())
SERVER = frozenset({10, 11})


def seen(*moments: Sequence[CardSample]) -> list[Moment]:
    return [Moment(float(at), cards, SERVER) for at, cards in enumerate(moments)]


def facts(before: Sequence[CardSample], moments: Sequence[Moment]) -> CardFacts:
    return cards_seen([0], before, moments).facts


def test_a_server_alone_on_its_card_is_told_as_such() -> None:
    found = facts([IDLE, OTHER], seen([IDLE, OTHER], [BUSY, OTHER]))

    assert found == CardFacts(("0",), ("0",), (), 0.0, 1.0, 70.0, 90.0, (0.45,))


def test_a_server_on_a_card_of_others_is_seen() -> None:
    found = facts([IDLE, OTHER], seen([BUSY, replace(OTHER, pids=(11,))]))

    assert found.cards_used == ("0", "1")


def test_a_process_that_is_not_the_servers_is_a_stranger() -> None:
    found = cards_seen([0], [IDLE], seen([BUSY], [replace(BUSY, pids=(10, 99))]))

    assert found.facts.strangers == ("process 99 on card 0",)
    assert "card 0 at second 1.0" in found.evidence[Gate.STRANGER_ON_CARDS]
    assert "other processes 99" in found.evidence[Gate.STRANGER_ON_CARDS]


def test_a_stranger_on_another_card_is_nobodys_business() -> None:
    found = cards_seen([0], [IDLE], seen([BUSY, replace(OTHER, pids=(99,))]))

    assert found.facts.strangers == ()
    assert Gate.STRANGER_ON_CARDS not in found.evidence


def test_the_lowest_clock_counts_only_under_load() -> None:
    slowed, idle = replace(BUSY, clock=0.7), replace(IDLE, clock=0.2)
    found = cards_seen([0], [IDLE], seen([idle], [BUSY], [slowed]))

    assert found.facts.card_clock_share == 0.7
    assert found.metrics["card_clock"] == 0.7
    assert "card 0 at second 2.0" in found.evidence[Gate.CARD_THROTTLED]


def test_a_card_that_tells_its_clock_alone_is_held_to_the_fastest_of_the_leased_ones() -> None:
    fast = replace(BUSY, clock=None, clock_hz=1450e6)
    slow = replace(BUSY, number=1, clock=None, clock_hz=870e6)
    faster = replace(OTHER, number=2, clock=None, clock_hz=9e9)

    found = cards_seen([0, 1], [fast], seen([fast, slow, faster]))

    assert found.facts.card_clock_share == pytest.approx(0.6)


def test_the_hottest_moment_speaks_for_the_heat() -> None:
    found = cards_seen([0], [IDLE], seen([BUSY], [replace(BUSY, temperature_c=97.0)], [BUSY]))

    assert found.facts.card_temperature_c == 97.0
    assert found.evidence[Gate.CARD_HOT].startswith("card 0 at second 1.0, of 3 samples: 97 °C")


def test_the_memory_peak_and_the_balance_of_the_cards_are_values_of_the_load() -> None:
    lazy = replace(BUSY, number=1, busy=0.45, memory_bytes=90 * GIB)

    found = cards_seen([0, 1], [IDLE, OTHER], seen([BUSY, lazy]))

    assert found.metrics == {"hbm_peak": 90.0 * GIB, "card_balance": 0.5, "card_clock": 1.0}
    assert found.evidence[Gate.CARD_IMBALANCE] == "means of 2 samples: card 0 0.90, card 1 0.45"


def test_a_load_of_one_card_or_an_idle_one_has_no_balance() -> None:
    idle = replace(OTHER, busy=0.0)

    assert "card_balance" not in cards_seen([0], [IDLE], seen([BUSY])).metrics
    assert "card_balance" not in cards_seen([0, 1], [IDLE], seen([IDLE, idle])).metrics


def test_the_card_whose_memory_grows_most_is_told_by_its_slope() -> None:
    creeping = [[replace(BUSY, memory_used=0.5 + at / 1000), OTHER] for at in range(21)]
    creeping[7] = [replace(BUSY, memory_used=0.99), OTHER]

    found = cards_seen([0, 1], [IDLE, OTHER], seen(*creeping))

    grown = found.facts.card_memory_growth
    assert grown is not None
    assert grown.center == pytest.approx(0.02)
    assert 0 < grown.low <= grown.center <= grown.high


@pytest.mark.parametrize(
    ("untold", "fact"),
    [
        pytest.param("pids", "strangers", id="processes"),
        pytest.param("pids", "cards_used", id="where the server is"),
        pytest.param("clock", "card_clock_share", id="clock"),
        pytest.param("temperature_c", "card_temperature_c", id="temperature"),
        pytest.param("busy", "card_busy", id="utilisation"),
        pytest.param("memory_used", "card_memory_growth", id="memory"),
    ],
)
def test_what_a_card_does_not_tell_is_unknown(untold: str, fact: str) -> None:
    card = replace(BUSY, **{untold: None})  # type: ignore[arg-type]  # fields by name

    assert getattr(facts([IDLE], seen(*[[card]] * 20)), fact) is None


def test_every_sample_of_every_card_is_kept_as_a_line() -> None:
    text = table_of(seen([BUSY, replace(OTHER, pids=(99,))], [IDLE, OTHER])).decode()

    head, first, second, *more = text.splitlines()
    assert head.startswith("seconds,card,memory_bytes,memory_used,busy,clock_hz")
    assert first == f"0.00,0,{80 * GIB:.7g},0.8,0.9,,1,70,,10,"
    assert second == "0.00,1,,0,0,,1,40,,,99"
    assert [line[:6] for line in more] == ["1.00,0", "1.00,1"]


def test_a_chip_without_cards_has_none_to_look_at_and_is_not_sampled() -> None:
    def never() -> Sequence[CardSample]:
        pytest.fail("a chip without cards was sampled")

    watch = CardWatch(never, leased=(0,), before=(), server_pids=lambda: SERVER)
    with watch.watching():
        pass

    assert watch.seen().facts == CardFacts(cards_leased=())
    assert watch.seen().table == b""


def test_a_device_that_fails_to_tell_leaves_all_unknown() -> None:
    def broken() -> Sequence[CardSample]:
        raise OSError("no xpu-smi here")

    watch = CardWatch(broken, leased=(0,), before=sampled(broken), server_pids=lambda: SERVER)
    with watch.watching():
        pass

    assert watch.seen() == NOTHING_SEEN


def test_cards_are_sampled_while_the_block_lasts() -> None:
    taken = Event()

    def samples() -> Sequence[CardSample]:
        taken.set()
        return [BUSY]

    watch = CardWatch(samples, leased=(0,), before=[IDLE], server_pids=lambda: SERVER)
    with watch.watching():
        assert taken.wait(5.0)

    assert watch.seen().facts.cards_used == ("0",)
    assert watch.seen().table.startswith(b"seconds,card,")
