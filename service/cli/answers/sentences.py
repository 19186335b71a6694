"""Verdicts as sentences, for where there is no table: JUnit, annotations, a check's title."""

from service.cli.answers.headline import headline
from service.cli.answers.marks import clipped
from service.cli.answers.pen import PLAIN
from service.cli.answers.rows import Rows, said
from service.cli.answers.words import Language, say
from service.cli.lines import percent, share
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateCell
from service.formats.verdicts import VerdictRead


def check_title(answer: GateAnswer, language: Language) -> str:
    """Return a whole answer as one line."""
    outcome = say(language, f"outcome.{answer.outcome}")
    return say(language, "check", outcome=outcome, headline=headline(answer, language, PLAIN))


def verdict_sentence(verdict: VerdictRead, language: Language) -> str:
    """Return the verdict on a metric, and what could have been seen where nothing was."""
    named = {
        "metric": clipped(verdict.metric),
        "outcome": say(language, f"outcome.{verdict.outcome}"),
    }
    if verdict.worsening is None or verdict.low is None or verdict.high is None:
        reason = clipped(said(language, verdict.reason))
        return say(language, "verdict.reason", **named, reason=reason)
    told = say(
        language,
        "verdict",
        **named,
        worse=percent(verdict.worsening),
        low=percent(verdict.low),
        high=percent(verdict.high),
        tolerance=share(verdict.tolerance),
    )
    if verdict.outcome is Outcome.REGRESSED or verdict.smallest_detectable is None:
        return told
    effect = share(verdict.smallest_detectable)
    return say(language, "verdict.seen", verdict=told, effect=effect)


def cell_sentence(answer: GateAnswer, cell: GateCell, language: Language) -> str:
    """Return why a cell was not judged."""
    outcome = say(language, f"outcome.{cell.outcome}")
    reason = Rows(answer, language, PLAIN).whys(cell)
    return say(language, "check", outcome=outcome, headline=reason)


def of_cell(cell: GateCell, sentence: str, language: Language) -> str:
    """Return a sentence with the cell that it is about."""
    return say(language, "verdict.of", cell=clipped(cell.title), verdict=sentence)
