"""The matrix as it is looked at: its rows are cells, its columns stacks, and each square a verdict.

A row is a condition with its protocol; a square is one stack in it, with one verdict a metric.
"""

from typing import Literal, Self

from pydantic import AwareDatetime, NonNegativeInt

from service.domain.condition import Condition, Load
from service.domain.metric import Better, Metric, Role, Unit
from service.domain.verdict import Outcome
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed
from service.formats.verdicts import VerdictRead


class MetricRead(Message):
    """One quantity that is measured. judged: by itself; the others are shown beside a verdict."""

    name: str
    unit: Unit
    better: Better
    judged: bool

    @classmethod
    def of(cls, metric: Metric) -> Self:
        """Return a metric as it is answered."""
        return cls(
            name=metric.name,
            unit=metric.unit,
            better=metric.better,
            judged=metric.role is Role.JUDGED,
        )


class ConditionFields(Message):
    """What rows are filtered and sorted by; the whole condition is under its key."""

    model: str
    quantization: str
    dtype: str
    card_model: str
    card_form: str
    cards: int
    tp: int
    pp: int
    dp: int
    ep: int
    dataset: str
    input_tokens: int
    output_tokens: int
    lengths: str
    shared_prefix_tokens: int
    load: Load
    concurrency: int | None
    rate: float | None

    @classmethod
    def of(cls, condition: Condition) -> Self:
        """Return the fields of a condition."""
        cards, spread, traffic = condition.cards, condition.parallelism, condition.traffic
        return cls(
            model=condition.model.id,
            quantization=condition.model.quantization,
            dtype=condition.model.dtype,
            card_model=cards.model,
            card_form=cards.form,
            cards=cards.count,
            tp=spread.tp,
            pp=spread.pp,
            dp=spread.dp,
            ep=spread.ep,
            dataset=traffic.dataset,
            input_tokens=traffic.input_tokens,
            output_tokens=traffic.output_tokens,
            lengths=traffic.lengths,
            shared_prefix_tokens=traffic.shared_prefix_tokens,
            load=traffic.load,
            concurrency=traffic.concurrency,
            rate=traffic.rate,
        )


class MetricVerdict(Message):
    """One metric of a square; ratios, positive is worse, null where nothing was estimated.

    baseline, candidate: the level of each side, in the metric's base unit. reason: why it is not
    judged; null where the rule spoke.
    """

    metric: str
    outcome: Outcome
    worsening: float | None
    low: float | None
    high: float | None
    tolerance: float
    smallest_detectable: float | None
    baseline: float | None
    candidate: float | None
    reason: str | None

    @classmethod
    def of(cls, verdict: VerdictRead) -> Self:
        """Return the part of a verdict that a square shows."""
        return cls(
            metric=verdict.metric,
            outcome=verdict.outcome,
            worsening=verdict.worsening,
            low=verdict.low,
            high=verdict.high,
            tolerance=verdict.tolerance,
            smallest_detectable=verdict.smallest_detectable,
            baseline=verdict.baseline,
            candidate=verdict.candidate,
            reason=None if verdict.worsening is not None else verdict.reason,
        )


class Square(Message):
    """One stack in one cell, against the cell's baseline on one host.

    outcome: the foremost of its verdicts, over all judged metrics. host: the one whose runs are
    compared, where both were measured, last by the candidate; None where nobody measured it.
    hosts: on how many the candidate was measured. launches: those that may be judged.
    """

    stack_key: Key
    host: str | None
    hosts: NonNegativeInt
    outcome: Outcome
    baseline_launches: NonNegativeInt
    candidate_launches: NonNegativeInt
    measured_at: AwareDatetime | None
    verdicts: tuple[MetricVerdict, ...]


class MatrixRow(Message):
    """A cell and its squares, in the order of the stacks asked for. baseline: None where unpinned.

    fields: what rows are filtered by.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    fields: ConditionFields
    baseline: StackNamed | None
    squares: tuple[Square, ...]


class MatrixRead(Message):
    """Rows of the matrix, by key; cursor asks for more and is None at the end.

    against: what the stacks are held to, the pins of the channel or one named stack.
    metrics: those that the squares hold verdicts of. outcomes: how many squares of these rows
    have each outcome.
    """

    against: Literal["channel", "stack"]
    channel: str
    stacks: tuple[StackNamed, ...]
    metrics: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    outcomes: dict[Outcome, int]
    cursor: str | None
