"""`kunline confirm …`: suspicions measured again on both stacks in turn, within a budget."""

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.answers.words import Language
from service.cli.confirm_page import SECONDS_PER_HOUR, budget_page, confirm_page, hours, word
from service.cli.confirm_words import CATALOGUES
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import EXIT_CODE
from service.cli.language import Lang
from service.cli.person import user_name
from service.cli.tables import print_table
from service.domain.confirm import State
from service.domain.verdict import Outcome
from service.formats.confirms import BudgetRead, ConfirmOrder, ConfirmPage, ConfirmRead

confirms = typer.Typer(
    no_args_is_help=True, help="Confirms of suspicions: list, show, start, cancel, budget."
)


@confirms.command("list")
def list_confirms(
    event: Annotated[UUID | None, typer.Option(help="Only of this event.")] = None,
    incident: Annotated[UUID | None, typer.Option(help="Only of this incident.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those that stand so.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List confirms, the newest first: what came of each, and what it cost.

    Example: kunline confirm list --state running
    """
    query = {
        "event_id": str(event) if event else None,
        "incident_id": str(incident) if incident else None,
        "state": state.value if state else None,
        "limit": limit,
        "cursor": cursor,
    }
    with service(url, token, lang) as client:
        page = client.ask(ConfirmPage, "confirms", query=query)
    if json:
        typer.echo(page.model_dump_json())
        return
    _print(page.confirms, lang)
    if page.cursor is not None:
        typer.echo(CATALOGUES[lang]["more"].format(cursor=page.cursor))


@confirms.command()
def show(
    confirm_id: UUID,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show one confirm: its word, why, what it cost, and each cell with its own interval.

    Exit codes: 0 unchanged or improved, 3 regressed, 4 inconclusive or not over.

    Example: kunline confirm show 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11 --lang zh
    """
    with service(url, token, lang) as client:
        found = client.ask(ConfirmRead, f"confirms/{confirm_id}")
    _tell(found, lang, json=json)
    raise typer.Exit(exit_code(found))


@confirms.command()
def start(
    event_id: Annotated[UUID, typer.Argument(help="The event; `kunline events` lists them.")],
    why: Annotated[str, typer.Option(help="The reason, kept in the audit.")],
    launches: Annotated[
        int | None, typer.Option(min=1, max=2000, help="Launches it may cost, else the setting's.")
    ] = None,
    card_hours: Annotated[
        float | None, typer.Option(min=0.001, help="Card-hours it may cost, else the setting's.")
    ] = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Measure an event's cells again, the stacks before and after its change in turn.

    What all confirms cost in 24 hours stays within the service's budget: this one waits for it.

    Example: kunline confirm start 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11 --why "before the release"
    """
    try:
        order = ConfirmOrder(
            event_id=event_id,
            why=why,
            who=user_name(),
            launches=launches,
            card_s=None if card_hours is None else card_hours * SECONDS_PER_HOUR,
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token, lang) as client:
        _tell(client.ask(ConfirmRead, "confirms", body=order), lang, json=json)


@confirms.command()
def cancel(
    confirm_id: UUID,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Cancel a confirm: what is queued is not measured, and nothing is concluded.

    Example: kunline confirm cancel 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11
    """
    with service(url, token, lang) as client:
        found = client.ask(ConfirmRead, f"confirms/{confirm_id}/cancel", method="POST")
    _tell(found, lang, json=json)


@confirms.command()
def budget(
    lang: Lang = Language.EN, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show what confirms may cost, and what is left of it.

    Example: kunline confirm budget
    """
    with service(url, token, lang) as client:
        found = client.ask(BudgetRead, "confirms/budget")
    typer.echo(found.model_dump_json() if json else budget_page(found, lang))


def exit_code(found: ConfirmRead) -> int:
    """Return the exit code of a confirm; one that is not over is not known yet, as inconclusive."""
    return EXIT_CODE[found.outcome or Outcome.INCONCLUSIVE]


def _tell(found: ConfirmRead, lang: Language, *, json: bool) -> None:
    typer.echo(found.model_dump_json() if json else confirm_page(found, lang))


def _print(found: tuple[ConfirmRead, ...], lang: Language) -> None:
    words = CATALOGUES[lang]
    if not found:
        typer.echo(words["none"])
        return
    names = ("confirm", "from", "to", "host", "state", "launches", "card-hours", "asked", "by")
    print_table([words[name] for name in names], (_row(each, lang) for each in found))


def _row(found: ConfirmRead, lang: Language) -> tuple[str, ...]:
    return (
        str(found.id),
        found.baseline_stack_name,
        found.candidate_stack_name,
        found.host,
        word(found, CATALOGUES[lang]),
        str(found.spent.launches),
        hours(found.spent.card_s),
        f"{found.asked_at:%Y-%m-%d %H:%M} UTC",
        found.asked_by,
    )
