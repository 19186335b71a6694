"""`kunline noise`: equal launches measured against one another, and how much they differ."""

import secrets
from collections.abc import Sequence
from typing import Annotated

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import DONE, EXIT_CODE
from service.cli.lines import share
from service.cli.matrix import MatrixOption
from service.cli.plan import PlanArgument, alone_or_exit
from service.cli.run import followed, ordered, submitted
from service.cli.tables import print_table
from service.domain.plan import Cell
from service.domain.verdict import Outcome
from service.formats.noise import NoiseRead, Spread

# Enough launches for a spread to be known to about a third; a prior helps below.
LAUNCHES = 6
HEADER = ("cell", "metric", "launch", "seed", "residual", "hosts", "known from")


def noise(
    name: PlanArgument,
    matrix: MatrixOption,
    stack: Annotated[
        str | None,
        typer.Option("--stack", metavar="NAME", help="The stack; else the plan's baseline."),
    ] = None,
    launches: Annotated[
        int, typer.Option("--launches", min=2, max=100, help="Fresh servers of the stack.")
    ] = LAUNCHES,
    detach: Annotated[
        bool, typer.Option("--detach", help="Queue it, print its id and do not wait.")
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Measure one stack against itself, restarts included, and store how much launches differ.

    Verdicts and `kunline plan --power` use it from then on. Exit codes: 0 done, 5 when a cell has
    too few launches to tell.

    Example: kunline noise smoke --stack cpu-sglang-0.5.23 --launches 8
    """
    planned = alone_or_exit(name, matrix=matrix, stack=stack, launches=launches)
    upload = ordered(planned)
    with service(url, token) as client:
        session = submitted(client, upload, idempotency_key=secrets.token_hex(16))
        if detach:
            typer.echo(session.model_dump_json() if json else str(session.id))
            return
        finished = followed(client, session.id)
        found = client.noise(session_id=session.id)
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
    else:
        print_noise(found)
    told = {(each.condition_key, each.protocol_key) for each in found}
    silent = [cell for cell in planned.cells if _key(cell) not in told]
    if silent and not json:
        jobs = ", ".join(dict.fromkeys(str(job.state) for job in finished.jobs))
        typer.echo(f"{len(silent)} cells have too few launches to tell: their jobs are {jobs}")
    raise typer.Exit(EXIT_CODE[Outcome.MISSING] if silent else DONE)


def print_noise(found: Sequence[NoiseRead]) -> None:
    """Print noise as a table: standard deviations, and the launches and freedom behind them."""
    rows = [
        (
            each.title,
            each.metric,
            _spread(each.launch),
            _spread(each.seed),
            _spread(each.residual),
            _spread(each.hosts),
            _known_from(each),
        )
        for each in found
    ]
    print_table(HEADER, rows)


def _spread(part: Spread) -> str:
    """Return a spread and its degrees of freedom; '-' where nothing tells it."""
    return f"{share(part.spread)} ({part.freedom:g})" if part.freedom else "-"


def _known_from(read: NoiseRead) -> str:
    sessions = len(read.sessions)
    word = "session" if sessions == 1 else "sessions"
    return f"{read.launches} launches of {sessions} {word} on {read.host}"


def _key(cell: Cell) -> tuple[str, str]:
    return cell.condition.key, cell.protocol.key
