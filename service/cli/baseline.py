"""`kunline baseline …`: pin the stack that later runs are held to, and show what is pinned."""

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.person import user_name
from service.cli.tables import print_table
from service.domain.key import short
from service.formats.baselines import BaselinePin, BaselineRead

baselines = typer.Typer(no_args_is_help=True, help="Baselines: pin, show.")

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
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Pin a stack as the baseline of every cell it was validly measured in.

    Example: kunline baseline pin cpu-sglang-0.5.18 --why "release 2026.11 accepted"
    """
    try:
        order = BaselinePin(
            channel=channel, stack_key=stack_key, session_id=session, why=why, who=user_name()
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
