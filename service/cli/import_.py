"""`kunline import`: store results that were measured elsewhere, each once."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import USAGE
from service.cli.import_batches import Dated, LaunchPer, Statement
from service.cli.import_tally import Tally
from service.cli.import_upload import Source, Upload
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plain import complain, plain
from service.cli.read import mapped_or_exit
from service.cli.result_paths import STDIN, paths_of
from service.cli.stated import checked, require_time
from service.formats.chosen_stacks import ChosenStack, chosen, chosen_file
from service.formats.condition_files import SUFFIX, StatedCondition, read_condition
from service.formats.identities import Name
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.withdrawals import Reason
from service.formats.yaml_file import FileProblemsError

NAME: TypeAdapter[str] = TypeAdapter(Name)
REASON: TypeAdapter[str] = TypeAdapter(Reason)
LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


Files = Annotated[
    list[str],
    typer.Argument(help="Files, folders, patterns such as 'out/*.jsonl', or - for stdin."),
]
ConditionOption = Annotated[
    Path, typer.Option(help="A YAML file that states the whole condition; see docs/importing.md.")
]
MeasuredStack = Annotated[
    str, typer.Option(help="The stack they were measured on: its name, or a path to its file.")
]
MappingOption = Annotated[
    Path | None,
    typer.Option(help="What the columns of a CSV are, in YAML; see docs/csv-mapping.md."),
]
MeasuredHost = Annotated[
    str | None, typer.Option(help="The host they were measured on; unknown without it.")
]
LaunchOption = Annotated[
    LaunchPer, typer.Option(help="What is one server launch: repeats in it share its luck.")
]
MeasuredAt = Annotated[
    datetime | None,
    typer.Option(
        help="When they were measured, in UTC; else each file's own time of change.",
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
    ),
]
Correct = Annotated[
    str | None,
    typer.Option(
        metavar="REASON",
        help="Withdraw them where they are stored under something else, and store them anew.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Store nothing; say what would be stored.")]


def import_results(
    files: Files,
    condition: ConditionOption,
    stack: MeasuredStack,
    matrix: MatrixOption,
    host: MeasuredHost = None,
    mapping: MappingOption = None,
    launch_per: LaunchOption = LaunchPer.FILE,
    measured_at: MeasuredAt = None,
    correct: Correct = None,
    dry_run: DryRun = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Store results that were measured elsewhere, under a condition that you state as a whole.

    What a file tells must agree with what is stated; what contradicts it is refused. A result that
    is stored already stays as it is, whatever its file is called. Invalid ones are stored with
    their gate and never judged.

    Ends with 0 when all are stored, 5 when one is invalid, 2 when one was refused or unreadable.

    For example:

      kunline import results/*.jsonl --condition chat-16.yaml --stack p800-sglang-kunlun-0.5.17
    """
    stated, ordered = stated_or_exit(matrix, condition, stack)
    text_tools = mapped_or_exit(mapping)
    statement = Statement(
        condition=stated,
        stack=ordered.order(),
        host=checked(NAME, "--host", host),
        launch_per=launch_per,
        correct=checked(REASON, "--correct", correct),
        who=user_name(),
        dry_run=dry_run,
    )
    paths = list(dict.fromkeys(path for source in files for path in paths_of(source)))
    tally = Tally(dry_run=dry_run, unknown=stated.unknown)
    with service(url, token) as client, _sources(paths, measured_at) as sources:
        Upload(client, statement, tally, text_tools).send_all(sources)
    tally.show(as_json=json)
    raise typer.Exit(tally.exit_code)


def stated_or_exit(
    matrix: Path, condition: Path, stack: str
) -> tuple[StatedCondition, ChosenStack]:
    """Return what a person states; wrong input is told on stderr and exits 2."""
    try:
        read = read_matrix(matrix)
        is_path = stack.endswith(SUFFIX) or "/" in stack
        found = chosen_file(Path(stack)) if is_path else chosen(read, stack)
        return read_condition(condition, read), found
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error


@contextmanager
def _sources(paths: Sequence[str], measured_at: datetime | None) -> Iterator[list[Source]]:
    """Open the files as what can be read more than once; stdin is kept in a file meanwhile."""
    with tempfile.TemporaryDirectory(prefix="kunline-import-") as folder:
        yield [_source(path, Path(folder), measured_at) for path in paths]


def _source(shown: str, folder: Path, measured_at: datetime | None) -> Source:
    path, now = Path(shown), datetime.now(UTC)
    if shown == STDIN:
        path = folder / "stdin"
        with path.open("wb") as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
    try:
        state = path.stat()
    except (OSError, ValueError):
        # Whoever reads it says what is wrong with it.
        return Source(shown, path, Dated(now, "file"), 0)
    if measured_at is not None:
        stated = require_time(measured_at.replace(tzinfo=UTC), now=now, of="--measured-at")
        return Source(shown, path, Dated(stated, "stated"), state.st_size)
    # Beyond what a date can say, a time is in the future as well.
    changed = datetime.fromtimestamp(min(max(state.st_mtime, 0), LAST_SECOND), tz=UTC)
    dated = require_time(changed, now=now, of=f"the time of change of {plain(shown)}")
    return Source(shown, path, Dated(dated, "file"), state.st_size)
