"""`kunline events`: what the screen suspects, one event per cause, and what each came from."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import DONE, EXIT_CODE
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
    with service(url, token) as client:
        page = client.events(
            host=host, condition_key=condition, since=since, limit=limit, cursor=cursor
        )
    if json:
        typer.echo(page.model_dump_json())
    else:
        _print_page(page, days)
    raise typer.Exit(EXIT_CODE[Outcome.INCONCLUSIVE] if page.events else DONE)


@events.command()
def show(
    event_id: Annotated[UUID, typer.Argument(metavar="EVENT", help="The event's id.")],
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show one event: its series, their sizes, since which stack, and the runs it came from.

    Exit codes: 4, for it is a suspect.

    Example: kunline events show 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11
    """
    with service(url, token) as client:
        detail = client.event(event_id)
    if json:
        typer.echo(detail.model_dump_json())
    else:
        _print_event(detail)
    raise typer.Exit(EXIT_CODE[Outcome.INCONCLUSIVE])


def sentence(event: EventRead) -> str:
    """Return an event in one sentence: which way, how much, since which stack, and where."""
    size = "" if event.change is None else f", by {_size(event.change)}"
    change = event.stack_name
    if event.before_stack_name and event.before_stack_key != event.stack_key:
        change = f"{event.before_stack_name} → {event.stack_name}"
    where = f"it is the host {event.host}" if event.host else f"on {', '.join(event.hosts)}"
    cells = len({(each.condition_key, each.protocol_key) for each in event.moved})
    count = (
        f"{len(event.moved)} series of {cells} cells" if cells else f"the sum of {event.trigger}"
    )
    return (
        f"suspect: {count}, for the {event.direction}{size}, since {change}; "
        f"seen with {event.seen_stack_name}; {where}"
    )


def _size(change: float) -> str:
    return percent(abs(change)).lstrip("+")


def _print_page(page: EventPage, days: int) -> None:
    if not page.events:
        word = "day" if days == 1 else f"{days} days"
        typer.echo(f"No event was seen in the last {word}.")
        return
    for event in page.events:
        typer.echo(plain(f"{event.id} {event.seen_at:%Y-%m-%d %H:%M} UTC {sentence(event)}"))
    if page.cursor:
        typer.echo(plain(f"older ones: --cursor {page.cursor}"))


def _print_event(detail: EventDetail) -> None:
    event = detail.event
    typer.echo(plain(f"event {event.id}: {sentence(event)}"))
    for line in _about(detail):
        typer.echo(plain(f"  {line}"))
    header = ("cell", "metric", "host", "change", "evidence", "since", "now")
    rows = [
        (
            each.title,
            each.metric,
            each.host,
            percent(each.change),
            f"{each.evidence:.1f}",
            short(each.stack_key),
            each.answer or "-",
        )
        for each in event.moved
    ]
    if rows:
        print_table(header, rows)


def _about(detail: EventDetail) -> Iterator[str]:
    event = detail.event
    yield f"triggered by {event.trigger}, seen at {event.seen_at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"first measured at the new level at {event.change_at:%Y-%m-%d %H:%M:%S} UTC"
    if event.presumed:
        names = [f"{each.title} {each.metric}" for each in event.presumed[:NAMED]]
        yield f"not measured then, presumed: {', '.join(names)}{_more(event.presumed)}"
    for each in detail.confirms:
        yield f"confirm {each.id}: {each.outcome or each.state}"
    if detail.run_ids:
        names = [str(run_id) for run_id in detail.run_ids[:NAMED]]
        yield f"from the runs {', '.join(names)}{_more(detail.run_ids)}"


def _more(all_of_them: tuple[object, ...]) -> str:
    more = len(all_of_them) - NAMED
    return f" and {more} more" if more > 0 else ""
