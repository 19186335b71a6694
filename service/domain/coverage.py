"""What to measure next: the most wanted, least known and oldest first, within a budget."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What nobody measured for so many days is as good as half forgotten.
STALE_DAYS = 30.0
# A question that was asked so long ago counts half.
ASKED_HALF_DAYS = 14.0
# What a launch of a cell is taken to cost that nobody measured: its start-up, and its repeats.
ASSUMED_START_S = 120.0
ASSUMED_MEASURE_S = 180.0
ASSUMED_LAUNCHES = 3


@dataclass(frozen=True, slots=True)
class CellCost:
    """What measuring one cell on one stack costs.

    server: what a server is started with; cells of one server share its launches. start_s: of a
    launch; measure_s: of the cell in one launch; launches: of each stack. assumed: whether
    nobody measured it before, and the figures are only those from above.
    """

    server: str
    cards: int
    start_s: float = ASSUMED_START_S
    measure_s: float = ASSUMED_MEASURE_S
    launches: int = ASSUMED_LAUNCHES
    assumed: bool = True


def card_seconds(cells: Iterable[CellCost], *, stacks: int) -> float:
    """Return the card time of measuring cells on so many stacks, in seconds."""
    by_server: dict[str, list[CellCost]] = defaultdict(list)
    for cell in cells:
        by_server[cell.server].append(cell)
    return stacks * sum(_of_one_server(its) for its in by_server.values())


def _of_one_server(cells: Sequence[CellCost]) -> float:
    launches = max(cell.launches for cell in cells)
    cards = max(cell.cards for cell in cells)
    launch_s = max(cell.start_s for cell in cells) + sum(cell.measure_s for cell in cells)
    return launches * launch_s * cards


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be measured.

    asked: how often people asked about it; asked_days: how long ago last. open_cells: cells that
    nobody knows the answer of; cells: all that would be measured. age_days: of the oldest evidence
    about it; 0 for what has none. seconds: card time.
    """

    name: str
    asked: int
    asked_days: float
    open_cells: int
    cells: int
    age_days: float
    seconds: float

    @property
    def worth(self) -> float:
        """How much is learnt for whom: wishes, each worth less with time, times what is open."""
        wanted: float = 1 + self.asked * 0.5 ** (self.asked_days / ASKED_HALF_DAYS)
        unknown = self.open_cells / max(self.cells, 1)
        return wanted * (unknown + self.age_days / STALE_DAYS)


def proposed(candidates: Iterable[Candidate], *, budget_s: float) -> Sequence[Candidate]:
    """Return what to measure, the most worth for its time first, as far as the budget goes."""
    left = budget_s
    chosen = []
    ranked = sorted(candidates, key=lambda each: (-each.worth / max(each.seconds, 1.0), each.name))
    for each in ranked:
        if each.worth > 0 and each.seconds <= left:
            chosen.append(each)
            left -= each.seconds
    return chosen
