"""Lines for a person: readings and verdicts in words, scaled for the eye."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from service.domain.metric import Unit
from service.domain.verdict import Outcome
from service.formats.readings import INCOMPLETE, ReadingRead, UnreadableRead, ValueRead
from service.formats.verdicts import ComparisonRead, VerdictRead

MILLISECONDS_PER_SECOND = 1000


def percent(ratio: float) -> str:
    """Return a ratio as a signed percentage: +4.2 %."""
    return f"{ratio:+.1%}".replace("%", " %")


def share(ratio: float) -> str:
    """Return a ratio as a percentage without a sign: 3.0 %."""
    return f"{ratio:.1%}".replace("%", " %")


def scaled(value: ValueRead | None) -> str:
    """Return a value with a unit for the eye: seconds below one as milliseconds; '-' for none."""
    if value is None:
        return "-"
    if value.unit is Unit.SECOND and value.value < 1:
        return f"{value.value * MILLISECONDS_PER_SECOND:.2f} ms"
    return f"{value.value:.2f} {value.unit}"


def verdict_line(verdict: VerdictRead) -> str:
    """Return one verdict as one line: word, worsening, interval, tolerance, what could be seen."""
    head = f"{verdict.metric} {verdict.outcome}"
    if verdict.worsening is None or verdict.low is None or verdict.high is None:
        return f"{head}: {verdict.reason}"
    line = (
        f"{head}: worse by {percent(verdict.worsening)} "
        f"(interval {percent(verdict.low)} to {percent(verdict.high)}, "
        f"tolerance {share(verdict.tolerance)})"
    )
    if verdict.outcome is Outcome.REGRESSED or verdict.smallest_detectable is None:
        return line
    return f"{line}; a worsening from {share(verdict.smallest_detectable)} on would be seen"


def comparison_lines(comparison: ComparisonRead) -> list[str]:
    """Return a comparison as lines: its outcome, why it was refused, its verdicts, its warnings."""
    lines = [str(comparison.outcome)]
    if comparison.differences:
        lines += [
            f"  {each.field}: baseline {each.baseline}, candidate {each.candidate}"
            for each in comparison.differences
        ]
    else:
        lines += [f"  {line}" for line in _verdict_lines(comparison.verdicts)]
    warned = [warning for verdict in comparison.verdicts for warning in verdict.warnings]
    lines += [f"  note: {warning}" for warning in dict.fromkeys([*comparison.warnings, *warned])]
    return lines


def _verdict_lines(verdicts: Sequence[VerdictRead]) -> list[str]:
    """Return one line a verdict, but one for all that could not be judged for the same reason."""
    lines: list[str] = []
    for judged, group in groupby(verdicts, key=lambda each: each.worsening is not None):
        if judged:
            lines += [verdict_line(verdict) for verdict in group]
            continue
        names: dict[str, list[str]] = {}
        for verdict in group:
            names.setdefault(f"{verdict.outcome}: {verdict.reason}", []).append(verdict.metric)
        lines += [f"{', '.join(metrics)} {reason}" for reason, metrics in names.items()]
    return lines


def reading_lines(readings: Sequence[ReadingRead]) -> list[str]:
    """Return what is wrong or odd about readings: each failure, and the rest counted by code."""
    failures = [
        f"{reading.file}:{reading.line} invalid: {problem.code}: {problem.message}"
        for reading in readings
        for problem in reading.problems
        if problem.code != INCOMPLETE
    ]
    softer = [
        problem
        for reading in readings
        for problem in (*reading.problems, *reading.warnings)
        if problem in reading.warnings or problem.code == INCOMPLETE
    ]
    counts = Counter(problem.code for problem in softer)
    examples = {problem.code: problem.message for problem in reversed(softer)}
    return failures + [
        f"{code} in {count} of {len(readings)} results, such as: {examples[code]}"
        for code, count in counts.items()
    ]


def unreadable_line(unreadable: UnreadableRead) -> str:
    """Return one unreadable part as a line, with the place it stands."""
    line = "" if unreadable.line is None else f":{unreadable.line}"
    return f"{unreadable.file}{line} unreadable: {unreadable.code}: {unreadable.message}"
