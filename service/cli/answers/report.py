"""An answer as a person reads it, in one language: sentences, tables, commands and links."""

from collections.abc import Iterator
from dataclasses import dataclass

from service.cli.answers.headline import headline
from service.cli.answers.marks import command
from service.cli.answers.pen import Pen
from service.cli.answers.rows import MOVED, UNCLEAR, UNJUDGED, Rows, Table, said
from service.cli.answers.words import Language, say
from service.cli.columns import duration
from service.formats.gate_answers import GateAnswer, GateCell

# Whoever reads on wants to do again what was not well.
_WORTH_REPEATING = MOVED | UNCLEAR | UNJUDGED


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and in words what it repeats."""

    of: str
    line: str


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of an answer. Foreign text in it is harmless where the pen's text goes."""

    title: str
    headline: str
    facts: tuple[str, ...]
    tables: tuple[Table, ...]
    commands: tuple[Command, ...]
    notes: tuple[str, ...]
    links: tuple[str, ...]


def report_of(answer: GateAnswer, language: Language, pen: Pen) -> Report:
    """Return an answer in words of a language, foreign text written with a pen."""
    return Report(
        title=say(language, "title", outcome=say(language, f"outcome.{answer.outcome}")),
        headline=headline(answer, language, pen),
        facts=tuple(_facts(answer, language, pen)),
        tables=Rows(answer, language, pen).tables(),
        commands=tuple(_commands(answer, language, pen)),
        notes=tuple(dict.fromkeys(_notes(answer, language, pen))),
        links=tuple(
            pen.link(say(language, f"link.{each.name}"), each.url) for each in answer.links
        ),
    )


def _facts(answer: GateAnswer, language: Language, pen: Pen) -> Iterator[str]:
    baseline, candidate = answer.base.stack_name, answer.candidate.stack_name
    yield say(language, "fact.stacks", baseline=pen.code(baseline), candidate=pen.code(candidate))
    yield say(language, "fact.plan", plan=pen.code(answer.plan))
    yield say(language, "fact.base", found=pen.words(said(language, answer.base.found)))
    if answer.host is not None:
        yield say(language, "fact.host", host=pen.code(answer.host))
    if answer.mode == "local":
        yield say(language, "fact.local")
    yield _time(answer, language)
    yield say(language, "fact.exit", code=answer.exit_code)
    yield say(language, "fact.metrics")


def _time(answer: GateAnswer, language: Language) -> str:
    time = answer.time
    spent, planned = duration(time.spent_card_s), duration(time.planned_card_s)
    if time.budget_card_s is None:
        told = say(language, "fact.time", spent=spent, planned=planned)
    else:
        budget = duration(time.budget_card_s)
        told = say(language, "fact.budget", spent=spent, planned=planned, budget=budget)
    if time.saved_card_s:
        told = say(language, "fact.saved", time=told, saved=duration(time.saved_card_s))
    if time.unbegun_card_s:
        told = say(language, "fact.unbegun", time=told, unbegun=duration(time.unbegun_card_s))
    return told


def _commands(answer: GateAnswer, language: Language, pen: Pen) -> Iterator[Command]:
    if answer.reproduce:
        yield Command(say(language, "whole"), command(answer.reproduce))
    for cell in answer.cells:
        found = {cell.outcome, *(each.verdict.outcome for each in cell.verdicts)}
        if found & _WORTH_REPEATING and cell.reproduce not in {(), answer.reproduce}:
            yield Command(pen.code(cell.title), command(cell.reproduce))


def _notes(answer: GateAnswer, language: Language, pen: Pen) -> Iterator[str]:
    measured = any(cell.candidate_launches for cell in answer.cells)
    for each in answer.candidate.overrides:
        yield say(
            language,
            "override" if measured else "override.pinned",
            component=pen.code(each.component),
            asked=pen.code(each.asked),
            version=pen.code(each.version),
        )
    rows = Rows(answer, language, pen)
    yield from map(rows.told, answer.notes)
    told: dict[str, list[str]] = {}
    for cell in answer.cells:
        for note in dict.fromkeys(_cell_notes(cell, rows)):
            told.setdefault(note, []).append(cell.title)
    for note, titles in told.items():
        if len(titles) > 1:
            yield say(language, "cells", count=len(titles), verdict=note)
        else:
            yield say(language, "verdict.of", cell=pen.code(titles[0]), verdict=note)


def _cell_notes(cell: GateCell, rows: Rows) -> Iterator[str]:
    """Yield what a reader of a cell must know beside its tables; one cell's are often all's."""
    if cell.outcome not in UNJUDGED:
        yield from rows.broke(cell)
    judged = (warning for each in cell.verdicts for warning in each.verdict.warnings)
    yield from map(rows.told, (*cell.warnings, *judged))
    if cell.stopped is not None:
        yield rows.told(cell.stopped.why)
