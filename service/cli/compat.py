"""`kunline compat …`: the compatibility table, the upgrade advisor, and declared constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from service.cli import compat_calls
from service.cli.advice import ENTRIES, LanguageOption, check, verify
from service.cli.columns import aligned, duration
from service.cli.compat_calls import Wanted
from service.cli.compat_table import (
    Layout,
    Rows,
    cell_rows,
    entry_rows,
    history_rows,
    pivot_rows,
    written,
)
from service.cli.compat_words import WORDS, spoken
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.dossier_words import Language
from service.cli.exit_codes import USAGE
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plain import complain, plain
from service.domain.compat import CompatState
from service.formats.compat import CompatEntry
from service.formats.constraint_files import ConstraintSection, read_constraints
from service.formats.constraints import (
    DeclarationOrder,
    DeclaredAll,
    DeclaredRead,
    RetractionOrder,
)
from service.formats.coverage import CoverageRead, ProposalRead
from service.formats.matrix_files import read_matrix
from service.formats.messages import Message
from service.formats.yaml_file import FileProblemsError

compats = typer.Typer(no_args_is_help=True, help="Which stacks work, and may one move to another?")
compats.command()(check)
compats.command()(verify)

BY_LENGTH = 2


@dataclass(frozen=True, slots=True)
class Style:
    """How and in which language a table is written."""

    layout: Layout
    language: Language

    @property
    def words(self) -> Mapping[str, str]:
        """The words around the table."""
        return WORDS[self.language]


ModelOption = Annotated[str | None, typer.Option(help="Only this model.")]
StateOption = Annotated[
    list[CompatState] | None, typer.Option("--state", help="Only this state; again for more.")
]
ByOption = Annotated[
    list[str] | None,
    typer.Option("--by", help="Turn by two components; with --cell, the one to follow."),
]
WithOption = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="COMPONENT=VERSION", help="Only stacks that have it; again."),
]


@compats.command()
def show(
    model: ModelOption = None,
    card: Annotated[str | None, typer.Option(help="Only cards of this model.")] = None,
    states: StateOption = None,
    components: WithOption = None,
    stack: Annotated[str | None, typer.Option(help="One stack, cell by cell.")] = None,
    cell: Annotated[
        str | None, typer.Option(help="The history of one cell, by its condition's key.")
    ] = None,
    by: ByOption = None,
    older: Annotated[
        int | None, typer.Option("--older-than", min=0, help="Only measured so many days ago.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=ENTRIES)] = 50,
    layout: Annotated[Layout, typer.Option("--format", help="How it is written.")] = Layout.TABLE,
    language: LanguageOption = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
) -> None:
    """Show the table: per stack, cards and model what was measured, and nothing else.

    For example:

      kunline compat show --model tiny/tiny-llama --with torch=2.9

      kunline compat show --by xre --by kunlun-driver

      kunline compat show --format html
    """
    wanted = Wanted(model, card, tuple(states or ()), tuple(components or ()))
    now, follow = datetime.now(UTC), list(by or ())
    style = Style(layout, language)
    with service(url, token) as client:
        if cell is not None:
            past = compat_calls.history(client, cell, follow[0] if follow else None)
            title = f"{past.title}: {spoken(past.said, language)}"
            _say(past, history_rows(past, style.words, now=now), style, title)
        elif stack is not None:
            found = compat_calls.cells(client, stack, wanted)
            _say(found, cell_rows(found, style.words, now=now), style, found.stack_name)
        elif follow:
            if len(follow) != BY_LENGTH:
                raise typer.BadParameter("the table is turned by two components: --by A --by B")
            turned = compat_calls.pivot(client, follow[0], follow[1], wanted)
            title = style.words["turned"].format(row=turned.row, column=turned.column)
            _say(turned, pivot_rows(turned, style.words), style, title)
        else:
            entries, due = compat_calls.table(client, wanted, limit=limit)
            _entries(_older(entries, older, now), due, style, now)


@compats.command()
def snapshot(
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    url: Url = DEFAULT_URL,
    token: Token = None,
) -> None:
    """Write the whole table and its constraints to a file, for hosts without a network.

    Example: kunline compat snapshot --out compat.json
    """
    with service(url, token) as client:
        table = compat_calls.snapshot(client, now=datetime.now(UTC), limit=ENTRIES)
    out.write_text(table.model_dump_json(), encoding="utf-8")
    typer.echo(f"{out}: {len(table.entries)} lines, {len(table.constraints)} constraints")


@compats.command()
def plan(
    budget: Annotated[float, typer.Option(min=0.01, help="Hours of card time to spend.")] = 8.0,
    language: LanguageOption = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Propose what to measure next: what people ask about, what is open, and what is old.

    Example: kunline compat plan --budget 8
    """
    with service(url, token) as client:
        found = client.ask(CoverageRead, "compat/plan", query={"budget_s": int(budget * 3600)})
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    words = WORDS[language]
    if not found.proposals:
        typer.echo(words["nothing to propose"])
        return
    rows = [
        (str(place), _time(each, words), str(each.cells), spoken(each.said, language),
         each.command or "-")
        for place, each in enumerate(found.proposals, start=1)
    ]  # fmt: skip
    header = ("", *(words[name] for name in ("card time", "cells", "why", "command")))
    typer.echo(plain_lines(aligned(header, rows)))
    spent, whole = duration(found.seconds), duration(found.budget_s)
    typer.echo(words["budget"].format(spent=spent, budget=whole, left=found.left))


@compats.command()
def constraints(url: Url = DEFAULT_URL, token: Token = None, *, as_json: AsJson = False) -> None:
    """Show declared constraints beside what was measured, contradictions included.

    Example: kunline compat constraints
    """
    with service(url, token) as client:
        _declared(client.ask_all(DeclaredRead, "compat/constraints"), as_json=as_json)


@compats.command()
def declare(
    matrix: MatrixOption,
    why: Annotated[str, typer.Option(help="The reason, kept in the audit.")],
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Hand the constraints of the matrix to the service: constraints.yaml and all stack files.

    Example: kunline compat declare --why "the release notes of November"
    """
    try:
        order = DeclarationOrder(constraints=_of_matrix(matrix), why=why, who=user_name())
    except (FileProblemsError, ValueError) as error:
        complain(str(error))
        raise typer.Exit(USAGE) from error
    with service(url, token) as client:
        found = client.ask(DeclaredAll, "compat/constraints", body=order)
    _declared(found.constraints, as_json=as_json)


@compats.command()
def retract(
    name: Annotated[str, typer.Argument(help="The constraint's name.")],
    why: Annotated[str, typer.Option(help="The reason, kept in the audit.")],
    url: Url = DEFAULT_URL,
    token: Token = None,
) -> None:
    """Take a declared constraint back; it stays as history.

    Example: kunline compat retract kernels-of-one-drop --why "both drops work"
    """
    order = RetractionOrder(name=name, why=why, who=user_name())
    with service(url, token) as client:
        client.ask(DeclaredAll, "compat/constraints/retraction", body=order)
    typer.echo(f"{name} is taken back")


def _time(found: ProposalRead, words: Mapping[str, str]) -> str:
    """Return the card time of a proposal, and how much of it nobody measured."""
    time = duration(found.seconds)
    return words["assumed"].format(time=time, count=found.assumed) if found.assumed else time


def plain_lines(text: str) -> str:
    """Return lines in which nothing commands a terminal."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _of_matrix(root: Path) -> tuple[ConstraintSection, ...]:
    own = read_constraints(root).shape.constraints
    files = read_matrix(root).stacks.files.values()
    return (*own, *(each for file in files for each in file.shape.constraints))


def _older(
    entries: tuple[CompatEntry, ...], days: int | None, now: datetime
) -> tuple[CompatEntry, ...]:
    if days is None:
        return entries
    before = now - timedelta(days=days)
    return tuple(each for each in entries if each.measured_at and each.measured_at < before)


def _entries(entries: tuple[CompatEntry, ...], due: int, style: Style, now: datetime) -> None:
    if style.layout is Layout.JSON:
        typer.echo("[" + ",".join(entry.model_dump_json() for entry in entries) + "]")
        return
    if not entries and style.layout is Layout.TABLE:
        typer.echo(style.words["nothing"])
        return
    header, rows = entry_rows(entries, style.words, now=now)
    title = style.words["title"]
    typer.echo(written(header, rows, style.layout, title=title, language=style.language))
    if due:
        complain(style.words["due"].format(count=due))


def _say(found: Message, table: tuple[Sequence[str], Rows], style: Style, title: str) -> None:
    if style.layout is Layout.JSON:
        typer.echo(found.model_dump_json())
        return
    if style.layout is Layout.TABLE:
        typer.echo(plain(title))
    typer.echo(written(*table, style.layout, title=title, language=style.language))


def _declared(found: tuple[DeclaredRead, ...], *, as_json: bool) -> None:
    if as_json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    rows = [
        (
            each.constraint.name,
            each.words,
            each.constraint.source,
            each.declared_by,
            f"{each.declared_at:%Y-%m-%d}",
            str(each.broken_by),
            ", ".join(each.contradicted_by) or "-",
        )
        for each in found
    ]
    header = ("name", "declares", "source", "by", "at", "stacks against it", "works all the same")
    typer.echo(plain_lines(aligned(header, rows)) if rows else "Nothing is declared.")
