"""The answer to 'may we move from this stack to that one?', from what was measured of both."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.domain.stack import Stack, SwapScope
from service.domain.verdict import Outcome

# KV tokens lost that are no rounding of memory: the tolerance of kv_capacity.
KV_TOLERANCE = 0.01
# A component that needs a reboot sets two stacks further apart than one that needs a process.
WEIGHT = {SwapScope.PROCESS: 1, SwapScope.CONTAINER: 2, SwapScope.HOST: 4}


class Answer(StrEnum):
    """The one word for a deployment; members stand in order of precedence over many cells."""

    NO = "no"
    UNKNOWN = "unknown"
    COSTS = "yes, with costs"
    YES = "yes"


class Standing(StrEnum):
    """What one cell says of an upgrade; members stand in order of precedence."""

    BROKEN = "broken"
    MISSING = "missing"
    COSTS = "costs"
    OPEN = "open"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class CellEvidence:
    """What is known of both stacks in one cell.

    measured, broken: whether the candidate has a run that counts, and one that broke. outcome: of
    the comparison, None where there is none. moved: whether its answers moved beyond what launches
    of one stack do. kv_before, kv_after: tokens of the KV cache.
    """

    measured: bool
    broken: bool
    outcome: Outcome | None = None
    moved: bool = False
    kv_before: int | None = None
    kv_after: int | None = None

    @property
    def lost_kv(self) -> bool:
        """Whether the candidate's cache holds fewer tokens than rounding explains."""
        if not self.kv_before or self.kv_after is None:
            return False
        return self.kv_after < self.kv_before * (1 - KV_TOLERANCE)


def standing(evidence: CellEvidence) -> Standing:
    """Return what one cell says of an upgrade.

    Only improved and unchanged are fine: an inconclusive comparison says that nobody knows yet.
    """
    if evidence.broken:
        return Standing.BROKEN
    if not evidence.measured:
        return Standing.MISSING
    if evidence.outcome is Outcome.REGRESSED or evidence.moved or evidence.lost_kv:
        return Standing.COSTS
    fine = evidence.outcome in {Outcome.IMPROVED, Outcome.UNCHANGED}
    return Standing.FINE if fine else Standing.OPEN


def answered(cells: Collection[Standing], *, forbidden: bool) -> Answer:
    """Return the answer to an upgrade.

    forbidden: whether a declared constraint says no; it decides only where nothing was measured,
    for what was measured is known better. A missing cell may break, so with one nobody knows;
    where every cell is measured, one that costs outweighs one that is open.
    """
    if Standing.BROKEN in cells:
        return Answer.NO
    if not cells or Standing.MISSING in cells:
        return Answer.NO if forbidden else Answer.UNKNOWN
    if Standing.COSTS in cells:
        return Answer.COSTS
    return Answer.UNKNOWN if Standing.OPEN in cells else Answer.YES


def distance(wanted: Stack, other: Mapping[str, str], names: Iterable[str]) -> int:
    """Return how far a tested stack lies from one that is wanted, over some components.

    other: its versions by component name. Each that differs counts by what has to be restarted.
    """
    scopes = {part.name: part.scope for part in wanted.components}
    versions = wanted.versions
    return sum(
        WEIGHT[scopes.get(name, SwapScope.PROCESS)]
        for name in names
        if versions.get(name) != other.get(name)
    )


def measuring(
    plans: Mapping[str, str], *, stacks: Sequence[str], versions: Mapping[str, str]
) -> str | None:
    """Return the one command that measures exactly some cells, or None where nobody knows how.

    plans: by condition key, the plan that measured the cell before. stacks: by name, the baseline
    first. versions: what the last of them is to have instead.
    """
    by_plan: dict[str, list[str]] = {}
    for condition_key, plan in sorted(plans.items()):
        by_plan.setdefault(plan, []).append(condition_key)
    named = [word for name in stacks for word in ("--stack", name)]
    changed = [word for each in versions.items() for word in ("--with", "=".join(each))]
    commands = [
        " ".join(
            ["kunline run", plan, *named, *changed, *(f"--cell {key[:12]}" for key in sorted(keys))]
        )
        for plan, keys in sorted(by_plan.items())
    ]
    return " && ".join(commands) or None
