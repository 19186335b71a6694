"""Comparisons and verdicts as `kunline compare --json` and the API answer them."""

from typing import Self

from service.domain.assumption import Assumed
from service.domain.comparison import Comparison
from service.domain.difference import Difference
from service.domain.verdict import Outcome, Verdict
from service.formats.messages import Message


class DifferenceRead(Message):
    """One field in which two sides differ."""

    field: str
    baseline: str
    candidate: str

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """Return a difference as it is answered."""
        return cls(
            field=difference.field,
            baseline=difference.baseline,
            candidate=difference.candidate,
        )


class VerdictRead(Message):
    """The verdict on one metric; ratios, positive is worse, null where nothing was estimated.

    baseline, candidate: the level of each side, in the metric's base unit.
    """

    metric: str
    outcome: Outcome
    worsening: float | None
    low: float | None
    high: float | None
    tolerance: float
    smallest_detectable: float | None
    reason: str
    warnings: tuple[str, ...]
    baseline: float | None = None
    candidate: float | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return a verdict as it is answered."""
        worsening = verdict.worsening
        return cls(
            metric=verdict.metric,
            outcome=verdict.outcome,
            worsening=worsening.center if worsening else None,
            low=worsening.low if worsening else None,
            high=worsening.high if worsening else None,
            tolerance=verdict.tolerance,
            smallest_detectable=verdict.smallest_detectable,
            reason=verdict.reason,
            warnings=verdict.warnings,
            baseline=verdict.baseline,
            candidate=verdict.candidate,
        )


class AssumedRead(Message):
    """One thing that whoever compared said of both sides; value is null where only sameness is."""

    field: str
    value: str | None

    @classmethod
    def of(cls, assumed: Assumed) -> Self:
        """Return an assumption as it is answered."""
        return cls(field=assumed.field, value=assumed.value)


class ComparisonRead(Message):
    """The comparison of two sides; differences are named where it was refused.

    untold: the fields among the differences that must be known and are not. assumed: what the
    comparison rests on, because files do not tell it.
    """

    comparable: bool
    outcome: Outcome
    differences: tuple[DifferenceRead, ...]
    verdicts: tuple[VerdictRead, ...]
    warnings: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    assumed: tuple[AssumedRead, ...] = ()

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Return a comparison as it is answered."""
        return cls(
            comparable=comparison.comparable,
            outcome=comparison.outcome,
            differences=tuple(DifferenceRead.of(each) for each in comparison.differences),
            verdicts=tuple(VerdictRead.of(verdict) for verdict in comparison.verdicts),
            warnings=comparison.warnings,
            untold=comparison.untold,
            assumed=tuple(AssumedRead.of(each) for each in comparison.assumed),
        )
