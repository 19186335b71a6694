"""Read the matrix: a row for each cell, and in it a verdict on each of some stacks."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from service.domain.cell import Cell, title
from service.domain.condition import Condition
from service.domain.metric import METRICS, Metric, metric_named
from service.domain.verdict import Outcome
from service.formats.matrix_view import (
    ConditionFields,
    MatrixRead,
    MatrixRow,
    MetricRead,
    Square,
)
from service.formats.stack_differences import StackNamed
from service.store import baselines, conditions, marks, measured, stacks
from service.store.database import ReadSession
from service.store.judged import Judged
from service.store.measured import Measured
from service.usecases.judge_squares import (
    Answers,
    Place,
    Squares,
    digest,
    histories_of,
    judge_squares,
)
from service.usecases.measured_squares import measured_squares
from service.usecases.pieces import Pieces, joined
from service.usecases.sides import JUDGED, NamedStack

# As many pins as are looked at.
PINS = 5000
# As many squares as one answer holds: of many stacks it has fewer rows.
ANSWERED = 3000


class NotJudgedError(ValueError):
    """A metric is shown beside verdicts, and has none of its own."""

    def __init__(self, name: str) -> None:
        names = ", ".join(metric.name for metric in JUDGED)
        super().__init__(f"{name} is shown and not judged by itself; judged are {names}")


@dataclass(frozen=True, slots=True)
class MatrixQuestion:
    """What is asked of the matrix.

    stacks: keys, or what they begin with; empty: the stack measured last that is no baseline.
    baseline: one stack for all rows; None: each row's pin in the channel. model: rows of that
    model alone. limit: of rows, and of many stacks fewer. after: the cell that an earlier answer
    ended with.
    """

    stacks: Sequence[str]
    metrics: Sequence[str]
    channel: str
    baseline: str | None
    model: str | None
    limit: int
    after: Cell | None


@dataclass(frozen=True, slots=True)
class Baselines:
    """What each cell is held to: one stack in all of them, or what is pinned in each."""

    named: NamedStack | None
    pinned: Mapping[Cell, NamedStack]

    @property
    def keys(self) -> set[str]:
        """The stacks that any cell is held to."""
        return {stack.key for stack in (self.named, *self.pinned.values()) if stack}

    def of(self, cell: Cell) -> NamedStack | None:
        """Return what a cell is held to, or None."""
        return self.named or self.pinned.get(cell)


@dataclass(frozen=True, slots=True)
class RowTold:
    """A row as JSON, and the outcome of each of its squares."""

    content: bytes
    outcomes: tuple[Outcome, ...]

    @property
    def weight(self) -> int:
        """Its bytes, and about as many for its name."""
        return 2 * len(self.content)


def list_metrics() -> tuple[MetricRead, ...]:
    """Return the closed list of what is measured."""
    return tuple(MetricRead.of(metric) for metric in METRICS.values())


def rests_on(session: ReadSession, asked: MatrixQuestion, *, rule: str) -> str:
    """Return a text that is another one whenever the matrix may be. Raises UnknownStackError.

    What is known of noise changes as sessions end, and as runs of theirs are withdrawn.
    """
    if asked.baseline is None:
        held_to = baselines.stack_keys(session, asked.channel)
    else:
        held_to = frozenset({_stack(session, asked.baseline).key})
    keys = [_stack(session, key).key for key in asked.stacks]
    if not keys and (last := measured.last_stack(session, without=held_to)) is not None:
        keys = [last]
    return digest(rule, marks.of_all(session), marks.of_stacks(session, {*keys, *held_to}), *keys)


def read_matrix(
    session: ReadSession,
    asked: MatrixQuestion,
    *,
    rule: str,
    rows: Pieces[RowTold],
    squares: Pieces[Measured],
) -> tuple[bytes, Sequence[Judged]]:
    """Return the matrix as JSON, and what had to be judged for it and may be kept.

    rule: a text that is another one whenever the rules may say something else. rows, squares:
    those that were told before, of which only what changed since is told anew.
    Raises UnknownStackError, UnknownMetricError and NotJudgedError.
    """
    metrics = _metrics(asked)
    held_to = _baselines(session, asked)
    if not (candidates := _candidates(session, asked, held_to)):
        return _nothing(asked, metrics).model_dump_json().encode(), ()
    keys = {stack.key for stack in candidates} | held_to.keys
    found = Squares.of(measured_squares(session, keys, kept=squares))
    cells = _cells(session, asked, found.cells_of(keys) | held_to.pinned.keys())
    page = cells[: min(asked.limit, ANSWERED // len(candidates))]
    places = [[found.place(cell, stack, held_to.of(cell)) for stack in candidates] for cell in page]
    fresh: list[Judged] = []

    def tell(missing: Sequence[int]) -> Sequence[RowTold]:
        lacking = [places[place] for place in missing]
        told, judged = _rows(session, lacking, metrics, rule=rule)
        fresh.extend(judged)
        return told

    told = rows.told(_names(session, places, metrics, rule=rule), tell)
    matrix = MatrixRead(
        against="channel" if held_to.named is None else "stack",
        channel=asked.channel,
        stacks=tuple(_shown(stack) for stack in candidates),
        metrics=tuple(metric.name for metric in metrics),
        rows=(),
        outcomes=Counter(chain.from_iterable(row.outcomes for row in told)),
        cursor=".".join(_order(page[-1])) if len(cells) > len(page) else None,
    )
    return joined(matrix, "rows", [row.content for row in told]), fresh


def _names(
    session: ReadSession,
    places: Sequence[Sequence[Place]],
    metrics: Sequence[Metric],
    *,
    rule: str,
) -> Sequence[tuple[object, ...]]:
    """Return all that each row rests on."""
    histories = histories_of(session, chain.from_iterable(places))
    shown = rule, *(metric.name for metric in metrics)
    return [
        (shown, _order(in_row[0].cell), *(place.name(histories) for place in in_row))
        for in_row in places
    ]


def _rows(
    session: ReadSession,
    places: Sequence[Sequence[Place]],
    metrics: Sequence[Metric],
    *,
    rule: str,
) -> tuple[Sequence[RowTold], Sequence[Judged]]:
    """Return some rows, and what of them had to be judged."""
    answers, fresh = judge_squares(session, list(chain.from_iterable(places)), rule=rule)
    under = conditions.by_key(session, {in_row[0].cell.condition_key for in_row in places})
    found = (
        _row(under[in_row[0].cell.condition_key], in_row, answers, metrics) for in_row in places
    )
    return [
        RowTold(row.model_dump_json().encode(), tuple(square.outcome for square in row.squares))
        for row in found
    ], fresh


def _nothing(asked: MatrixQuestion, metrics: Sequence[Metric]) -> MatrixRead:
    """Return the matrix of no stack at all: nothing was measured but baselines."""
    return MatrixRead(
        against="channel" if asked.baseline is None else "stack",
        channel=asked.channel,
        stacks=(),
        metrics=tuple(metric.name for metric in metrics),
        rows=(),
        outcomes={},
        cursor=None,
    )


def _metrics(asked: MatrixQuestion) -> Sequence[Metric]:
    found = [metric_named(name) for name in asked.metrics] or list(JUDGED)
    for metric in found:
        if metric not in JUDGED:
            raise NotJudgedError(metric.name)
    return found


def _baselines(session: ReadSession, asked: MatrixQuestion) -> Baselines:
    if asked.baseline is not None:
        return Baselines(_stack(session, asked.baseline), {})
    pinned = baselines.stacks_in_force(session, asked.channel, limit=PINS)
    names = stacks.names(session, pinned.values())
    named = {key: NamedStack(key, name) for key, name in names.items()}
    return Baselines(None, {cell: named[key] for cell, key in pinned.items()})


def _candidates(
    session: ReadSession, asked: MatrixQuestion, held_to: Baselines
) -> Sequence[NamedStack]:
    """Return the stacks to be judged, each once. Raises UnknownStackError."""
    if asked.stacks:
        found = [_stack(session, key) for key in asked.stacks]
        return list(dict.fromkeys(found))
    last = measured.last_stack(session, without=held_to.keys)
    return [] if last is None else [_stack(session, last)]


def _stack(session: ReadSession, key: str) -> NamedStack:
    stack = stacks.read(session, key).stack
    return NamedStack(stack.key, stack.name)


def _cells(session: ReadSession, asked: MatrixQuestion, among: Collection[Cell]) -> Sequence[Cell]:
    """Return the cells that are asked for, in order."""
    after = None if asked.after is None else _order(asked.after)
    cells = sorted((cell for cell in among if after is None or _order(cell) > after), key=_order)
    if asked.model is None:
        return cells
    under = conditions.by_key(session, {cell.condition_key for cell in cells})
    return [cell for cell in cells if under[cell.condition_key].model.id == asked.model]


def _order(cell: Cell) -> tuple[str, str]:
    return cell.condition_key, cell.protocol_key


def _row(
    condition: Condition, places: Sequence[Place], answers: Answers, metrics: Sequence[Metric]
) -> MatrixRow:
    cell, baseline = places[0].cell, places[0].baseline
    return MatrixRow(
        condition_key=cell.condition_key,
        protocol_key=cell.protocol_key,
        title=title(condition),
        fields=ConditionFields.of(condition),
        baseline=None if baseline is None else _shown(baseline),
        squares=tuple(_square(place, answers, metrics) for place in places),
    )


def _square(place: Place, answers: Answers, metrics: Sequence[Metric]) -> Square:
    answer = answers[place.subject]
    of_metric = {verdict["metric"]: verdict for verdict in answer["verdicts"]}
    return Square.model_validate(
        {
            **answer,
            "stack_key": place.candidate.key,
            "host": place.host,
            "hosts": place.hosts,
            "measured_at": place.found.measured_at if place.found else None,
            "verdicts": [of_metric[metric.name] for metric in metrics if metric.name in of_metric],
        }
    )


def _shown(stack: NamedStack) -> StackNamed:
    return StackNamed(name=stack.name, key=stack.key)
