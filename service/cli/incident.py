"""`kunline incident …`: deviations with one cause, what people say of them, and since when."""

from datetime import datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.answers.words import Language
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.incident_attribute import attribute_incident
from service.cli.incident_page import (
    incident_page,
    print_incident,
    print_incidents,
    record_page,
)
from service.cli.incident_profile import profile_incident, show_profiles
from service.cli.incident_words import CATALOGUES
from service.cli.language import Lang
from service.cli.person import user_name
from service.domain.incident import Triage
from service.formats.incidents import (
    IncidentDetail,
    IncidentOrder,
    IncidentPage,
    IncidentRead,
    MergeOrder,
    RecordRead,
    ReopenOrder,
    SplitOrder,
    TriageOrder,
)

incidents = typer.Typer(
    no_args_is_help=True,
    help="Incidents: list, show, open, triage, merge, split, reopen, attribute, profile, record.",
)

Why = Annotated[str, typer.Option(help="The reason, kept in the audit.")]


@incidents.command("list")
def list_incidents(
    every: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List the incidents that are open, the newest first; they freeze the baselines of their cells.

    Example: kunline incident list --all
    """
    query = {"limit": limit, "cursor": cursor, "is_open": None if every else True}
    with service(url, token, lang) as client:
        page = client.ask(IncidentPage, "incidents", query=query)
    if json:
        typer.echo(page.model_dump_json())
        return
    print_incidents(page.incidents, lang)
    if page.cursor is not None:
        typer.echo(CATALOGUES[lang]["more"].format(cursor=page.cursor))


@incidents.command()
def show(
    incident_id: UUID,
    lang: Lang = Language.EN,
    markdown: Annotated[
        Path | None, typer.Option(help="Write it as one page of Markdown to this file.")
    ] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show one incident: how it stands, what it lists and by which runs, and what was done to it.

    Example: kunline incident show 6f1c… --lang zh --markdown incident.md
    """
    with service(url, token, lang) as client:
        detail = client.ask(IncidentDetail, f"incidents/{incident_id}")
    if markdown is not None:
        markdown.write_text(incident_page(detail, lang, base=url), encoding="utf-8")
    if json:
        typer.echo(detail.model_dump_json())
    else:
        print_incident(detail, lang)


@incidents.command("open")
def open_incident(
    event_id: Annotated[UUID, typer.Argument(help="The event; `kunline events` lists them.")],
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Open an incident from an event, which freezes the baselines of its cells.

    Example: kunline incident open 6f1c… --why "measured again by hand"
    """
    with service(url, token, lang) as client:
        order = IncidentOrder(event_id=event_id, why=why, who=user_name())
        _tell(client.ask(IncidentRead, "incidents", body=order), lang, json=json)


@incidents.command()
def triage(
    incident_id: UUID,
    answer: Annotated[Triage, typer.Argument(help="What it is.")],
    why: Why,
    owner: Annotated[str | None, typer.Option(help="Who looks after it.")] = None,
    due: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Until which day.")
    ] = None,
    comment: Annotated[str | None, typer.Option(help="What is known of it.")] = None,
    link: Annotated[list[str] | None, typer.Option(help="Where to read on; repeatable.")] = None,
    channel: Annotated[str, typer.Option(help="Where `accept` pins the candidate.")] = "main",
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Answer an incident: fix, accept, noise or host; accept moves the baseline of its cells.

    Example: kunline incident triage 6f1c… accept --why "the price of the new scheduler"
    """
    try:
        order = TriageOrder(
            triage=answer,
            why=why,
            owner=owner,
            due=due.date() if due else None,
            comment=comment,
            links=tuple(link) if link else None,
            channel=channel,
            who=user_name(),
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token, lang) as client:
        _tell(
            client.ask(IncidentRead, f"incidents/{incident_id}/triage", body=order), lang, json=json
        )


@incidents.command()
def merge(
    incident_id: UUID,
    into: Annotated[UUID, typer.Argument(help="The incident that it becomes part of.")],
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Make an incident part of another: they have one cause.

    Example: kunline incident merge 6f1c… 90ab… --why "one driver"
    """
    order = MergeOrder(into=into, why=why, who=user_name())
    with service(url, token, lang) as client:
        _tell(
            client.ask(IncidentRead, f"incidents/{incident_id}/merge", body=order), lang, json=json
        )


@incidents.command()
def split(
    incident_id: UUID,
    condition: Annotated[list[str], typer.Option(help="A condition's whole key; repeatable.")],
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Make some cells of an incident one of their own: they have another cause.

    Example: kunline incident split 6f1c… --condition 0d3e… --why "two causes"
    """
    try:
        order = SplitOrder(condition_keys=tuple(condition), why=why, who=user_name())
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token, lang) as client:
        _tell(
            client.ask(IncidentRead, f"incidents/{incident_id}/split", body=order), lang, json=json
        )


@incidents.command()
def reopen(
    incident_id: UUID,
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Open an incident again, or take it out of the one that it is part of.

    Example: kunline incident reopen 6f1c… --why "it came back"
    """
    order = ReopenOrder(why=why, who=user_name())
    with service(url, token, lang) as client:
        _tell(
            client.ask(IncidentRead, f"incidents/{incident_id}/reopen", body=order), lang, json=json
        )


incidents.command("attribute")(attribute_incident)
incidents.command("profile")(profile_incident)
incidents.command("profiles")(show_profiles)


@incidents.command()
def record(
    lang: Lang = Language.EN, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show how often people called an incident noise, and how long verdicts and answers took.

    Example: kunline incident record
    """
    with service(url, token, lang) as client:
        found = client.ask(RecordRead, "incidents/record")
    typer.echo(found.model_dump_json() if json else record_page(found, lang))


def _tell(incident: IncidentRead, lang: Language, *, json: bool) -> None:
    if json:
        typer.echo(incident.model_dump_json())
    else:
        print_incidents((incident,), lang)
