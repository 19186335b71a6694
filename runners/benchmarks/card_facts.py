"""What samples of the cards say of one load: facts for the gates, values, and the evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from runners.devices.device import CardSample
from service.domain.soak import Growth, growth, scaled
from service.domain.validity import Gate

# Between requests a card falls to its idle clock, which is no throttling.
UNDER_LOAD = 0.5
MIB = 2**20
HOUR_S = 3600.0
COLUMNS = (
    "seconds",
    "card",
    "memory_bytes",
    "memory_used",
    "busy",
    "clock_hz",
    "clock",
    "temperature_c",
    "power_w",
    "server_pids",
    "other_pids",
)

Samples = Sequence[CardSample]


@dataclass(frozen=True, slots=True)
class Moment:
    """All cards at one moment, and the server's processes at the same. at_s: since the begin."""

    at_s: float
    cards: Samples
    server: frozenset[int]


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
    card_memory_growth: Growth | None = None


@dataclass(frozen=True, slots=True)
class CardsSeen:
    """The cards beside one load.

    metrics: values in base units. evidence: by gate, the sample that speaks for its finding.
    table: every sample as CSV, empty where none was taken.
    """

    facts: CardFacts = CardFacts()
    metrics: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[Gate, str] = field(default_factory=dict)
    table: bytes = b""


NO_CARDS = CardFacts(cards_leased=())
NOTHING_SEEN = CardsSeen()


@dataclass(frozen=True, slots=True)
class _Sample:
    """A leased card at a moment. clock: over the one it is set to, or the highest that was seen."""

    at_s: float
    card: CardSample
    clock: float | None
    server: frozenset[int]

    @property
    def strangers(self) -> frozenset[int]:
        return frozenset(self.card.pids or ()) - self.server

    @property
    def under_load(self) -> bool:
        return self.card.busy is None or self.card.busy >= UNDER_LOAD


def cards_seen(leased: Sequence[int], before: Samples, moments: Sequence[Moment]) -> CardsSeen:
    """Return what samples of all cards say of the leased ones. before: before the launch."""
    ours = _ours(leased, before, moments)
    busy = _busy(leased, ours)
    facts = CardFacts(
        cards_leased=tuple(str(number) for number in leased),
        cards_used=_used(moments),
        strangers=_strangers(ours),
        card_memory_before=_most(card.memory_used for card in before if card.number in leased),
        card_clock_share=_least(each.clock for each in ours if each.under_load),
        card_temperature_c=_most(each.card.temperature_c for each in ours),
        card_temperature_limit_c=_least(each.card.temperature_limit_c for each in ours),
        card_busy=busy,
        card_memory_growth=_growth(leased, ours),
    )
    return CardsSeen(facts, _metrics(facts, ours), _evidence(leased, ours, busy), table_of(moments))


def table_of(moments: Sequence[Moment]) -> bytes:
    """Return every sample of every card as CSV, one line each; what is not told is empty."""
    if not moments:
        return b""
    rows = [_row(moment, card) for moment in moments for card in moment.cards]
    return "".join(f"{','.join(row)}\n" for row in (COLUMNS, *rows)).encode()


def _row(moment: Moment, card: CardSample) -> Sequence[str]:
    told = (
        card.memory_bytes,
        card.memory_used,
        card.busy,
        card.clock_hz,
        card.clock,
        card.temperature_c,
        card.power_w,
    )
    pids = card.pids or ()
    return (
        f"{moment.at_s:.2f}",
        str(card.number),
        *("" if value is None else f"{value:.7g}" for value in told),
        " ".join(str(pid) for pid in pids if pid in moment.server),
        " ".join(str(pid) for pid in pids if pid not in moment.server),
    )


def _ours(leased: Sequence[int], before: Samples, moments: Sequence[Moment]) -> Sequence[_Sample]:
    """Return the samples of the leased cards.

    A card that tells only how fast it runs is held to the fastest of the leased ones that was
    seen since before the launch: they are of one model and set alike.
    """
    cards = (card for each in (before, *(moment.cards for moment in moments)) for card in each)
    fastest = max((card.clock_hz or 0.0 for card in cards if card.number in leased), default=0.0)

    def clock(card: CardSample) -> float | None:
        if card.clock is not None or card.clock_hz is None or not fastest:
            return card.clock
        return card.clock_hz / fastest

    return [
        _Sample(moment.at_s, card, clock(card), moment.server)
        for moment in moments
        for card in moment.cards
        if card.number in leased
    ]


def _used(moments: Sequence[Moment]) -> tuple[str, ...] | None:
    """Return the cards with a process of the server; None where processes are not told."""
    if not moments or any(card.pids is None for moment in moments for card in moment.cards):
        return None
    numbers = {
        card.number
        for moment in moments
        for card in moment.cards
        if moment.server.intersection(card.pids or ())
    }
    return tuple(str(number) for number in sorted(numbers))


def _strangers(ours: Sequence[_Sample]) -> tuple[str, ...] | None:
    """Return the processes on leased cards that are not the server's."""
    if not ours or any(each.card.pids is None for each in ours):
        return None
    found = {(each.card.number, pid) for each in ours for pid in each.strangers}
    return tuple(f"process {pid} on card {number}" for number, pid in sorted(found))


def _busy(leased: Sequence[int], ours: Sequence[_Sample]) -> tuple[float, ...] | None:
    means = []
    for number in leased:
        cards = (each.card for each in ours if each.card.number == number)
        told = [card.busy for card in cards if card.busy is not None]
        if not told:
            return None
        means.append(sum(told) / len(told))
    return tuple(means)


def _growth(leased: Sequence[int], ours: Sequence[_Sample]) -> Growth | None:
    """Return the largest growth of a card's used share of memory; None where any is not told."""
    grown: list[Growth] = []
    for number in leased:
        of_card = [each for each in ours if each.card.number == number]
        used = [each.card.memory_used for each in of_card if each.card.memory_used is not None]
        found = growth([each.at_s for each in of_card], used)
        if len(used) != len(of_card) or found is None:
            return None
        grown.append(found)
    return max(grown, key=lambda each: each.center, default=None)


def _leak(leased: Sequence[int], ours: Sequence[_Sample]) -> str | None:
    """Return which card's memory grows most, by how much an hour, and how long that can go on."""
    told = []
    for number in leased:
        of_card = [each for each in ours if each.card.number == number and each.card.memory_bytes]
        used = [float(each.card.memory_bytes or 0) for each in of_card]
        found = growth([each.at_s for each in of_card], used)
        if found is not None and (lasted_s := of_card[-1].at_s - of_card[0].at_s):
            told.append((scaled(found, HOUR_S / lasted_s / MIB), of_card[-1]))
    if not told:
        return None
    an_hour, last = max(told, key=lambda each: each[0].center)
    words = (
        f"card {last.card.number} takes {an_hour.center:.0f} MiB more an hour "
        f"({an_hour.low:.0f} to {an_hour.high:.0f})"
    )
    share = last.card.memory_used
    if an_hour.center <= 0 or not share or not last.card.memory_bytes:
        return words
    left = last.card.memory_bytes / MIB * (1 / share - 1)
    return f"{words}, and would be full in {left / an_hour.center:.1f} hours"


def _metrics(facts: CardFacts, ours: Sequence[_Sample]) -> Mapping[str, float]:
    """Return values of the load; none that is zero, of which no change could be told."""
    peak = _most(each.card.memory_bytes for each in ours)
    busy = facts.card_busy or ()
    found = {
        "hbm_peak": peak,
        "card_balance": min(busy) / max(busy) if len(busy) > 1 and max(busy) else None,
        "card_clock": facts.card_clock_share,
    }
    return {name: value for name, value in found.items() if value}


def _evidence(
    leased: Sequence[int], ours: Sequence[_Sample], busy: Sequence[float] | None
) -> Mapping[Gate, str]:
    hot = [each for each in ours if each.card.temperature_c is not None]
    slow = [each for each in ours if each.clock is not None and each.under_load]
    found = {
        Gate.CARD_HOT: max(hot, key=lambda each: each.card.temperature_c or 0.0, default=None),
        Gate.CARD_THROTTLED: min(slow, key=lambda each: each.clock or 0.0, default=None),
        Gate.STRANGER_ON_CARDS: next((each for each in ours if each.strangers), None),
        Gate.CARD_MEMORY_CREEPS: max(ours, key=_memory, default=None),
    }
    told = {gate: _told(each, len(ours)) for gate, each in found.items() if each is not None}
    if leak := _leak(leased, ours):
        told[Gate.CARD_MEMORY_CREEPS] = f"{leak}; {told[Gate.CARD_MEMORY_CREEPS]}"
    if busy:
        shares = zip(leased, busy, strict=True)
        listed = ", ".join(f"card {number} {share:.2f}" for number, share in shares)
        told[Gate.CARD_IMBALANCE] = f"means of {len(ours)} samples: {listed}"
    return MappingProxyType(told)


def _memory(sample: _Sample) -> float:
    return sample.card.memory_used or 0.0


def _told(sample: _Sample, count: int) -> str:
    """Return one sample in words: everything that the card told at that moment."""
    card = sample.card
    parts = (
        (card.temperature_c, "{:g} °C"),
        (sample.clock, "{:.2f} of its clock"),
        (card.clock_hz and card.clock_hz / 1e6, "{:g} MHz"),
        (card.busy, "{:.2f} busy"),
        (card.memory_bytes and card.memory_bytes / MIB, "{:.0f} MiB used"),
        (card.power_w, "{:g} W"),
    )
    seen = [words.format(value) for value, words in parts if value is not None]
    others = sorted(sample.strangers)
    seen += [f"other processes {', '.join(map(str, others))}"] if others else []
    return f"card {card.number} at second {sample.at_s:.1f}, of {count} samples: {', '.join(seen)}"


def _most(values: Iterable[float | None]) -> float | None:
    """Return the highest value; None where any is not told, for it might be the highest."""
    return _bound(max, tuple(values))


def _least(values: Iterable[float | None]) -> float | None:
    return _bound(min, tuple(values))


def _bound(pick: Callable[[list[float]], float], values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return pick(told) if told and len(told) == len(values) else None
