"""What to measure next: the most wanted, least known and oldest first, within a budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What nobody measured for so many days is as good as half forgotten.
STALE_DAYS = 30.0
# A question that was asked so long ago counts half.
ASKED_HALF_DAYS = 14.0


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
