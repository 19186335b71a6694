"""The cards while a load runs: who is on them, how busy, how hot and at which clock they are."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import SubprocessError
from threading import Event, Thread

from runners.devices.device import CardSample
from runners.devices.host import DeviceError

SAMPLE_S = 1.0
# Between requests a card falls to its idle clock, which is no throttling.
UNDER_LOAD = 0.5

Samples = Sequence[CardSample]


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What was seen of the cards during one load; see service.domain.validity.RunFacts.

    No cards leased, and known: this chip has none to look at.
    """

    cards_leased: tuple[str, ...] | None = None
    cards_used: tuple[str, ...] | None = None
    strangers: tuple[str, ...] | None = None
    card_memory_before: float | None = None
    card_clock_share: float | None = None
    card_temperature_c: float | None = None
    card_temperature_limit_c: float | None = None
    card_busy: tuple[float, ...] | None = None


NO_CARDS = CardFacts(cards_leased=())


@dataclass(frozen=True, slots=True)
class _Seen:
    """All cards at one moment, and the server's processes at the same."""

    cards: Samples
    server: frozenset[int]


class CardWatch:
    """A sampler of all cards beside a load. before: the cards as they were before the launch."""

    def __init__(
        self,
        samples: Callable[[], Samples],
        *,
        leased: Sequence[int],
        before: Samples | None,
        server_pids: Callable[[], Collection[int]],
    ) -> None:
        self._samples = samples
        self._leased = tuple(leased)
        self._before = before
        self._server_pids = server_pids
        self._seen: list[_Seen] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sample once a second until the block is over; not at all where there are no cards."""
        self._seen = []
        if not self._before:
            yield
            return
        over = Event()
        sampler = Thread(target=self._sample_until, args=(over,), name="cards", daemon=True)
        sampler.start()
        try:
            yield
        finally:
            over.set()
            sampler.join(SAMPLE_S)

    def facts(self) -> CardFacts:
        """Return what was seen in the last block."""
        if self._before is None:
            return CardFacts()
        return card_facts(self._leased, self._before, self._seen) if self._before else NO_CARDS

    def _sample_until(self, over: Event) -> None:
        while not over.is_set():
            cards = sampled(self._samples)
            if cards:
                self._seen.append(_Seen(cards, frozenset(self._server_pids())))
            over.wait(SAMPLE_S)


def sampled(samples: Callable[[], Samples]) -> Samples | None:
    """Return the cards as they are now; None where the device fails to tell."""
    try:
        return samples()
    except (OSError, ValueError, SubprocessError, DeviceError):
        return None


def card_facts(leased: Sequence[int], before: Samples, seen: Sequence[_Seen]) -> CardFacts:
    """Return what samples of all cards say of the leased ones."""
    ours = [[card for card in moment.cards if card.number in leased] for moment in seen]
    flat = [card for cards in ours for card in cards]
    return CardFacts(
        cards_leased=tuple(str(number) for number in leased),
        cards_used=_used(seen),
        strangers=_strangers(leased, seen),
        card_memory_before=_most(card.memory_used for card in before if card.number in leased),
        card_clock_share=_least(
            card.clock for card in flat if card.busy is None or card.busy >= UNDER_LOAD
        ),
        card_temperature_c=_most(card.temperature_c for card in flat),
        card_temperature_limit_c=_least(card.temperature_limit_c for card in flat),
        card_busy=_busy(leased, flat),
    )


def _used(seen: Sequence[_Seen]) -> tuple[str, ...] | None:
    """Return the cards with a process of the server; None where processes are not told."""
    if not seen or any(card.pids is None for moment in seen for card in moment.cards):
        return None
    numbers = {
        card.number
        for moment in seen
        for card in moment.cards
        if moment.server.intersection(card.pids or ())
    }
    return tuple(str(number) for number in sorted(numbers))


def _strangers(leased: Sequence[int], seen: Sequence[_Seen]) -> tuple[str, ...] | None:
    """Return the processes on leased cards that are not the server's."""
    ours = [(moment, card) for moment in seen for card in moment.cards if card.number in leased]
    if not ours or any(card.pids is None for _, card in ours):
        return None
    found = {
        (card.number, pid) for moment, card in ours for pid in set(card.pids or ()) - moment.server
    }
    return tuple(f"process {pid} on card {number}" for number, pid in sorted(found))


def _busy(leased: Sequence[int], ours: Sequence[CardSample]) -> tuple[float, ...] | None:
    means = []
    for number in leased:
        told = [card.busy for card in ours if card.number == number and card.busy is not None]
        if not told:
            return None
        means.append(sum(told) / len(told))
    return tuple(means)


def _most(values: Iterable[float | None]) -> float | None:
    """Return the highest value; None where any is not told, for it might be the highest."""
    return _bound(max, tuple(values))


def _least(values: Iterable[float | None]) -> float | None:
    return _bound(min, tuple(values))


def _bound(pick: Callable[[list[float]], float], values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return pick(told) if told and len(told) == len(values) else None
