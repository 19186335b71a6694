"""The gate in CI: which cells count, what stops them early, and the one word for a candidate.

It is the gate of docs/ci-gate.md. The gates of service/domain/gates.py are something else: checks
that a run must pass before it is judged.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from service.domain.exit_code import EXIT_CODE
from service.domain.verdict import Outcome, foremost
from service.stats.gate_power import Chances, Looked, chances
from service.stats.spending import confidences
from service.stats.variance import Expected


class Standing(StrEnum):
    """Whether a cell decides the exit code, or is only shown."""

    GATES = "gates"
    INFORMS = "informs"


class Counts(StrEnum):
    """Whether a metric's verdict is counted, or why it is not; members in order of precedence."""

    INFORMS = "informs"
    KNOWN = "known"
    WAIVED = "waived"
    COUNTED = "counted"


class Stop(StrEnum):
    """Why a cell was measured less often than planned."""

    CERTAIN = "certain"
    CANARY = "canary"
    BROKEN = "broken"
    BUDGET = "budget"
    CANCELLED = "cancelled"


SEED = 1

# A waiver says that a worsening is known and accepted for a while. It never hides that something
# was not measured, broke or could not be compared.
WAIVABLE = frozenset({Outcome.REGRESSED, Outcome.INCONCLUSIVE})


def counting(
    outcome: Outcome, *, standing: Standing, has_incident: bool, is_waived: bool
) -> Counts:
    """Return whether a metric's outcome is counted.

    has_incident: an incident is open on the baseline in this cell. A candidate is not blamed for
    what the baseline already has; that it broke or was not measured is its own.
    """
    if standing is Standing.INFORMS:
        return Counts.INFORMS
    if outcome in WAIVABLE and has_incident:
        return Counts.KNOWN
    if outcome in WAIVABLE and is_waived:
        return Counts.WAIVED
    return Counts.COUNTED


def outcome_of(counted: Iterable[Outcome]) -> Outcome:
    """Return the one word for a candidate: the foremost of what is counted.

    Where nothing is counted at all (every cell informs, is waived or known) nothing was found that
    blocks, and nothing that says that all is well either: inconclusive.
    """
    found = list(counted)
    return foremost(found) if found else Outcome.INCONCLUSIVE


def exit_code(outcome: Outcome, *, inconclusive_blocks: bool) -> int:
    """Return the exit code of a gate; an outcome without power passes only where the plan says so.

    It never does so in silence: the answer keeps its word and the smallest effect it could have
    seen.
    """
    lets_pass = {Outcome.INCONCLUSIVE} if not inconclusive_blocks else set()
    return 0 if outcome in lets_pass else EXIT_CODE[outcome]


class RoundsError(ValueError):
    """The rounds at which verdicts are looked at do not fit the plan."""


@dataclass(frozen=True, slots=True)
class Looks:
    """After how many rounds verdicts are looked at. A round is one launch of each stack.

    rounds: rising; the last is all that are planned. Raises RoundsError.
    """

    rounds: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.rounds or self.rounds[0] < 1 or sorted(set(self.rounds)) != [*self.rounds]:
            raise RoundsError(f"looks are rising numbers of rounds from 1 on, not {self.rounds}")

    @property
    def planned(self) -> int:
        """How many rounds there are where nothing is stopped."""
        return self.rounds[-1]

    def due(self, measured: int) -> int:
        """Return the rounds of the newest look that so many measured rounds allow; 0 for none."""
        return max((each for each in self.rounds if each <= measured), default=0)

    def confidence(self, measured: int, *, whole: float) -> float:
        """Return the confidence of intervals after so many rounds, so that all looks keep `whole`.

        Rounds between two looks, where a budget ended it, are held to the stricter look before.
        """
        look = self.due(measured) or self.rounds[0]
        return confidences(self.rounds, whole=whole)[self.rounds.index(look)]


def looks_of(rounds: int, *, most: int = 4) -> Looks:
    """Return evenly spread looks for so many rounds, the first of them after two where it can be.

    One round alone tells nothing of how much launches differ, so it is looked at last of all.
    """
    first = min(2, rounds)
    spread = {max(first, -(-rounds * look // most)) for look in range(1, most + 1)}
    return Looks(tuple(sorted(spread)))


def planned_chances(
    expected: Expected,
    looks: Looks,
    *,
    repeats: int,
    tolerance: float,
    worsening: float,
    confidence: float,
) -> Chances:
    """Return how often a gate says what of a candidate that is worse by a ratio.

    expected: the spread of the metric. The same question has the same answer.
    """
    each = [looks.confidence(rounds, whole=confidence) for rounds in looks.rounds]
    return chances(
        expected,
        Looked(looks.rounds, each),
        repeats=repeats,
        tolerance=tolerance,
        worsening=worsening,
        seed=SEED,
    )


def is_certain(outcomes: Collection[Outcome]) -> bool:
    """Return whether more rounds cannot change what is said of a cell by its metrics' outcomes.

    One regressed metric is the word for the cell whatever the others become; and where all are
    unchanged or improved there is nothing left to find out.
    """
    passed = {Outcome.UNCHANGED, Outcome.IMPROVED}
    return Outcome.REGRESSED in outcomes or (bool(outcomes) and set(outcomes) <= passed)
