"""`kunline baseline …`: pin the stack that later runs are held to, show and take back moves."""

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.baseline_rule import end_rule, rule, rules
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, complain, service
from service.cli.exit_codes import EXIT_CODE
from service.cli.person import user_name
from service.cli.tables import print_table
from service.client import Client
from service.domain.baseline import MoveKind
from service.domain.key import short
from service.domain.verdict import Outcome
from service.formats.baselines import BaselinePin, BaselineRead, MovePage, MoveRead, UndoOrder

baselines = typer.Typer(
    no_args_is_help=True, help="Baselines: pin, show, history, undo, rule, rules, end-rule."
)
baselines.command()(rule)
baselines.command()(rules)
baselines.command("end-rule")(end_rule)

Channel = Annotated[str, typer.Option(help="Release channel.")]
# As many cells of a move as are listed; --json has them all.
CELLS_SHOWN = 20


@baselines.command()
def pin(
    stack_key: Annotated[
        str, typer.Argument(help="The stack: its key, how that begins, or its name.")
    ],
    why: Annotated[str, typer.Option(help="The reason, kept with the pin.")],
    channel: Channel = "main",
    session: Annotated[
        UUID | None, typer.Option(help="Only the cells measured in this session.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="The release that it is pinned for, kept with the move.")
    ] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Pin a stack as the baseline of every cell it was validly measured in.

    Example: kunline baseline pin cpu-sglang-0.5.18 --release 2026.11 --why "it passed acceptance"
    """
    try:
        order = BaselinePin(
            channel=channel,
            stack_key=stack_key,
            session_id=session,
            why=why,
            release=release,
            who=user_name(),
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token) as client:
        _print(client.pin_baseline(order), json=json)


@baselines.command()
def show(
    channel: Annotated[str | None, typer.Option(help="Only this release channel.")] = None,
    history: Annotated[bool, typer.Option(help="Also pins that were replaced.")] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show which stack each cell is held to, who pinned it, when and why.

    Example: kunline baseline show --history
    """
    with service(url, token) as client:
        _print(client.baselines(channel=channel, history=history), json=json)


@baselines.command()
def history(
    channel: Annotated[str | None, typer.Argument(help="Only this release channel.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many moves.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show every move of baselines, the newest first: who, when, why, from which stack to which.

    Example: kunline baseline history main
    """
    query: dict[str, str | int | None] = {"channel": channel, "limit": limit, "cursor": cursor}
    with service(url, token) as client:
        page = client.ask(MovePage, "baselines/moves", query=query)
    if json:
        typer.echo(page.model_dump_json())
        return
    if not page.moves:
        typer.echo("No baseline was ever moved.")
        return
    _print_moves(page.moves)
    if page.cursor is not None:
        typer.echo(f"There are more: kunline baseline history --cursor {page.cursor}")


@baselines.command()
def undo(
    why: Annotated[str, typer.Option(help="The reason, kept with the move.")],
    move: Annotated[
        UUID | None, typer.Argument(help="The move; by default the channel's last that stands.")
    ] = None,
    channel: Channel = "main",
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Put back what a move replaced; it is a move of its own, and can be taken back as well.

    Refused while an incident is open on one of its cells, and after a later move of them.

    Example: kunline baseline undo --why "pinned the wrong build"
    """
    with service(url, token) as client:
        order = UndoOrder(why=why, who=user_name())
        chosen = move or _newest_standing(client, channel)
        made = client.ask(MoveRead, f"baselines/moves/{chosen}/undo", body=order)
    if json:
        typer.echo(made.model_dump_json())
    else:
        _print_moves((made,))


def _newest_standing(client: Client, channel: str) -> UUID:
    """Return the last move of a channel that nobody took back. Exits 5 where there is none."""
    query: dict[str, str | int | None] = {"channel": channel, "limit": 100}
    moves = client.ask(MovePage, "baselines/moves", query=query).moves
    for each in moves:
        if each.kind is not MoveKind.UNDO and each.undone_by is None:
            return each.id
    complain(f"no move of channel {channel} is left to take back")
    raise typer.Exit(EXIT_CODE[Outcome.MISSING])


def _print_moves(moves: tuple[MoveRead, ...]) -> None:
    header = ("when", "channel", "did", "who", "why", "cell", "from", "to", "move")
    rows = [
        (
            f"{move.made_at:%Y-%m-%d %H:%M} UTC",
            move.channel,
            _did(move),
            move.made_by,
            move.why,
            *cell,
            str(move.id),
        )
        for move in moves
        for cell in _cells(move)
    ]
    print_table(header, rows)


def _did(move: MoveRead) -> str:
    """Return what a move was, and what became of it."""
    of = {"release": move.release, "accept": move.incident_id, "undo": move.undoes}.get(move.kind)
    words = str(move.kind) if of is None else f"{move.kind} {of}"
    return f"{words}, undone" if move.undone_by else words


def _cells(move: MoveRead) -> list[tuple[str, str, str]]:
    """Return the cells of a move, as many as a table holds."""
    shown = [
        (each.title, _stack(each.from_stack_name), _stack(each.to_stack_name))
        for each in move.cells[:CELLS_SHOWN]
    ]
    more = len(move.cells) - len(shown)
    return [*shown, (f"and {more} cells more", "", "")] if more > 0 else shown


def _stack(name: str | None) -> str:
    return name or "none"


def _print(found: tuple[BaselineRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(baseline.model_dump_json() for baseline in found) + "]")
        return
    if not found:
        typer.echo("No baseline is pinned: `kunline baseline pin` pins a stack.")
        return
    header = (
        "channel", "cell", "stack", "key", "pinned by", "pinned at", "why", "until", "stands on",
    )  # fmt: skip
    rows = [
        (
            baseline.channel,
            baseline.title,
            baseline.stack_name,
            short(baseline.stack_key),
            baseline.pinned_by,
            f"{baseline.pinned_at:%Y-%m-%d %H:%M} UTC",
            baseline.why,
            f"{baseline.replaced_at:%Y-%m-%d %H:%M} UTC" if baseline.replaced_at else "in force",
            _stands_on(baseline),
        )
        for baseline in found
    ]
    print_table(header, rows)


def _stands_on(baseline: BaselineRead) -> str:
    """Return how many runs a pin stands on today, and how many people have withdrawn."""
    gone = f", {baseline.withdrawn_runs} withdrawn" if baseline.withdrawn_runs else ""
    return f"{baseline.runs} runs{gone}"
