"""`kunline baseline …`: pin the stack that later runs are held to, show and take back moves."""

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.answers.words import Language
from service.cli.baseline_page import print_baselines, print_moves
from service.cli.baseline_rule import end_rule, rule, rules
from service.cli.baseline_words import CATALOGUES
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import EXIT_CODE
from service.cli.language import Lang
from service.cli.person import user_name
from service.cli.plain import complain
from service.client import Client
from service.domain.baseline import MoveKind
from service.domain.verdict import Outcome
from service.formats.baselines import BaselinePin, BaselineRead, MovePage, MoveRead, UndoOrder

baselines = typer.Typer(
    no_args_is_help=True, help="Baselines: pin, show, history, undo, rule, rules, end-rule."
)
baselines.command()(rule)
baselines.command()(rules)
baselines.command("end-rule")(end_rule)

Channel = Annotated[str, typer.Option(help="Release channel.")]


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
    lang: Lang = Language.EN,
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
    with service(url, token, lang) as client:
        _tell(client.pin_baseline(order), lang, json=json)


@baselines.command()
def show(
    channel: Annotated[str | None, typer.Option(help="Only this release channel.")] = None,
    history: Annotated[bool, typer.Option(help="Also pins that were replaced.")] = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show which stack each cell is held to, who pinned it, when and why.

    Example: kunline baseline show --history
    """
    with service(url, token, lang) as client:
        _tell(client.baselines(channel=channel, history=history), lang, json=json)


@baselines.command()
def history(
    channel: Annotated[str | None, typer.Argument(help="Only this release channel.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many moves.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show every move of baselines, the newest first: who, when, why, from which stack to which.

    Example: kunline baseline history main
    """
    query: dict[str, str | int | None] = {"channel": channel, "limit": limit, "cursor": cursor}
    with service(url, token, lang) as client:
        page = client.ask(MovePage, "baselines/moves", query=query)
    if json:
        typer.echo(page.model_dump_json())
        return
    print_moves(page.moves, lang)
    if page.cursor is not None:
        typer.echo(CATALOGUES[lang]["more"].format(cursor=page.cursor))


@baselines.command()
def undo(
    why: Annotated[str, typer.Option(help="The reason, kept with the move.")],
    move: Annotated[
        UUID | None, typer.Argument(help="The move; by default the channel's last that stands.")
    ] = None,
    channel: Channel = "main",
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Put back what a move replaced; it is a move of its own, and can be taken back as well.

    Refused while an incident is open on one of its cells, and after a later move of them.

    Example: kunline baseline undo --why "pinned the wrong build"
    """
    with service(url, token, lang) as client:
        order = UndoOrder(why=why, who=user_name())
        chosen = move or _newest_standing(client, channel, lang)
        made = client.ask(MoveRead, f"baselines/moves/{chosen}/undo", body=order)
    if json:
        typer.echo(made.model_dump_json())
    else:
        print_moves((made,), lang)


def _newest_standing(client: Client, channel: str, lang: Language) -> UUID:
    """Return the last move of a channel that nobody took back. Exits 5 where there is none."""
    query: dict[str, str | int | None] = {"channel": channel, "limit": 100}
    moves = client.ask(MovePage, "baselines/moves", query=query).moves
    for each in moves:
        if each.kind is not MoveKind.UNDO and each.undone_by is None:
            return each.id
    complain(refused(f"no move of channel {channel} is left to take back", lang))
    raise typer.Exit(EXIT_CODE[Outcome.MISSING])


def _tell(found: tuple[BaselineRead, ...], lang: Language, *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(baseline.model_dump_json() for baseline in found) + "]")
    else:
        print_baselines(found, lang)
