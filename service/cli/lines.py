"""Lines for a person: readings and verdicts in words, scaled for the eye."""

from collections.abc import Sequence
from itertools import groupby

from service.domain.assumption import GATES, NOT_TOLD
from service.domain.metric import Unit
from service.domain.verdict import Outcome
from service.formats.readings import UnreadableRead, ValueRead
from service.formats.verdicts import AssumedRead, ComparisonRead, VerdictRead

MILLISECONDS_PER_SECOND = 1000
# Above it, a list of options is longer than the sentence it stands in.
OPTIONS_SHOWN = 6


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
    """Return a comparison as lines: its outcome, why it was refused, its verdicts, its warnings.

    What it rests on comes first of the notes: no verdict is shown without its assumptions.
    """
    lines = [str(comparison.outcome)]
    if comparison.untold:
        lines += [f"  {line}" for line in _untold_lines(comparison)]
    elif comparison.differences:
        lines += [
            f"  {each.field}: baseline {each.baseline}, candidate {each.candidate}"
            for each in comparison.differences
        ]
    else:
        lines += [f"  {line}" for line in _verdict_lines(comparison.verdicts)]
    lines += [f"  {line}" for line in _assumed_lines(comparison.assumed)]
    warned = [warning for verdict in comparison.verdicts for warning in verdict.warnings]
    lines += [f"  note: {warning}" for warning in dict.fromkeys([*comparison.warnings, *warned])]
    return lines


def _untold_lines(comparison: ComparisonRead) -> list[str]:
    """Return what the files do not tell, by who tells it, and the options that would settle it."""
    told: dict[str, list[str]] = {}
    for each in comparison.differences:
        if each.field == GATES:
            continue
        if each.baseline == each.candidate == NOT_TOLD:
            told.setdefault("neither side tells", []).append(each.field)
        elif each.candidate == NOT_TOLD:
            told.setdefault("only the baseline tells", []).append(f"{each.field} {each.baseline}")
        else:
            told.setdefault("only the candidate tells", []).append(f"{each.field} {each.candidate}")
    lines = [f"{who} {', '.join(fields)}" for who, fields in told.items()]
    if GATES in comparison.untold:
        lines.append("they leave open whether some gates hold (gates): kunline read names these")
    options = " ".join(f"--assume-same {name}" for name in comparison.untold)
    every = "--assume-same all" if len(comparison.untold) > OPTIONS_SHOWN else options
    return [
        "condition incomplete: the files do not tell enough to know whether they are comparable",
        *lines,
        f"if both sides were alike in all of this, add {every}",
        "for one of them alone: --assume-same FIELD, or FIELD=VALUE, which is held to the files",
    ]


def _assumed_lines(assumed: Sequence[AssumedRead]) -> list[str]:
    """Return what was assumed: with a value, without one, and the gates."""
    fields = [each for each in assumed if each.field != GATES]
    valued = [f"{each.field} = {each.value}" for each in fields if each.value is not None]
    alike = [each.field for each in fields if each.value is None]
    gates = [each.value for each in assumed if each.field == GATES and each.value]
    return [
        *([f"assumed of both sides: {', '.join(valued)}"] if valued else []),
        *([f"assumed to be the same, whatever it is: {', '.join(alike)}"] if alike else []),
        *(f"assumed to hold, because no file settles it: {codes}" for codes in gates),
    ]


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


def unreadable_line(unreadable: UnreadableRead) -> str:
    """Return one unreadable part as a line, with the place it stands."""
    line = "" if unreadable.line is None else f":{unreadable.line}"
    return f"{unreadable.file}{line} unreadable: {unreadable.code}: {unreadable.message}"
