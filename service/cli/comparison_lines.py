"""A comparison as lines for a person: its outcome, why it was refused, its verdicts, its notes."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from service.cli.answers.words import Language
from service.cli.comparison_words import CATALOGUES
from service.cli.lines import level, percent, share
from service.cli.plain import plain
from service.cli.verdict_words import spoken
from service.domain.assumption import GATES, NOT_TOLD
from service.domain.difference import WITHIN
from service.domain.verdict import Outcome
from service.formats.verdicts import AssumedRead, ComparisonRead, DifferenceRead, VerdictRead

# Where the next of several reasons begins: each names the side that it is of.
_OF_A_SIDE = re.compile(r"(?:^|; )(?=(?:baseline|candidate): )")
# A value with the place it stands, as domain/told.py tells those of one side.
_IN_LINE = re.compile(r"(?P<value>.*) in line (?P<line>\d+|None) of (?P<file>.*)", re.DOTALL)
# Above it, a list of options is longer than the sentence it stands in.
OPTIONS_SHOWN = 6

Words = Mapping[str, str]


def comparison_lines(comparison: ComparisonRead, language: Language = Language.EN) -> list[str]:
    """Return a comparison as lines: its outcome, why it was refused, its verdicts, its warnings.

    What it rests on comes first of the notes: no verdict is shown without its assumptions.
    """
    words = CATALOGUES[language]
    if comparison.untold:
        lines = _untold_lines(comparison, words)
    elif comparison.differences:
        lines = [difference_line(each, language) for each in comparison.differences]
    else:
        lines = _verdict_lines(comparison.verdicts, language)
        if comparison.outcome is Outcome.INSUFFICIENT_BASELINE:
            lines.append(words["more of the baseline"])
    lines += _assumed_lines(comparison.assumed, words)
    warned = [warning for verdict in comparison.verdicts for warning in verdict.warnings]
    lines += [
        words["note"].format(said=spoken(warning, language))
        for warning in dict.fromkeys([*comparison.warnings, *warned])
    ]
    return [words[f"outcome {comparison.outcome}"], *(plain(f"  {line}") for line in lines)]


def verdict_line(verdict: VerdictRead, language: Language = Language.EN) -> str:
    """Return one verdict as one line: word, levels, worsening, interval, what could be seen."""
    words = CATALOGUES[language]
    outcome = words[f"outcome {verdict.outcome}"]
    if verdict.worsening is None or verdict.low is None or verdict.high is None:
        why = spoken(verdict.reason, language)
        return words["unjudged"].format(metrics=verdict.metric, outcome=outcome, why=why)
    line = words["judged"].format(
        metric=verdict.metric,
        outcome=outcome,
        before=level(verdict.metric, verdict.baseline),
        after=level(verdict.metric, verdict.candidate),
        by=percent(verdict.worsening),
        low=percent(verdict.low),
        high=percent(verdict.high),
        tolerance=share(verdict.tolerance),
    )
    if verdict.outcome is Outcome.REGRESSED or verdict.smallest_detectable is None:
        return line
    return line + words["seen"].format(effect=share(verdict.smallest_detectable))


def difference_line(difference: DifferenceRead, language: Language = Language.EN) -> str:
    """Return one differing field with both values, and whose they are.

    Where one side is at odds with itself, both are its own.
    """
    words = CATALOGUES[language]
    field, _, side = difference.field.partition(f" {WITHIN} ")
    told = {
        "field": field,
        "baseline": _valued(difference.baseline, words),
        "candidate": _valued(difference.candidate, words),
    }
    return (
        words["within"].format(side=words[side], **told)
        if side
        else words["differs"].format(**told)
    )


def _valued(value: str, words: Words) -> str:
    """Return a value as people read it, with the line that it stands in where that is told."""
    if found := _IN_LINE.fullmatch(value):
        said = _valued(found["value"], words)
        return words["in line"].format(value=said, line=found["line"], file=found["file"])
    return words["(absent)"] if value == "(absent)" else value


def _untold_lines(comparison: ComparisonRead, words: Words) -> list[str]:
    """Return what the files do not tell, by who tells it, and the options that would settle it."""
    told: dict[str, list[str]] = {}
    for each in comparison.differences:
        if each.field == GATES:
            continue
        if each.baseline == each.candidate == NOT_TOLD:
            told.setdefault("neither tells", []).append(each.field)
        elif each.candidate == NOT_TOLD:
            told.setdefault("baseline tells", []).append(f"{each.field} {each.baseline}")
        else:
            told.setdefault("candidate tells", []).append(f"{each.field} {each.candidate}")
    lines = [words[who].format(fields=", ".join(fields)) for who, fields in told.items()]
    if GATES in comparison.untold:
        lines.append(words["gates open"])
    options = " ".join(f"--assume-same {name}" for name in comparison.untold)
    every = "--assume-same all" if len(comparison.untold) > OPTIONS_SHOWN else options
    return [words["incomplete"], *lines, words["add"].format(options=every), words["add one"]]


def _assumed_lines(assumed: Sequence[AssumedRead], words: Words) -> list[str]:
    """Return what was assumed: with a value, without one, and the gates."""
    fields = [each for each in assumed if each.field != GATES]
    valued = [f"{each.field} = {each.value}" for each in fields if each.value is not None]
    alike = [each.field for each in fields if each.value is None]
    gates = [each.value for each in assumed if each.field == GATES and each.value]
    return [
        *([words["assumed"].format(fields=", ".join(valued))] if valued else []),
        *([words["assumed alike"].format(fields=", ".join(alike))] if alike else []),
        *(words["assumed gates"].format(fields=codes) for codes in gates),
    ]


def _verdict_lines(verdicts: Sequence[VerdictRead], language: Language) -> list[str]:
    """Return one line a verdict, but one for all that could not be judged for the same reason."""
    lines: list[str] = []
    for judged, group in groupby(verdicts, key=lambda each: each.worsening is not None):
        if judged:
            lines += [verdict_line(verdict, language) for verdict in group]
            continue
        names: dict[tuple[Outcome, str], list[str]] = {}
        for verdict in group:
            names.setdefault((verdict.outcome, verdict.reason), []).append(verdict.metric)
        for (outcome, reason), metrics in names.items():
            lines += _reason_lines(metrics, outcome, reason, language)
    return lines


def _reason_lines(
    metrics: Sequence[str], outcome: Outcome, reason: str, language: Language
) -> list[str]:
    """Return one reason as one line, and several, each of which names its side, as a list."""
    words = CATALOGUES[language]
    told = {"metrics": ", ".join(metrics), "outcome": words[f"outcome {outcome}"]}
    reasons = [spoken(each, language) for each in _OF_A_SIDE.split(reason) if each]
    if len(reasons) <= 1:
        return [words["unjudged"].format(why=spoken(reason, language), **told)]
    return [words["unjudged for"].format_map(told), *(f"  {each}" for each in reasons)]
