"""The verdicts of a session or of two stacks as a table: one line a cell and metric."""

from collections.abc import Sequence

from rich.text import Text

from service.cli.lines import level, percent, share
from service.cli.tables import console, print_table
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.verdicts import VerdictRead

# What the table takes with the longest words in it.
TABLE_WIDTH = 170
STYLE = {
    Outcome.REGRESSED: "bold red",
    Outcome.BROKEN: "bold red",
    Outcome.INVALID: "magenta",
    Outcome.MISSING: "magenta",
    Outcome.IMPROVED: "green",
    Outcome.UNCHANGED: "green",
}


def print_verdicts(cells: Sequence[CellComparison]) -> None:
    """Print one line a cell and metric, then what a reader of them must know.

    A window too narrow for the table gets the same in words, which may wrap where they like.
    """
    if console().width < TABLE_WIDTH:
        _print_lines(cells)
    else:
        _print_table(cells)
    for note in _notes(cells):
        console().print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)


def _print_lines(cells: Sequence[CellComparison]) -> None:
    for cell in cells:
        console().print(Text(cell.title, style="bold"))
        for row in _rows(cell):
            console().print(Text.assemble("  ", *_in_words(row)), soft_wrap=True)


def _in_words(row: tuple[str | Text, ...]) -> list[str | Text]:
    """Return a row of the table as a sentence."""
    _, metric, baseline, candidate, worse_by, interval, verdict, seen = row
    if baseline == "-":
        return [verdict, f": {seen}"]
    change = f"{baseline} → {candidate}, {worse_by} worse ({interval})"
    return [verdict, f" {metric}: {change}, would have seen {seen}"]


def _print_table(cells: Sequence[CellComparison]) -> None:
    header = (
        "cell", "metric", "baseline", "candidate", "worse by", "interval", "verdict",
        "would have seen",
    )  # fmt: skip
    print_table(header, (row for cell in cells for row in _rows(cell)))


def outcomes(cells: Sequence[CellComparison]) -> list[Outcome]:
    """Return the word of every cell."""
    return [cell.comparison.outcome for cell in cells]


def _rows(cell: CellComparison) -> list[tuple[str | Text, ...]]:
    comparison = cell.comparison
    if not comparison.verdicts:
        why = "; ".join(
            (*(f"{each.field} differs" for each in comparison.differences), *comparison.warnings)
        )
        return [(cell.title, "-", "-", "-", "-", "-", _styled(comparison.outcome), why)]
    return [(cell.title, *_columns(verdict)) for verdict in comparison.verdicts]


def _columns(verdict: VerdictRead) -> tuple[str | Text, ...]:
    estimated = verdict.worsening is not None
    return (
        verdict.metric,
        level(verdict.metric, verdict.baseline),
        level(verdict.metric, verdict.candidate),
        percent(verdict.worsening) if verdict.worsening is not None else "-",
        f"{percent(verdict.low or 0.0)} to {percent(verdict.high or 0.0)}" if estimated else "-",
        _styled(verdict.outcome),
        f"from {share(verdict.smallest_detectable)} on"
        if verdict.smallest_detectable is not None
        else verdict.reason,
    )


def _styled(word: Outcome) -> Text:
    return Text(word, style=STYLE.get(word, "yellow"))


def _notes(cells: Sequence[CellComparison]) -> list[str]:
    warned = [warning for cell in cells for warning in cell.comparison.warnings]
    judged = [
        warning
        for cell in cells
        for verdict in cell.comparison.verdicts
        for warning in verdict.warnings
    ]
    return list(dict.fromkeys([*warned, *judged]))
