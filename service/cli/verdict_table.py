"""The verdicts of a session or of two stacks as a table: one line a cell and metric."""

from collections.abc import Sequence

from rich.text import Text

from service.cli.answers.words import Language
from service.cli.lines import level, percent, share
from service.cli.tables import console, print_table
from service.cli.verdict_words import CATALOGUES, spoken
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.verdicts import VerdictRead

# What the table takes with the longest words in it.
TABLE_WIDTH = 170
COLUMNS = (
    "cell", "metric", "baseline", "candidate", "worse by", "interval", "verdict", "would have seen",
)  # fmt: skip
STYLE = {
    Outcome.REGRESSED: "bold red",
    Outcome.BROKEN: "bold red",
    Outcome.INVALID: "magenta",
    Outcome.MISSING: "magenta",
    Outcome.IMPROVED: "green",
    Outcome.UNCHANGED: "green",
}


def print_verdicts(cells: Sequence[CellComparison], language: Language = Language.EN) -> None:
    """Print one line a cell and metric, then what a reader of them must know.

    A window too narrow for the table gets the same in words, which may wrap where they like.
    """
    if console().width < TABLE_WIDTH:
        _print_lines(cells, language)
    else:
        header = [CATALOGUES[language][name] for name in COLUMNS]
        print_table(header, (row for cell in cells for row in _rows(cell, language)))
    for note in _notes(cells, language):
        said = CATALOGUES[language]["note"].format(said=note)
        console().print(said, highlight=False, markup=False, soft_wrap=True)


def _print_lines(cells: Sequence[CellComparison], language: Language) -> None:
    for cell in cells:
        console().print(Text(cell.title, style="bold"))
        for row in _rows(cell, language):
            words = Text.assemble("  ", *_in_words(row, language))
            console().print(words, soft_wrap=True)


def _in_words(row: tuple[str | Text, ...], language: Language) -> list[str | Text]:
    """Return a row of the table as a sentence."""
    words = CATALOGUES[language]
    _, metric, before, after, by, bounds, verdict, seen = row
    if before == "-":
        return [verdict, words["unjudged"].format(why=seen)]
    told = {"before": before, "after": after, "by": by, "bounds": bounds, "seen": seen}
    return [verdict, words["sentence"].format(metric=metric, **told)]


def outcomes(cells: Sequence[CellComparison]) -> list[Outcome]:
    """Return the word of every cell."""
    return [cell.comparison.outcome for cell in cells]


def _rows(cell: CellComparison, language: Language) -> list[tuple[str | Text, ...]]:
    comparison, words = cell.comparison, CATALOGUES[language]
    if not comparison.verdicts:
        differing = (words["differs"].format(field=each.field) for each in comparison.differences)
        warned = (spoken(each, language) for each in comparison.warnings)
        why = words["semicolon"].join((*differing, *warned))
        return [(cell.title, "-", "-", "-", "-", "-", _styled(comparison.outcome, language), why)]
    return [(cell.title, *_columns(verdict, language)) for verdict in comparison.verdicts]


def _columns(verdict: VerdictRead, language: Language) -> tuple[str | Text, ...]:
    words = CATALOGUES[language]
    bounds = {"low": percent(verdict.low or 0.0), "high": percent(verdict.high or 0.0)}
    return (
        verdict.metric,
        level(verdict.metric, verdict.baseline),
        level(verdict.metric, verdict.candidate),
        percent(verdict.worsening) if verdict.worsening is not None else "-",
        words["bounds"].format_map(bounds) if verdict.worsening is not None else "-",
        _styled(verdict.outcome, language),
        words["seen"].format(effect=share(verdict.smallest_detectable))
        if verdict.smallest_detectable is not None
        else spoken(verdict.reason, language),
    )


def _styled(word: Outcome, language: Language) -> Text:
    return Text(CATALOGUES[language][f"outcome {word}"], style=STYLE.get(word, "yellow"))


def _notes(cells: Sequence[CellComparison], language: Language) -> list[str]:
    warned = [warning for cell in cells for warning in cell.comparison.warnings]
    judged = [
        warning
        for cell in cells
        for verdict in cell.comparison.verdicts
        for warning in verdict.warnings
    ]
    return [spoken(each, language) for each in dict.fromkeys([*warned, *judged])]
