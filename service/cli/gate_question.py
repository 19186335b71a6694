"""What a person asks a gate, and the order that it becomes; wrong input is told and exits 2."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from service.cli import gate_calls
from service.cli.answers.words import Language
from service.cli.exit_codes import USAGE
from service.cli.gate_base import BaseAsked, NoBaseError, base_of, require_base
from service.cli.gate_calls import Patience
from service.cli.gate_candidate import Named, candidate_of, require_readable
from service.cli.gate_power import power_note
from service.cli.gate_wheels import GIT
from service.cli.person import user_name
from service.cli.plain import complain
from service.cli.plan import read_matrix_and_plan
from service.cli.power_table import known_noise
from service.client import Client, RefusedError
from service.formats.chosen_stacks import OverrideError
from service.formats.gate_answers import GateOverride
from service.formats.gate_plans import Asked, Costs, GatePlanError, GateUpload, Side, gate_upload
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.planned_sessions import NotRunnableError, StackChoiceError
from service.formats.yaml_file import FileProblemsError

WRONG = (
    FileProblemsError,
    GatePlanError,
    NoBaseError,
    NotRunnableError,
    OverrideError,
    RefusedError,
    StackChoiceError,
    UnknownFileError,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks a gate, as far as it does not depend on where it runs.

    key: a person's own, who may ask with it again. language: in which they are told how far it
    is.
    """

    plan: str
    matrix: Path
    base: BaseAsked
    named: Named
    cell: str | None
    budget_s: float | None
    key: str | None
    language: Language


def require_answerable(question: Question) -> None:
    """Exit 2 where what is asked is wrong whatever a service knows: before one is started."""
    with _told():
        matrix, _ = read_matrix_and_plan(question.plan, question.matrix)
        require_base(question.base)
        require_readable(question.named, matrix)


def upload_of(client: Client, question: Question, patience: Patience, *, mode: str) -> GateUpload:
    """Return what is to be measured; wrong input is told on stderr and exits 2.

    A service that is away is waited for as long as later on: what was built is built once.
    """
    with _told():
        matrix, file = read_matrix_and_plan(question.plan, question.matrix)
        base = patience.through(
            lambda: base_of(client, matrix, file, question.base, local=mode == "local")
        )
        candidate = candidate_of(question.named, matrix, base[0])
        asked = Asked(
            cell=question.cell,
            budget_s=question.budget_s,
            command=command_again(
                sys.argv[1:],
                base[1].stack_name,
                candidate[1].overrides,
                here=mode == "local" or _is_in(matrix, base[0]),
            ),
            mode=mode,
            who=user_name(),
        )

        def costs(keys: Sequence[str]) -> Costs:
            return patience.through(lambda: gate_calls.costs(client, keys))

        upload = gate_upload(matrix, file, base=base, candidate=candidate, asked=asked, costs=costs)
        known = patience.through(lambda: known_noise(client, upload.planned.cells, host=None))
        note = power_note(upload, known)
    notes = (*upload.order.notes, *((note,) if note else ()))
    return replace(upload, order=upload.order.model_copy(update={"notes": notes}))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except WRONG as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error


def _is_in(matrix: Matrix, side: Side) -> bool:
    """Return whether a stack is a file of the matrix, and so is known without a service."""
    return any(file is side.stack.file for file in matrix.stacks.files.values())


def command_again(
    words: Sequence[str], base: str, overrides: Sequence[GateOverride], *, here: bool
) -> tuple[str, ...]:
    """Return a command that asks the same, without secrets and files.

    here: on one's own machine; a base that the service alone knows is measured by the service. A
    commit stands in it by its id: what a branch or HEAD names is another one tomorrow.
    """
    commits = {
        each.asked: f"{each.component}={GIT}{each.commit}" for each in overrides if each.commit
    }
    kept: list[str] = ["kunline", "gate", *(["--local"] if here else [])]
    options = iter(words[1:] if words[:1] == ["gate"] else words)
    for word in options:
        name, _, value = word.partition("=")
        if name in {"--with", "--stack", "--plan", "--matrix", "--source", "--budget"}:
            given = value or next(options, "")
            kept += [name, commits.get(given, given)]
    return (*kept, "--base", f"stack:{base}")
