"""`kunline schedule …`: what is measured every night."""

from typing import Annotated, Literal
from urllib.parse import quote

import typer
from pydantic import ValidationError

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plan import PlanArgument, StackOption, WithOption, planned_or_exit
from service.cli.run import ordered
from service.cli.tables import print_table
from service.formats.schedules import (
    DUPLICATES_MAX,
    ScheduleChange,
    ScheduleChanged,
    ScheduleOrder,
    ScheduleRead,
)

schedules = typer.Typer(no_args_is_help=True, help="Nights: set, list, pause, resume, remove.")

Name = Annotated[str, typer.Argument(help="The schedule's name.")]
Why = Annotated[str, typer.Option(help="The reason, kept in the audit.")]


@schedules.command("set")
def set_schedule(
    plan: PlanArgument,
    matrix: MatrixOption,
    at: Annotated[str, typer.Option(metavar="HH:MM", help="When each night begins.")],
    why: Why,
    name: Annotated[str | None, typer.Option(help="The schedule's name; else the plan's.")] = None,
    zone: Annotated[
        str, typer.Option(metavar="ZONE", help="Whose clock, such as Asia/Shanghai.")
    ] = "UTC",
    duplicates: Annotated[
        int,
        typer.Option(
            min=0,
            max=DUPLICATES_MAX,
            help="Launches measured once more each night, on rotation, to know their variance.",
        ),
    ] = 1,
    stacks: StackOption = None,
    versions: WithOption = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Measure a plan every night, from the matrix as it is now; set it again after a change there.

    Example: kunline schedule set p800-single --at 02:00 --zone Asia/Shanghai --why "nightly"
    """
    upload = ordered(
        planned_or_exit(plan, matrix=matrix, stacks=stacks or (), versions=versions or ())
    )
    try:
        order = ScheduleOrder(
            at=at, zone=zone, duplicates=duplicates, order=upload.order, why=why, who=user_name()
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        field = ".".join(map(str, wrong["loc"])) or "order"
        raise typer.BadParameter(f"{field}: {wrong['msg']}") from error
    with service(url, token) as client:
        for content in upload.artefacts.values():
            client.put_artefact(content)
        path = f"schedules/{quote(name or upload.order.plan, safe='')}"
        _print((client.ask(ScheduleRead, path, method="PUT", body=order),), json=json)


@schedules.command("list")
def list_schedules(url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False) -> None:
    """List what is measured every night, when the next begins, and what became of the last.

    Example: kunline schedule list
    """
    with service(url, token) as client:
        _print(client.ask_all(ScheduleRead, "schedules"), json=json)


@schedules.command()
def pause(name: Name, why: Why, url: Url = DEFAULT_URL, token: Token = None) -> None:
    """Begin no more nights until it is resumed; one that runs goes on.

    Example: kunline schedule pause p800-single --why "the host is being moved"
    """
    _change(name, "pause", why, url, token)


@schedules.command()
def resume(name: Name, why: Why, url: Url = DEFAULT_URL, token: Token = None) -> None:
    """Begin nights again; those that passed are not made up for.

    Example: kunline schedule resume p800-single --why "the host is back"
    """
    _change(name, "resume", why, url, token)


@schedules.command()
def remove(name: Name, why: Why, url: Url = DEFAULT_URL, token: Token = None) -> None:
    """Take a schedule away; what it measured stays.

    Example: kunline schedule remove p800-single --why "replaced by p800-all"
    """
    _change(name, "remove", why, url, token)


def _change(
    name: str, act: Literal["pause", "resume", "remove"], why: str, url: str, token: str | None
) -> None:
    try:
        change = ScheduleChange(act=act, why=why, who=user_name())
    except ValidationError as error:
        raise typer.BadParameter(f"why: {error.errors(include_url=False)[0]['msg']}") from error
    with service(url, token) as client:
        path = f"schedules/{quote(name, safe='')}/change"
        changed = client.ask(ScheduleChanged, path, body=change)
    if changed.schedule is None:
        typer.echo(f"{name} is removed; what it measured stays")
        return
    _print((changed.schedule,), json=False)


def _print(found: tuple[ScheduleRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    if not found:
        typer.echo("Nothing is measured every night: `kunline schedule set PLAN --at 02:00`.")
        return
    header = (
        "schedule", "plan", "pool", "at", "launches", "next", "last session", "why", "set by",
    )  # fmt: skip
    rows = [
        (
            each.name,
            each.plan,
            each.pool,
            f"{each.at} {each.zone}",
            f"{each.launches} + {each.duplicates}",
            _next(each),
            str(each.last_session_id or "-"),
            each.why,
            each.changed_by,
        )
        for each in found
    ]
    print_table(header, rows)


def _next(schedule: ScheduleRead) -> str:
    if schedule.next_begin is None:
        return "paused"
    if schedule.waits_for is not None:
        return "waits for the last session"
    return f"{schedule.next_begin:%Y-%m-%d %H:%M} UTC"
