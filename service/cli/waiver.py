"""`kunline waiver …`: worsenings that do not count in a gate for a while, each with a reason."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli import gate_calls
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.lengths import seconds_of
from service.cli.person import user_name
from service.cli.tables import print_table
from service.formats.waivers import WaiverOrder, WaiverRead, WaiverRevocation

waivers = typer.Typer(no_args_is_help=True, help="Waivers of a gate: add, list, revoke.")

Why = Annotated[str, typer.Option(help="The reason, kept in the audit and shown in answers.")]


@waivers.command()
def add(
    why: Why,
    plan: Annotated[str, typer.Option(help="The plan whose gate it is for.")] = "pr",
    condition: Annotated[
        str | None, typer.Option(help="Only the cell of this condition, by its whole key.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Only this metric, such as ttft_p50.")] = None,
    base: Annotated[str | None, typer.Option(help="Only beside this base stack.")] = None,
    lasting: Annotated[
        str, typer.Option("--for", metavar="7d", help="For how long, 90d at most.")
    ] = "7d",
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Waive a worsening for a while; whatever is not measured, broken or refused is never waived.

    Example: kunline waiver add --metric ttft_p50 --for 14d --why "known, fixed by the next release"
    """
    until = datetime.now(UTC) + timedelta(seconds=seconds_of(lasting))
    try:
        order = WaiverOrder(
            plan=plan,
            condition_key=condition,
            metric=metric,
            stack_key=base,
            until=until,
            why=why,
            who=user_name(),
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token) as client:
        _print((gate_calls.waive(client, order),), json=json)


@waivers.command("list")
def list_waivers(
    every: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List what is waived, by whom, until when and why.

    Example: kunline waiver list --all
    """
    with service(url, token) as client:
        found = gate_calls.waivers(client)
    _print(tuple(each for each in found if every or each.in_force), json=json)


@waivers.command()
def revoke(
    waiver_id: UUID,
    why: Why,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Take a waiver back before its time.

    Example: kunline waiver revoke 6f1c… --why "fixed"
    """
    with service(url, token) as client:
        order = WaiverRevocation(why=why, who=user_name())
        _print((gate_calls.revoke(client, waiver_id, order),), json=json)


def _print(found: tuple[WaiverRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    if not found:
        typer.echo("Nothing is waived.")
        return
    header = ("waiver", "plan", "cell", "metric", "until", "state", "by", "why")
    print_table(header, map(_row, found))


def _row(waiver: WaiverRead) -> tuple[str, ...]:
    over = "revoked" if waiver.revoked_at else "over"
    return (
        str(waiver.id),
        waiver.plan,
        waiver.title or "all",
        waiver.metric or "all",
        f"{waiver.until:%Y-%m-%d %H:%M} UTC",
        "in force" if waiver.in_force else over,
        waiver.who,
        waiver.why,
    )
