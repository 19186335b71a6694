"""`kunline preflight`: the layers of a stack on this host, from the metal up."""

import json
from base64 import b64encode
from typing import Annotated

import typer

from service.cli.columns import aligned
from service.cli.connection import AsJson
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.runner_side import NoAnswerError, answer_of
from service.domain.verdict import Outcome
from service.formats.chosen_stacks import chosen
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.preflights import PreflightAnswer, PreflightQuestion
from service.formats.reports import LayerFinding
from service.formats.yaml_file import FileProblemsError

# All limits of all layers, and a build of half an hour.
LIMIT_S = 3600.0
NOT_LOOKED = "this host was not looked at"


def preflight(
    matrix: MatrixOption,
    stack: Annotated[
        str | None, typer.Option("--stack", metavar="S", help="As this stack would use the host.")
    ] = None,
    chip: Annotated[
        str | None, typer.Option("--chip", help="The chip to look at; by default the stack's.")
    ] = None,
    cards: Annotated[
        int | None, typer.Option("--cards", min=1, help="How many; by default all there are.")
    ] = None,
    build: Annotated[
        bool, typer.Option("--build", help="Build the stack's environment if it is not here.")
    ] = False,
    limit: Annotated[
        float | None, typer.Option("--limit", min=1, metavar="S", help="Seconds a layer at most.")
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Although its window is closed or it is drained.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check this host layer by layer, from the metal up; the first that breaks ends the row.

    Nothing is measured and no server is started. Only the cards of an outer allocation are looked
    at. They are held meanwhile, so it refuses while a runner uses them, outside the host's window,
    and while the host is drained. Exit code 5 for a broken layer.

    For example:

      kunline preflight --chip kunlun

      kunline preflight --stack cpu-sglang-0.5.23 --cards 2 --json
    """
    try:
        question = question_of(stack, chip=chip, build=build, matrix=matrix)
        question = question.model_copy(update={"cards": cards, "limit_s": limit, "anyway": anyway})
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    try:
        answer = asked(question)
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    if as_json:
        typer.echo(json.dumps(document(answer), indent=2, ensure_ascii=False))
    else:
        typer.echo(page(answer))
    raise typer.Exit(DONE if answer.broken_at is None else EXIT_CODE[Outcome.BROKEN])


def question_of(
    stack: str | None, *, chip: str | None, build: bool, matrix: MatrixOption
) -> PreflightQuestion:
    """Return what to ask of this host. Raises FileProblemsError and UnknownFileError."""
    if stack is None:
        return PreflightQuestion(chip=chip or "cpu")
    found = chosen(read_matrix(matrix), stack)
    order = found.order()
    return PreflightQuestion(
        chip=chip or order.chip,
        stack=order,
        lock=b64encode(found.lock.content) if found.lock else None,
        build=build,
    )


def asked(question: PreflightQuestion) -> PreflightAnswer:
    """Ask the runner's side. Raises NoAnswerError."""
    return answer_of(
        "runners.preflights",
        question=question.model_dump_json().encode(),
        read=PreflightAnswer.model_validate_json,
        limit_s=LIMIT_S,
        without=NOT_LOOKED,
    )


def document(answer: PreflightAnswer) -> dict[str, object]:
    """Return the answer as design and schema have it."""
    fields = {"layer", "state", "finding", "remedy", "seconds"}
    layers = [layer.model_dump(mode="json", include=fields) for layer in answer.layers]
    return {"layers": layers, "broken_at": answer.broken_at}


def page(answer: PreflightAnswer) -> str:
    """Return the table as a person reads it: a line a layer, and what goes on below its own."""
    rows = [row for layer in answer.layers for row in _rows(layer)]
    table = aligned(("layer", "state", "seconds", "finding"), rows)
    if answer.broken_at is None:
        return f"{table}\n\nNo layer is broken."
    return f"{table}\n\nBroken at {answer.broken_at}: nothing above it was looked at."


def _rows(layer: LayerFinding) -> list[tuple[str, ...]]:
    first, *more = layer.finding.splitlines() or [""]
    head = (str(layer.layer), layer.state, f"{layer.seconds:.1f}", first)
    below = [("", "", "", line) for line in more]
    remedy = [("", "", "", f"→ {layer.remedy}")] if layer.remedy else []
    return [head, *below, *remedy]
