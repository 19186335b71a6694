"""Baselines, their moves and rules as a person reads them: one table of each."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import typer

from service.cli.answers.words import Language
from service.cli.baseline_words import CATALOGUES
from service.cli.tables import print_table
from service.cli.verdict_words import spoken
from service.domain.key import short
from service.formats.baselines import BaselineRead, MoveRead, RuleRead

# As many cells of a move as are listed; --json has them all.
CELLS_SHOWN = 20
BASELINE_COLUMNS = (
    "channel", "cell", "stack", "key", "pinned by", "pinned at", "why", "until", "stands on",
)  # fmt: skip
MOVE_COLUMNS = ("when", "channel", "did", "who", "why", "cell", "from", "to", "move")
RULE_COLUMNS = ("rule", "channel", "stacks", "state", "pinned", "by", "made", "why")

Words = Mapping[str, str]


def print_baselines(found: Sequence[BaselineRead], language: Language) -> None:
    """Print which stack each cell is held to, who pinned it, when and why."""
    words = CATALOGUES[language]
    if not found:
        typer.echo(words["none pinned"])
        return
    print_table(
        [words[name] for name in BASELINE_COLUMNS],
        [
            (
                each.channel,
                each.title,
                each.stack_name,
                short(each.stack_key),
                spoken(each.pinned_by, language),
                _moment(each.pinned_at),
                spoken(each.why, language),
                _moment(each.replaced_at) if each.replaced_at else words["in force"],
                _stands_on(each, words),
            )
            for each in found
        ],
    )


def print_moves(moves: Sequence[MoveRead], language: Language) -> None:
    """Print moves, one line a cell: who, when, why, from which stack to which."""
    words = CATALOGUES[language]
    if not moves:
        typer.echo(words["none moved"])
        return
    rows = [
        (
            _moment(move.made_at),
            move.channel,
            _did(move, words),
            spoken(move.made_by, language),
            spoken(move.why, language),
            *cell,
            str(move.id),
        )
        for move in moves
        for cell in _cells(move, words)
    ]
    print_table([words[name] for name in MOVE_COLUMNS], rows)


def print_rules(found: Sequence[RuleRead], language: Language) -> None:
    """Print the rules of channels, who made them and why, and how many cells they pinned."""
    words = CATALOGUES[language]
    if not found:
        typer.echo(words["no rule"])
        return
    print_table(
        [words[name] for name in RULE_COLUMNS],
        [
            (
                str(each.id),
                each.channel,
                each.stacks,
                words["ended" if each.ended_at else "in force"],
                words["cells"].format(count=each.pins),
                each.made_by,
                _moment(each.made_at),
                each.why,
            )
            for each in found
        ],
    )


def _did(move: MoveRead, words: Words) -> str:
    """Return what a move was, and what became of it."""
    did = words[f"kind {move.kind}"].format(
        release=move.release, incident=move.incident_id, undoes=move.undoes
    )
    return words["undone"].format(did=did) if move.undone_by else did


def _cells(move: MoveRead, words: Words) -> list[tuple[str, str, str]]:
    """Return the cells of a move, as many as a table holds."""
    shown = [
        (
            each.title,
            each.from_stack_name or words["none"],
            each.to_stack_name or words["none"],
        )
        for each in move.cells[:CELLS_SHOWN]
    ]
    more = len(move.cells) - len(shown)
    return [*shown, (words["cells more"].format(count=more), "", "")] if more > 0 else shown


def _stands_on(baseline: BaselineRead, words: Words) -> str:
    """Return how many runs a pin stands on today, and how many people have withdrawn."""
    name = "runs left" if baseline.withdrawn_runs else "runs"
    return words[name].format(count=baseline.runs, gone=baseline.withdrawn_runs)


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
