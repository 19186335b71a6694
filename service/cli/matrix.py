"""`kunline matrix`: the files that say what is measured, checked before anything runs."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from service.cli.connection import AsJson
from service.cli.exit_codes import USAGE
from service.formats.constraint_files import read_constraints
from service.formats.matrix_files import Matrix, read_matrix
from service.formats.planned_sessions import plan_problems
from service.formats.yaml_file import FileProblem, FileProblemsError

MATRIX_VARIABLE = "KUNLINE_MATRIX_DIR"


def default_matrix() -> Path:
    """Return the checkout's matrix directory, as seen from here where it lies below."""
    root = Path(__file__).resolve().parents[2] / "matrix"
    here = Path.cwd()
    return root.relative_to(here) if root.is_relative_to(here) else root


MatrixOption = Annotated[
    Path,
    typer.Option(
        "--matrix",
        envvar=MATRIX_VARIABLE,
        show_default="the checkout's matrix/",
        help="The directory with stacks, models, workloads, clients, plans and policy.yaml.",
        default_factory=default_matrix,
    ),
]


matrix = typer.Typer(no_args_is_help=True, help="The files that say what is measured.")


@matrix.command()
def check(
    directory: Annotated[
        Path,
        typer.Argument(
            envvar=MATRIX_VARIABLE,
            show_default="the checkout's matrix/",
            help="The matrix directory to check.",
            default_factory=default_matrix,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Check every file of the matrix, and that each plan can be planned with its own stacks.

    Each problem is a line: file:line: field: what is wrong. Exit code 0 when there is none, else 2.

    For example:

      kunline matrix check

      kunline matrix check ../our-matrix --json
    """
    try:
        matrix = read_matrix(directory)
    except FileProblemsError as error:
        _show({}, error.problems, as_json=as_json)
        raise typer.Exit(USAGE) from error
    problems = matrix_problems(matrix)
    _show(_counts(matrix), problems, as_json=as_json)
    if problems:
        raise typer.Exit(USAGE)


def matrix_problems(matrix: Matrix) -> tuple[FileProblem, ...]:
    """Return all that is wrong in a matrix, in its files' order, each once."""
    of_plans = (
        problem for plan in matrix.plans.files.values() for problem in plan_problems(matrix, plan)
    )
    found = dict.fromkeys((*matrix.problems, *of_plans, *_of_constraints(matrix)))
    return tuple(sorted(found, key=lambda problem: (problem.file, problem.line, problem.field)))


def _of_constraints(matrix: Matrix) -> tuple[FileProblem, ...]:
    try:
        read_constraints(matrix.root)
    except FileProblemsError as error:
        return error.problems
    return ()


def _counts(matrix: Matrix) -> dict[str, int]:
    shelves = (matrix.stacks, matrix.models, matrix.workloads, matrix.clients, matrix.plans)
    return {shelf.kind: len(shelf.files) + len(shelf.broken) for shelf in shelves}


def _show(counts: dict[str, int], problems: tuple[FileProblem, ...], *, as_json: bool) -> None:
    if as_json:
        told = {"files": counts, "problems": [asdict(problem) for problem in problems]}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for problem in problems:
        typer.echo(str(problem))
    if problems:
        files = len({problem.file for problem in problems})
        typer.echo(f"{_many(len(problems), 'problem')} in {_many(files, 'file')}", err=True)
    else:
        typer.echo("in order: " + ", ".join(_many(count, kind) for kind, count in counts.items()))


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
