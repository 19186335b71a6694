"""Kunlunxin's cards: what `xpu-smi` and the host's files tell of them, joined by PCI address."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from runners.devices.cpu import NoCardsError, below_everything
from runners.devices.device import Card, CardSample, JoinError, Memory, Probe, Topology
from runners.devices.host import DeviceError, Host, ProgramError
from runners.devices.kunlun import listing, machine, older_table, query, table, topology
from runners.devices.kunlun.host_files import CONTROL, UNSEEN, host_facts, node_problem
from runners.devices.kunlun.query import QueriedCard, Query
from runners.devices.kunlun.smi import MIB, SmiError, XpuSmi
from service.domain.stack import UNKNOWN

# By the last three digits of a part number: two classes of OAM with other collective baselines.
PART_CLASSES = {
    "B00100300110112": "VC",
    "B00100300110312": "VD",
    "B00100300110211": "PCIe",
}
# By model; of a slice the tool tells less (HAMi gives out quarters and halves of a card).
WHOLE_BYTES = {"P800": 98304 * MIB}
LEAST_OF_A_WHOLE = 0.9
# A sample is late after this: the next one is due.
SAMPLE_LIMIT_S = 5.0

_OF_A_CARD = {
    "card-model": ("product name",),
    "card-architecture": ("product architecture",),
    "card-part-number": ("xpu part number",),
    "card-firmware": ("firmware version", "all version"),
    "card-cpld": ("firmware version", "cpld version"),
    "card-ecc": ("ecc mode", "current"),
    "card-power-limit": ("enforced power limit",),
    "card-pcie-generation": ("pcie generation", "current"),
}


@dataclass(slots=True)
class KunlunDevice:
    """The cards of one host.

    It starts no program but `xpu-smi`, and that only to ask. A card's number is its index there;
    its device node and its number inside torch are others, and are joined and never assumed.
    """

    host: Host = field(default_factory=Host)
    interface_version: ClassVar[int] = 3
    _indexes: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The chip's name."""
        return "kunlun"

    def cards(self) -> tuple[Card, ...]:
        """Return the cards whose device node this process may open, by their `xpu-smi` index.

        Raises DeviceError where the tool's forms contradict each other, or show an older chip.
        """
        every = self._joined(self._query(self._asking()))
        return tuple(card for card in every if node_problem(self.host, _node(card)) is None)

    def environment(self, cards: Sequence[Card]) -> Mapping[str, str]:
        """Return both variables that hide the other cards, equal, in the order of the ranks.

        The measured torch counts in an order of its own; until a card's ordinal is known, its
        index stands for it, and which cards the server is on is looked at after its start.
        Raises NoCardsError for none.
        """
        if not cards:
            raise NoCardsError("no card was given to serve on")
        visible = ",".join(
            str(card.number if card.ordinal is None else card.ordinal) for card in cards
        )
        return {"CUDA_VISIBLE_DEVICES": visible, "XPU_VISIBLE_DEVICES": visible}

    def memory(self, card: Card) -> Memory:
        """Return a card's memory. Raises DeviceError, also where the card is gone."""
        for seen in self._query(self._asking()).cards:
            if seen.address == card.address:
                total = seen.memory_total_bytes
                return Memory(free_bytes=total - seen.memory_used_bytes, total_bytes=total)
        raise JoinError(f"card {card.number} at {card.address} is no longer told of")

    def samples(self) -> Sequence[CardSample]:
        """Return every card as it is now: one call of `xpu-smi -q`. Raises DeviceError."""
        found = self._query(XpuSmi(self.host, SAMPLE_LIMIT_S)).cards
        if {card.address for card in found} != set(self._indexes):
            self._joined(Query(None, None, found))
        return tuple(_sample(self._indexes[card.address], card) for card in found)

    def topology(self) -> Topology:
        """Return the matrix of `xpu-smi topo -m`. Raises DeviceError."""
        found = topology.topology_of(self._asking().said("topo", "-m"))
        cards = topology.cards_in(found)
        if self._indexes and cards != len(self._indexes):
            raise JoinError(f"topo -m shows {cards} cards, and -q {len(self._indexes)}")
        return found

    def facts(self) -> Mapping[str, str]:
        """Return versions below the measured Python; several of a kind with how many have each."""
        try:
            asked = self._query(self._asking())
            of_cards = _facts(asked)
        except DeviceError:
            of_cards = dict.fromkeys(
                (*_OF_A_CARD, "card-class", "kunlun-driver", "xpu-rt"), UNKNOWN
            )
        try:
            matrix = self.topology().digest
        except DeviceError:
            matrix = UNKNOWN
        below = below_everything(self.host)
        return {**below, **host_facts(self.host), **of_cards, "topology": matrix}

    def problems(self) -> Sequence[str]:
        """Return what is wrong with nodes, driver and memory, each with what to do about it."""
        try:
            asked = self._query(self._asking())
            cards = self._joined(asked)
        except DeviceError as error:
            return (f"{error}: pack a bundle for the maintainers if the tool is the right one",)
        nodes = [node_problem(self.host, node) for node in (*map(_node, cards), CONTROL)]
        return (
            *(problem for problem in nodes if problem is not None),
            *_driver_problems(self.host, asked),
            *_ecc_problems(asked, self._indexes),
            *_slice_problems(asked, self._indexes),
        )

    def probe(self) -> Probe:
        """Return what this torch calls the cards: it takes the names of CUDA."""
        return Probe("cuda", "nccl", has_events=True, has_graphs=True)

    def _asking(self) -> XpuSmi:
        return XpuSmi(self.host)

    def _query(self, asking: XpuSmi) -> Query:
        text = asking.said("-q")
        if older_table.is_older(text):
            models = ", ".join(sorted({card.model for card in older_table.older_tabled(text)}))
            raise SmiError(query.FORM, f"{models}: no public stack of SGLang runs on this chip")
        return query.queried(text)

    def _joined(self, asked: Query) -> tuple[Card, ...]:
        """Return the cards of `-q` with the index that the table gives each PCI address."""
        asking = self._asking()
        shown = {card.address: card for card in table.tabled(asking.said()).cards}
        _require_same("the table", set(shown), {card.address for card in asked.cards})
        _require_listed(asking, {shown[card.address].index: card for card in asked.cards})
        _require_machine(asking, {card.address for card in asked.cards})
        self._indexes = {place: card.index for place, card in shown.items()}
        cards = [_card(self._indexes[card.address], card) for card in asked.cards]
        return tuple(sorted(cards, key=lambda card: card.number))


def part_class(part_number: str | None) -> str:
    """Return the class of a part number: VC, VD, PCIe, or 'unknown'."""
    return PART_CLASSES.get(part_number or "", UNKNOWN)


def _card(index: int, seen: QueriedCard) -> Card:
    model, _, form = seen.model.rpartition(" ")
    known = form in {"OAM", "PCIe"}
    return Card(
        number=index,
        model=model if known else seen.model,
        form=form if known else UNKNOWN,
        uuid=seen.uuid,
        address=seen.address,
        minor=seen.minor,
    )


def _node(card: Card) -> str:
    """Return a card's device node. Only where no minor is told does its index stand for it."""
    return f"/dev/xpu{card.number if card.minor is None else card.minor}"


def _sample(index: int, card: QueriedCard) -> CardSample:
    total = card.memory_total_bytes
    return CardSample(
        number=index,
        memory_used=card.memory_used_bytes / total if total else None,
        temperature_c=card.temperature_c,
        busy=card.busy,
        pids=card.pids,
        power_w=card.power_w,
        clock_hz=card.clock_hz,
        ecc_uncorrected=card.ecc_uncorrected,
        memory_bytes=card.memory_used_bytes,
    )


def _require_same(form: str, told: set[str], wanted: set[str]) -> None:
    if told != wanted:
        unlike = ", ".join(sorted(told ^ wanted))
        raise JoinError(f"{form} of xpu-smi and -q show other cards: they differ in {unlike}")


def _require_listed(asking: XpuSmi, by_index: Mapping[int, QueriedCard]) -> None:
    """Raise JoinError where `-L` gives an index to another UUID than table and `-q` together."""
    told = {card.index: card.uuid for card in listing.listed(asking.said("-L"))}
    wanted = {index: card.uuid for index, card in by_index.items()}
    if told != wanted:
        unlike = sorted(index for index in {*told, *wanted} if told.get(index) != wanted.get(index))
        raise JoinError(f"-L and -q of xpu-smi disagree on the UUIDs of cards {unlike}")


def _require_machine(asking: XpuSmi, wanted: set[str]) -> None:
    """Raise where `-m` shows other cards; a release without that form is let be."""
    try:
        text = asking.said("-m")
    except ProgramError:
        return
    _require_same("-m", {line.address for line in machine.machine_lines(text)}, wanted)


def _facts(asked: Query) -> Mapping[str, str]:
    of_cards = {
        name: _together([card.field(*words) for card in asked.cards])
        for name, words in _OF_A_CARD.items()
    }
    return {
        **of_cards,
        "card-class": _together([part_class(card.part_number) for card in asked.cards]),
        "kunlun-driver": asked.driver or UNKNOWN,
        # Opaque, with where it stands: it is not the release of the runtime in a container.
        "xpu-rt": f"{asked.runtime} (xpu-smi -q)" if asked.runtime else UNKNOWN,
    }


def _together(values: Sequence[str | None]) -> str:
    """Return what all cards have, or each value with how many cards have it."""
    counted = Counter(value or UNKNOWN for value in values)
    if len(counted) <= 1:
        return next(iter(counted), UNKNOWN)
    return ", ".join(f"{value} x{times}" for value, times in sorted(counted.items()))


def _driver_problems(host: Host, asked: Query) -> Sequence[str]:
    loaded = host_facts(host)["kunlun-driver-proc"]
    if loaded in UNSEEN or asked.driver in {None, loaded}:
        return ()
    seen = f"xpu-smi tells driver {asked.driver}, and the loaded module is {loaded}"
    return (f"{seen}: a tool of another container is used, or the host wants a reboot",)


def _ecc_problems(asked: Query, indexes: Mapping[str, int]) -> Sequence[str]:
    return [
        f"card {indexes[card.address]} has {card.ecc_uncorrected} uncorrected memory errors: "
        "take it out of the pool and tell the vendor"
        for card in asked.cards
        if card.ecc_uncorrected
    ]


def _slice_problems(asked: Query, indexes: Mapping[str, int]) -> Sequence[str]:
    """Return the cards that are slices: their neighbours share clocks, links and memory's speed."""
    found = []
    for card in asked.cards:
        model = card.model.split(" ")[0]
        whole, there = WHOLE_BYTES.get(model, 0), card.memory_total_bytes
        if there < LEAST_OF_A_WHOLE * whole:
            found.append(
                f"card {indexes[card.address]} has {there // MIB} MiB, and a whole {model} has "
                f"{whole // MIB}: it is a slice, of which no baseline can be made; ask for whole "
                "cards (kunlunxin.com/xpu in place of kunlunxin.com/vxpu)"
            )
    return found
