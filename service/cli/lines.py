"""Lines for a person: readings and verdicts in words, scaled for the eye."""

import re
from collections.abc import Sequence
from itertools import groupby

from service.cli.plain import plain
from service.domain.assumption import GATES, NOT_TOLD
from service.domain.difference import WITHIN
from service.domain.metric import METRICS, Unit
from service.domain.verdict import Outcome
from service.formats.readings import UnreadableRead, ValueRead
from service.formats.verdicts import AssumedRead, ComparisonRead, DifferenceRead, VerdictRead

MILLISECONDS_PER_SECOND = 1000
# Where the next of several reasons begins: each names the side that it is of.
_OF_A_SIDE = re.compile(r"(?:(?<=:) |; )(?=(?:baseline|candidate): )")
# Above it, a list of options is longer than the sentence it stands in.
OPTIONS_SHOWN = 6


def percent(ratio: float) -> str:
    """Return a ratio as a signed percentage: +4.2 %, and +0.0 % for whatever rounds to nothing."""
    # Adding nothing makes of -0.0 the other zero.
    return f"{round(ratio, 3) + 0.0:+.1%}".replace("%", " %")


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


def level(metric: str, value: float | None) -> str:
    """Return the level of a metric on one side for the eye; '-' for none."""
    return scaled(value if value is None else ValueRead(value=value, unit=METRICS[metric].unit))


def verdict_line(verdict: VerdictRead) -> str:
    """Return one verdict as one line: word, levels, worsening, interval, what could be seen."""
    head = f"{verdict.metric} {verdict.outcome}"
    if verdict.worsening is None or verdict.low is None or verdict.high is None:
        return f"{head}: {verdict.reason}"
    levels = [level(verdict.metric, each) for each in (verdict.baseline, verdict.candidate)]
    line = (
        f"{head}: {' → '.join(levels)}, worse by {percent(verdict.worsening)} "
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
        lines += [f"  {difference_line(each)}" for each in comparison.differences]
    else:
        lines += [f"  {line}" for line in _verdict_lines(comparison.verdicts)]
        if comparison.outcome is Outcome.INSUFFICIENT_BASELINE:
            lines.append(
                "  more results of the baseline would do, or --min-repeats to ask for fewer"
            )
    lines += [f"  {line}" for line in _assumed_lines(comparison.assumed)]
    warned = [warning for verdict in comparison.verdicts for warning in verdict.warnings]
    lines += [f"  note: {warning}" for warning in dict.fromkeys([*comparison.warnings, *warned])]
    return [plain(line) for line in lines]


def difference_line(difference: DifferenceRead) -> str:
    """Return one differing field with both values, and whose they are.

    Where one side is at odds with itself, both are its own.
    """
    if WITHIN in difference.field:
        return f"{difference.field}: {difference.baseline}, {difference.candidate}"
    values = f"baseline {difference.baseline}, candidate {difference.candidate}"
    return f"{difference.field}: {values}"


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
        for reason, metrics in names.items():
            lines += _reason_lines(f"{', '.join(metrics)} {reason}")
    return lines


def _reason_lines(line: str) -> list[str]:
    """Return one reason as one line, and several, each of which names its side, as a list."""
    head, *reasons = _OF_A_SIDE.split(line)
    if len(reasons) <= 1:
        return [line]
    return [head, *(f"  {reason}" for reason in reasons)]


def unreadable_line(unreadable: UnreadableRead) -> str:
    """Return one unreadable part as a line, with the place it stands."""
    line = "" if unreadable.line is None else f":{unreadable.line}"
    return plain(f"{unreadable.file}{line} unreadable: {unreadable.code}: {unreadable.message}")
