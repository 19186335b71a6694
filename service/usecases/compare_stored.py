"""Compare what is stored of two runs, or of two stacks, cell by cell and host by host."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from uuid import UUID

from service.domain.cell import Cell
from service.domain.comparison import Obstacle
from service.domain.condition import Condition
from service.domain.difference import Difference, differences
from service.domain.host import UNKNOWN_HOST
from service.domain.policy import Policy
from service.domain.verdict import Outcome, foremost
from service.formats.comparisons import CellComparison, CellsCompared
from service.formats.verdicts import DifferenceRead
from service.store import conditions, protocols, runs, stacks
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.history import expected_of_pairs
from service.usecases.look_back import Judged, look_back
from service.usecases.sides import Arm, NamedStack, Pair, compared, load

# As many runs of each stack as are looked at.
RUNS = 20_000
# As many cells of each stack as are searched for the two that differ least.
CELLS = 50


ByCell = Mapping[Cell, Mapping[str, Sequence[StoredRun]]]
# A stack, and its runs of one cell by host.
OfCell = tuple[NamedStack, Mapping[str, Sequence[StoredRun]]]


class UnlikeKindsError(ValueError):
    """A run was to be compared with a stack."""

    def __init__(self) -> None:
        super().__init__("a comparison is of two run ids or of two stacks, not of one each")


class NothingMeasuredError(LookupError):
    """A stack has no run at all."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} has no run yet")


@dataclass(frozen=True, slots=True)
class Asked:
    """One side of what was asked for: its stack and its runs. is_stack: all runs of the stack."""

    shown: str
    stack: NamedStack
    runs: Sequence[StoredRun]
    is_stack: bool = False

    def by_cell(self) -> ByCell:
        """Return the runs by cell, and then by host: there are too many to look for a cell's."""
        found: dict[Cell, dict[str, list[StoredRun]]] = defaultdict(lambda: defaultdict(list))
        for run in self.runs:
            found[run.cell][run.host].append(run)
        return found


def compare_stored(
    session: ReadSession, *, baseline: str, candidate: str, policy: Policy
) -> CellsCompared:
    """Return the comparison of two runs, by id, or of two stacks, by a key's first digits or name.

    Cells are compared on each host that measured both; of two stacks, with the last accepted one
    between them as well. Where the sides share no cell the answer
    is a refusal that names the fields in which the two likest cells differ.
    Raises UnlikeKindsError, NothingMeasuredError, UnknownRunError and UnknownStackError.
    """
    before, after = _sides(session, baseline, candidate)
    pairs = _pairs(before, after)
    if not pairs:
        return _refused(session, before, after)
    cells = compare_pairs(session, pairs, policy=policy, looking_back=before.is_stack)
    return CellsCompared(
        baseline=before.shown,
        candidate=after.shown,
        comparable=True,
        outcome=foremost(cell.comparison.outcome for cell in cells),
        differences=(),
        cells=cells,
    )


def compare_pairs(
    session: ReadSession, pairs: Sequence[Pair], *, policy: Policy, looking_back: bool
) -> tuple[CellComparison, ...]:
    """Return the comparison of each pair; looking_back: with the last accepted stack as well."""
    stored = load(session, pairs)
    cells = tuple(
        compared(pair, stored, policy=policy, expected=expected)
        for pair, expected in zip(pairs, expected_of_pairs(session, pairs), strict=True)
    )
    if looking_back:
        return look_back(session, [*map(Judged, pairs, cells)], policy=policy)
    return cells


def _sides(session: ReadSession, baseline: str, candidate: str) -> tuple[Asked, Asked]:
    ids = _run_id(baseline), _run_id(candidate)
    match ids:
        case UUID() as first, UUID() as second:
            return _of_run(session, first), _of_run(session, second)
        case None, None:
            return _of_stack(session, baseline), _of_stack(session, candidate)
        case _:
            raise UnlikeKindsError


def _run_id(text: str) -> UUID | None:
    """Return a run's id, or None for a stack's key, which has no hyphens, and its name."""
    try:
        return UUID(text) if "-" in text else None
    except ValueError:
        return None


def _of_run(session: ReadSession, run_id: UUID) -> Asked:
    run = runs.read(session, run_id)
    name = stacks.names(session, [run.stack_key])[run.stack_key]
    return Asked(str(run_id), NamedStack(run.stack_key, name), [run])


def _of_stack(session: ReadSession, key: str) -> Asked:
    stack = stacks.read(session, key).stack
    found = runs.of_stack(session, stack.key, limit=RUNS)
    if not found:
        raise NothingMeasuredError(stack.name)
    return Asked(stack.key, NamedStack(stack.key, stack.name), found, is_stack=True)


def _pairs(before: Asked, after: Asked) -> list[Pair]:
    left, right = before.by_cell(), after.by_cell()
    return [
        pair_of((before.stack, left[cell]), (after.stack, of_cell), cell, host)
        for cell, of_cell in right.items()
        if cell in left
        for host in hosts_of(left[cell], of_cell)
    ]


def hosts_of(before: Collection[str], after: Collection[str]) -> Sequence[str]:
    """Return the hosts that measured both sides, or where none did, the candidate's."""
    return sorted(set(before) & set(after) or after)


def pair_of(before: OfCell, after: OfCell, cell: Cell, host: str) -> Pair:
    """Return a cell on a host with the runs of both stacks there."""
    (baseline, earlier), (candidate, later) = before, after
    hosts = ", ".join(sorted(earlier))
    where = f"never on {host}" if host != UNKNOWN_HOST else "the candidate nobody knows where"
    absent = Obstacle(
        Outcome.INSUFFICIENT_BASELINE, f"{baseline.name} was measured on {hosts}, {where}"
    )
    return Pair(
        cell=cell,
        baseline_stack=baseline,
        baseline=Arm(earlier.get(host, []), absent),
        candidate_stack=candidate,
        candidate=Arm(later.get(host, []), Obstacle(Outcome.MISSING, f"no run on {host}")),
        host=host,
        against="stored",
    )


def _refused(session: ReadSession, before: Asked, after: Asked) -> CellsCompared:
    return CellsCompared(
        baseline=before.shown,
        candidate=after.shown,
        comparable=False,
        outcome=Outcome.NOT_COMPARABLE,
        differences=tuple(DifferenceRead.of(each) for each in _likest(session, before, after)),
        cells=(),
    )


def _likest(session: ReadSession, before: Asked, after: Asked) -> tuple[Difference, ...]:
    """Return the differences of the two cells that differ least, in condition and protocol."""
    left, right = _identities(session, before.runs), _identities(session, after.runs)
    return min((differences(one, other) for one in left for other in right), key=len)


def _identities(session: ReadSession, found: Iterable[StoredRun]) -> list[Mapping[str, object]]:
    """Return condition and protocol of each cell, a condition's fields under their own names."""
    cells = list(dict.fromkeys(run.cell for run in found))[:CELLS]
    under = conditions.by_key(session, {cell.condition_key for cell in cells})
    measured = protocols.by_key(session, {cell.protocol_key for cell in cells})
    return [
        {**_fields(under[cell.condition_key]), "protocol": measured[cell.protocol_key]}
        for cell in cells
    ]


def _fields(condition: Condition) -> Mapping[str, object]:
    return {each.name: getattr(condition, each.name) for each in fields(condition)}
