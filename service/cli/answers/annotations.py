"""GitHub's workflow commands: an answer's cases as annotations of the step that prints them.

After docs.github.com/actions, "Workflow commands for GitHub Actions": at most ten errors, ten
warnings and ten notices of a step are kept.
"""

from collections.abc import Iterator

from service.cli.answers.cases import Case, Standing, cases_of
from service.cli.answers.marks import command_data, command_property, log_line
from service.cli.answers.sentences import of_cell
from service.cli.answers.words import Language, say
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer

KEPT = 10


def annotations(answer: GateAnswer, language: Language) -> str:
    """Return the workflow commands of an answer, one a line; empty where nothing is to be said."""
    told: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for case in cases_of(answer, language):
        if (command := _command(case)) is not None:
            told[command].append(_sentence(case, language))
    outcome = say(language, f"outcome.{answer.outcome}")
    title = command_property(say(language, "title", outcome=outcome))
    return "\n".join(
        f"::{command} title={title}::{command_data(log_line(sentence))}"
        for command, sentences in told.items()
        for sentence in _kept(sentences, language)
    )


def _command(case: Case) -> str | None:
    if case.standing in {Standing.FAILS, Standing.ERRS}:
        return "error"
    if case.standing is Standing.WELL:
        return "notice" if case.outcome is Outcome.IMPROVED else None
    return "warning"


def _sentence(case: Case, language: Language) -> str:
    return case.sentence if case.cell is None else of_cell(case.cell, case.sentence, language)


def _kept(sentences: list[str], language: Language) -> Iterator[str]:
    """Yield as many as are kept; the last of them says how many are not there."""
    if len(sentences) <= KEPT:
        yield from sentences
        return
    yield from sentences[: KEPT - 1]
    yield say(language, "more", count=len(sentences) - KEPT + 1)
