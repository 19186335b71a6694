"""`kunline weights …`: a model's files on a host's own disk, copied and hashed once."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.connection import AsJson
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.runner_side import NoAnswerError, answer_of
from service.domain.verdict import Outcome
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.model_files import ModelFile
from service.formats.staged_weights import StagingAnswer, StagingQuestion
from service.formats.yaml_file import FileProblemsError

weights = typer.Typer(no_args_is_help=True, help="A model's files on a host's own disk.")

LIMIT_S = 48 * 3600.0
GB = 1e9


@weights.command()
def stage(
    source: Annotated[Path, typer.Argument(help="The model's folder, on slow storage say.")],
    matrix: MatrixOption,
    into: Annotated[
        Path | None, typer.Argument(help="Where to; by default the model file's path.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="The model file they must fit.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy a model's files once, and hash them meanwhile.

    Broken off, it goes on where it stopped when it is started again. Exit code 5 where what came
    is not what the model file says.

    Example: kunline weights stage /mnt/slow/Qwen3-8B /data/models/Qwen3-8B
    """
    try:
        shape = read_matrix(matrix).models.named(model).shape if model else None
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    path = into or (Path(shape.path) if shape and shape.path else None)
    if path is None:
        complain("say where to: a folder, or --model with a path in its file")
        raise typer.Exit(USAGE)
    _tell(_asked(_question(path, shape, source=source)), as_json=as_json)


@weights.command()
def check(
    folder: Annotated[Path, typer.Argument(help="Where they were staged.")],
    full: Annotated[
        bool, typer.Option("--full", help="Read every file, not only its size and times.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether staged files are as they were. Exit code 5 where they are not.

    Example: kunline weights check /data/models/Qwen3-8B --full
    """
    question = StagingQuestion(folder=str(folder.absolute()), full=full)
    _tell(_asked(question), as_json=as_json)


def _question(into: Path, model: ModelFile | None, *, source: Path) -> StagingQuestion:
    return StagingQuestion(
        folder=str(into.absolute()),
        source=str(source.absolute()),
        weights_digest=model.weights_digest if model else None,
        tokenizer_digest=model.tokenizer_digest if model else None,
    )


def _tell(answer: StagingAnswer, *, as_json: bool) -> None:
    if as_json:
        typer.echo(answer.model_dump_json())
    else:
        typer.echo("\n".join(page(answer)))
    raise typer.Exit(EXIT_CODE[Outcome.INVALID] if answer.unlike else DONE)


def page(answer: StagingAnswer) -> list[str]:
    """Return what a person is told."""
    head = (
        f"{answer.folder}: {answer.files} files, {answer.size_bytes / GB:.2f} GB, "
        f"{answer.copied_bytes / GB:.2f} GB copied now"
    )
    if answer.unlike:
        return [head, *answer.unlike, "These weights are not those that were staged."]
    return [
        head,
        f"weights_digest: {answer.weights_digest}",
        f"tokenizer_digest: {answer.tokenizer_digest}",
    ]


def _asked(question: StagingQuestion) -> StagingAnswer:
    try:
        return answer_of(
            "runners.weights",
            question=question.model_dump_json().encode(),
            read=StagingAnswer.model_validate_json,
            limit_s=LIMIT_S,
            without="nothing was staged" if question.source else "nothing was looked at",
        )
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
