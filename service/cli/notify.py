"""`kunline notify …`: the webhooks that are told of incidents and verdicts, and how they stand."""

import os
import time
from typing import Annotated

import typer
from pydantic import ValidationError

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import OPERATIONAL, USAGE
from service.cli.person import user_name
from service.cli.plain import complain
from service.cli.tables import print_table
from service.client import Client
from service.domain.notification import DeliveryState, NotificationKind, WebhookForm
from service.formats.webhooks import (
    ALL_KINDS,
    FROM_ENVIRONMENT,
    DeliveryRead,
    WebhookOrder,
    WebhookRead,
    WebhookRemoval,
)

webhooks = typer.Typer(
    no_args_is_help=True, help="Notifications by webhook: add, list, test, remove, deliveries."
)

ADDRESS = "KUNLINE_NOTIFY_ADDRESS"
SECRET = "KUNLINE_NOTIFY_SECRET"
# So long a test is waited for: a sweep comes every few seconds.
WAIT_S = 30.0
LOOK_EVERY_S = 1.0

Why = Annotated[str, typer.Option(help="The reason, kept in the audit.")]


@webhooks.command()
def add(
    name: Annotated[str, typer.Argument(help="What it is called here.")],
    why: Why,
    form: Annotated[WebhookForm, typer.Option(help="How it wants to be told.")] = (
        WebhookForm.KUNLINE
    ),
    kind: Annotated[
        list[NotificationKind] | None, typer.Option(help="Of what; repeatable, by default of all.")
    ] = None,
    lang: Annotated[str, typer.Option(help="The language that people read: en or zh.")] = "en",
    from_worker: Annotated[
        bool,
        typer.Option(help="Store the variables' names alone; the worker's process has them."),
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Add a webhook; its address and secret are read from the environment and never shown again.

    They stand in KUNLINE_NOTIFY_ADDRESS and KUNLINE_NOTIFY_SECRET. Forms: kunline (signed, needs a
    secret), feishu, dingtalk (a secret where the robot signs) and wecom (none).

    Example: kunline notify add oncall --form feishu --lang zh --why "who is on call reads it"
    """
    if ADDRESS not in os.environ:
        complain(
            f"set {ADDRESS} to the webhook's address: it may hold a token, so no option has it"
        )
        raise typer.Exit(USAGE)
    told = {"name": name, "form": form, "kinds": kind or ALL_KINDS, "language": lang, "why": why}
    try:
        order = WebhookOrder.model_validate({**told, **_secrets(from_worker), "who": user_name()})
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[-1]
        where = wrong["loc"][0] if wrong["loc"] else "webhook"
        raise typer.BadParameter(f"{where}: {wrong['msg']}") from None
    with service(url, token) as client:
        _print((client.ask(WebhookRead, "webhooks", body=order),), json=json)


@webhooks.command("list")
def list_webhooks(
    every: Annotated[bool, typer.Option("--all", help="Also those that were removed.")] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List webhooks, what they are told of, and how their deliveries stand.

    Example: kunline notify list
    """
    with service(url, token) as client:
        found = client.ask_all(WebhookRead, "webhooks")
    _print(tuple(each for each in found if every or each.removed_at is None), json=json)


@webhooks.command("test")
def try_out(
    webhook: Annotated[str, typer.Argument(help="Its name or id.")],
    wait_s: Annotated[float, typer.Option(min=0, help="Seconds to wait for it.")] = WAIT_S,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Send a test to a webhook by the way that everything goes, and wait until it is taken.

    Exits 1 where it was not, with what went wrong.

    Example: kunline notify test oncall
    """
    with service(url, token) as client:
        found = _named(client, webhook)
        made = client.ask(DeliveryRead, f"webhooks/{found.id}/test", method="POST")
        made = _waited(client, made, wait_s)
    _print_deliveries((made,), json=json)
    if made.state is not DeliveryState.SENT:
        complain(made.last_error or "nobody sent it yet: does a worker with a scheduler run?")
        raise typer.Exit(OPERATIONAL)


@webhooks.command()
def remove(
    webhook: Annotated[str, typer.Argument(help="Its name or id.")],
    why: Why,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Tell a webhook nothing any more; its address and secret are forgotten.

    Example: kunline notify remove oncall --why "the group is gone"
    """
    with service(url, token) as client:
        found = _named(client, webhook)
        order = WebhookRemoval(why=why, who=user_name())
        _print((client.ask(WebhookRead, f"webhooks/{found.id}/removal", body=order),), json=json)


@webhooks.command()
def deliveries(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 20,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show what was told to whom, what waits, and what was given up and why; the newest first.

    Example: kunline notify deliveries --limit 50
    """
    with service(url, token) as client:
        found = client.ask_all(DeliveryRead, "webhooks/deliveries", query={"limit": limit})
    _print_deliveries(found, json=json)


def _secrets(from_worker: bool) -> dict[str, str | None]:
    """Return address and secret from the environment, or the names of what holds them there."""
    if from_worker:
        secret = f"{FROM_ENVIRONMENT}{SECRET}" if SECRET in os.environ else None
        return {"address": f"{FROM_ENVIRONMENT}{ADDRESS}", "secret": secret}
    return {"address": os.environ[ADDRESS], "secret": os.environ.get(SECRET)}


def _named(client: Client, asked: str) -> WebhookRead:
    """Return the webhook of a name or an id. Exits 2 where there is none."""
    found = client.ask_all(WebhookRead, "webhooks")
    for each in found:
        if asked == str(each.id) or (asked == each.name and each.removed_at is None):
            return each
    known = ", ".join(each.name for each in found if each.removed_at is None) or "none"
    complain(f"no webhook {asked}; there are: {known}")
    raise typer.Exit(USAGE)


def _waited(client: Client, made: DeliveryRead, wait_s: float) -> DeliveryRead:
    """Return a delivery once it was tried, or as it stands when the time is over."""
    until = time.monotonic() + wait_s
    query: dict[str, str | int | None] = {"webhook_id": str(made.webhook_id), "limit": 200}
    while made.attempts == 0 or (made.state is DeliveryState.WAITING and not made.last_error):
        if time.monotonic() > until:
            break
        time.sleep(min(LOOK_EVERY_S, wait_s))
        found = client.ask_all(DeliveryRead, "webhooks/deliveries", query=query)
        made = next((each for each in found if each.id == made.id), made)
    return made


def _print(found: tuple[WebhookRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    if not found:
        typer.echo("Nobody is told: `kunline notify add` adds a webhook.")
        return
    header = (
        "name",
        "form",
        "to",
        "signed",
        "told of",
        "waiting",
        "given up",
        "last sent",
        "last error",
    )
    print_table(header, map(_row, found))


def _row(webhook: WebhookRead) -> tuple[str, ...]:
    every = set(ALL_KINDS) <= set(webhook.kinds)
    sent = webhook.last_sent_at
    return (
        f"{webhook.name} (removed)" if webhook.removed_at else webhook.name,
        f"{webhook.form}, {webhook.language}",
        webhook.host,
        "yes" if webhook.signed else "no",
        "all" if every else ", ".join(webhook.kinds),
        str(webhook.waiting),
        str(webhook.given_up),
        f"{sent:%Y-%m-%d %H:%M} UTC" if sent else "never",
        webhook.last_error or "",
    )


def _print_deliveries(found: tuple[DeliveryRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    if not found:
        typer.echo("Nothing was to be told yet.")
        return
    header = ("when", "webhook", "what", "state", "tries", "next try", "last error")
    print_table(
        header,
        [
            (
                f"{each.made_at:%Y-%m-%d %H:%M} UTC",
                each.webhook_name,
                each.title,
                each.state,
                str(each.attempts),
                f"{each.next_at:%H:%M:%S} UTC" if each.next_at else "",
                each.last_error or "",
            )
            for each in found
        ],
    )
