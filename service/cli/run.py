"""`kunline run`: plan, queue, follow with a progress bar, verdicts at the end."""

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated
from uuid import UUID

import typer

from service.cli.answers.words import Language
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import INTERRUPTED, USAGE, exit_code_of_cells
from service.cli.follow import follow
from service.cli.language import Lang
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.plan import PlanArgument, StackOption, WithOption, planned_or_exit
from service.cli.session_words import CATALOGUES
from service.cli.verdict_table import outcomes, print_verdicts
from service.client import Client
from service.formats.comparisons import SessionVerdicts
from service.formats.planned_sessions import (
    NotRunnableError,
    PlannedSession,
    SessionUpload,
    session_of,
    session_upload,
)
from service.formats.sessions import SessionRead

CellOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cell",
        metavar="KEY",
        help="Only this cell of the plan, by its condition's key; again for more.",
    ),
]


def run(
    name: PlanArgument,
    matrix: MatrixOption,
    stacks: StackOption = None,
    versions: WithOption = None,
    cells: CellOption = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Queue it, print its id and do not wait.")
    ] = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Measure a plan on the given stacks and judge it; the exit code is the verdict.

    Exit codes: 0 improved or unchanged, 3 regressed, 4 inconclusive or no baseline yet,
    5 broken, invalid or missing.

    Example: kunline run smoke --stack cpu-sglang-0.5.23
    """
    planned = planned_or_exit(
        name, matrix=matrix, stacks=stacks or (), versions=versions or (), language=lang
    )
    upload = ordered(only_cells(planned, cells or (), language=lang), language=lang)
    with service(url, token, lang) as client:
        session = submitted(client, upload, idempotency_key=secrets.token_hex(16))
        if detach:
            typer.echo(session.model_dump_json() if json else str(session.id))
            return
        finished = followed(client, session.id, language=lang)
        verdicts = client.verdicts(session.id)
    print_answer(finished, verdicts, json=json, language=lang)
    raise typer.Exit(exit_code_of_cells(outcomes(verdicts.cells)))


def only_cells(
    planned: PlannedSession, keys: Sequence[str], *, language: Language = Language.EN
) -> PlannedSession:
    """Return a plan with some of its cells alone, or end where it has none of them.

    keys: what the keys of their conditions begin with; none for all cells.
    """
    if not keys:
        return planned
    kept = [cell for cell in planned.cells if cell.condition.key.startswith(tuple(keys))]
    if not kept:
        complain(refused(f"plan {planned.plan.name} has no cell {', '.join(keys)}", language))
        raise typer.Exit(USAGE)
    return session_of(planned.matrix, planned.file, arms=planned.stacks, cells=kept)


def ordered(planned: PlannedSession, *, language: Language = Language.EN) -> SessionUpload:
    """Return a plan as it is ordered, or end with what stands in its way."""
    try:
        return session_upload(planned)
    except NotRunnableError as error:
        complain(refused(str(error), language))
        raise typer.Exit(USAGE) from error


def submitted(client: Client, upload: SessionUpload, *, idempotency_key: str) -> SessionRead:
    """Queue a session, its files first, and return it; the same key gives the same session."""
    for content in upload.artefacts.values():
        client.put_artefact(content)
    return client.submit(upload.order, idempotency_key=idempotency_key)


def followed(
    client: Client,
    session_id: UUID,
    *,
    tend: Callable[[], None] = lambda: None,
    language: Language = Language.EN,
) -> SessionRead:
    """Follow a session to its end; a Ctrl-C leaves it to the runners and says how to go on."""
    try:
        return follow(client, session_id, tend=tend, language=language)
    except KeyboardInterrupt:
        complain(CATALOGUES[language]["goes on"].format(id=session_id))
        raise typer.Exit(INTERRUPTED) from None


def print_answer(
    session: SessionRead,
    verdicts: SessionVerdicts,
    *,
    json: bool,
    language: Language = Language.EN,
) -> None:
    """Print a session's verdicts, and what became of launches that did not work."""
    if json:
        typer.echo(verdicts.model_dump_json())
        return
    words = CATALOGUES[language]
    print_verdicts(verdicts.cells, language)
    for job in session.jobs:
        named = {"number": job.ordinal + 1, "stack": job.stack_name}
        if job.broken is not None:
            layer = words[f"layer {job.broken.layer}"]
            typer.echo(words["broke"].format(layer=layer, finding=job.broken.finding, **named))
        elif job.state != "reported":
            typer.echo(words["is"].format(state=words[f"state {job.state}"], **named))
    if not verdicts.cells:
        typer.echo(words["alone"])
