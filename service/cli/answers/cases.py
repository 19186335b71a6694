"""What an answer counts, one case a metric: whether it fails the gate, is left out, or is well."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from service.cli.answers.rows import UNCLEAR, UNJUDGED
from service.cli.answers.sentences import cell_sentence, check_title, verdict_sentence
from service.cli.answers.words import Language
from service.domain.ci_gate import Counts
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateCell, GateVerdict

# The names of the cases that are no metric's; a CI server follows a case by its name.
WHOLE = "gate"
CELL = "cell"


class Standing(StrEnum):
    """What a case means for the gate."""

    FAILS = "fails"
    ERRS = "errs"
    LEFT_OUT = "left out"
    WELL = "well"


@dataclass(frozen=True, slots=True)
class Case:
    """One metric of a cell, a cell that was not judged, or the gate as a whole (cell None)."""

    cell: GateCell | None
    name: str
    outcome: Outcome
    standing: Standing
    sentence: str


def cases_of(answer: GateAnswer, language: Language) -> tuple[Case, ...]:
    """Return the cases of an answer: one of them fails or errs where its exit code is not 0."""
    cases = [case for cell in answer.cells for case in _of_cell(answer, cell, language)]
    bad = {Standing.FAILS, Standing.ERRS}
    if answer.exit_code and not any(case.standing in bad for case in cases):
        title = check_title(answer, language)
        cases.insert(0, Case(None, WHOLE, answer.outcome, Standing.FAILS, title))
    return tuple(cases)


def _of_cell(answer: GateAnswer, cell: GateCell, language: Language) -> Iterator[Case]:
    if cell.outcome in UNJUDGED and all(map(_is_unjudged, cell.verdicts)):
        # One reason for all of its metrics is one case.
        counts = cell.counted is not None and bool(answer.exit_code)
        standing = Standing.ERRS if counts else Standing.LEFT_OUT
        sentence = cell_sentence(answer, cell, language)
        yield Case(cell, CELL, cell.outcome, standing, sentence)
        return
    for each in cell.verdicts:
        outcome = each.verdict.outcome
        sentence = verdict_sentence(each.verdict, language)
        yield Case(cell, each.verdict.metric, outcome, _standing(answer, each), sentence)


def _standing(answer: GateAnswer, judged: GateVerdict) -> Standing:
    outcome = judged.verdict.outcome
    if outcome in {Outcome.IMPROVED, Outcome.UNCHANGED}:
        return Standing.WELL
    if judged.counts is not Counts.COUNTED or not answer.exit_code:
        return Standing.LEFT_OUT
    if outcome is Outcome.INCONCLUSIVE and not answer.inconclusive_blocks:
        return Standing.LEFT_OUT
    return Standing.FAILS if outcome in UNCLEAR | {Outcome.REGRESSED} else Standing.ERRS


def _is_unjudged(judged: GateVerdict) -> bool:
    return judged.verdict.outcome in UNJUDGED
