"""`kunline events`: what the screen suspects, one event per cause, and what each came from."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from service.cli.answers.words import Language
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.event_words import CATALOGUES
from service.cli.exit_codes import DONE, EXIT_CODE
from service.cli.language import Lang
from service.cli.lines import percent
from service.cli.plain import plain
from service.cli.tables import print_table
from service.domain.key import short
from service.domain.verdict import Outcome
from service.formats.events import EventDetail, EventPage, EventRead

# A nightly that nobody looked at over a weekend and a holiday is still in it.
DAYS = 7
# More runs, or presumed series, than this are counted and not named.
NAMED = 20
COLUMNS = ("cell", "metric", "on", "moved by", "evidence", "since stack", "now")

Words = Mapping[str, str]


class _EventsByDefault(TyperGroup):
    """A group that takes an event's id for `show` and that id."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before an id that stands where a command would."""
        if args and _is_id(args[0]):
            args = ["show", *args]
        return super().parse_args(ctx, args)


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


events = typer.Typer(cls=_EventsByDefault, invoke_without_command=True)


@events.callback()
def list_events(
    context: typer.Context,
    days: Annotated[
        int, typer.Option(min=1, max=3650, help="Seen in the last so many days.")
    ] = DAYS,
    host: Annotated[str | None, typer.Option(help="Only seen on this host.")] = None,
    condition: Annotated[
        str | None, typer.Option(help="Only those that list a cell of this condition key.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List what the screen suspects in the stored history, newest first; or show one event.

    A suspect is no verdict: a confirm measures both stacks again in turn (`kunline confirm`).

    Exit codes: 0 no event, 4 when a suspect is listed.

    For example:

      kunline events --days 1

      kunline events show 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11
    """
    if context.invoked_subcommand is not None:
        return
    since = datetime.now(UTC) - timedelta(days=days)
    with service(url, token, lang) as client:
        page = client.events(
            host=host, condition_key=condition, since=since, limit=limit, cursor=cursor
        )
    if json:
        typer.echo(page.model_dump_json())
    else:
        print_page(page, days, lang)
    raise typer.Exit(EXIT_CODE[Outcome.INCONCLUSIVE] if page.events else DONE)


@events.command()
def show(
    event_id: Annotated[UUID, typer.Argument(metavar="EVENT", help="The event's id.")],
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show one event: its series, their sizes, since which stack, and the runs it came from.

    Exit codes: 4, for it is a suspect.

    Example: kunline events show 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11
    """
    with service(url, token, lang) as client:
        detail = client.event(event_id)
    if json:
        typer.echo(detail.model_dump_json())
    else:
        print_event(detail, lang)
    raise typer.Exit(EXIT_CODE[Outcome.INCONCLUSIVE])


def sentence(event: EventRead, language: Language = Language.EN) -> str:
    """Return an event in one sentence: which way, how much, since which stack, and where."""
    words = CATALOGUES[language]
    change = event.stack_name
    if event.before_stack_name and event.before_stack_key != event.stack_key:
        stacks = {"before": event.before_stack_name, "after": event.stack_name}
        change = words["change"].format_map(stacks)
    cells = len({(each.condition_key, each.protocol_key) for each in event.moved})
    count = (
        words["series"].format(series=len(event.moved), cells=cells)
        if cells
        else words["sum"].format(trigger=_trigger(event, words))
    )
    return words["suspect"].format(
        count=count,
        direction=words[event.direction],
        size="" if event.change is None else words["size"].format(size=_size(event.change)),
        change=change,
        seen=event.seen_stack_name,
        where=(
            words["host"].format(host=event.host)
            if event.host
            else words["hosts"].format(hosts=", ".join(event.hosts))
        ),
    )


def _trigger(event: EventRead, words: Words) -> str:
    """Return what alarmed: a metric, or the word of a group of them."""
    return words.get(f"trigger {event.trigger}", event.trigger)


def _size(change: float) -> str:
    return percent(abs(change)).lstrip("+")


def print_page(page: EventPage, days: int, language: Language) -> None:
    """Print events, a line each. days: how far back it was asked."""
    words = CATALOGUES[language]
    if not page.events:
        typer.echo(words["none today" if days == 1 else "none"].format(days=days))
        return
    for event in page.events:
        said = sentence(event, language)
        typer.echo(plain(f"{event.id} {event.seen_at:%Y-%m-%d %H:%M} UTC {said}"))
    if page.cursor:
        typer.echo(plain(words["older"].format(cursor=page.cursor)))


def print_event(detail: EventDetail, language: Language) -> None:
    """Print one event: its series, their sizes, since which stack, and what it came from."""
    words, event = CATALOGUES[language], detail.event
    typer.echo(plain(words["event"].format(id=event.id, said=sentence(event, language))))
    for line in _about(detail, words):
        typer.echo(plain(f"  {line}"))
    rows = [
        (
            each.title,
            each.metric,
            each.host,
            percent(each.change),
            f"{each.evidence:.1f}",
            short(each.stack_key),
            words.get(f"word {each.answer}", each.answer) if each.answer else "-",
        )
        for each in event.moved
    ]
    if rows:
        print_table([words[name] for name in COLUMNS], rows)


def _about(detail: EventDetail, words: Words) -> Iterator[str]:
    event = detail.event
    yield words["triggered"].format(trigger=_trigger(event, words), at=_moment(event.seen_at))
    yield words["since"].format(at=_moment(event.change_at))
    if event.presumed:
        names = ", ".join(f"{each.title} {each.metric}" for each in event.presumed[:NAMED])
        yield words["presumed"].format(names=names, more=_more(event.presumed, words))
    for each in detail.confirms:
        yield words["confirm"].format(id=each.id, word=words[f"word {each.outcome or each.state}"])
    if detail.run_ids:
        names = ", ".join(str(run_id) for run_id in detail.run_ids[:NAMED])
        yield words["runs"].format(names=names, more=_more(detail.run_ids, words))


def _more(all_of_them: tuple[object, ...], words: Words) -> str:
    more = len(all_of_them) - NAMED
    return words["more"].format(count=more) if more > 0 else ""


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
