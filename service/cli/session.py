"""`kunline session …`: what was asked to be measured, how far it is, and how to stop it."""

from uuid import UUID

import typer

from service.cli.answers.words import Language
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.follow import done
from service.cli.language import Lang
from service.cli.session_words import CATALOGUES
from service.cli.tables import print_table
from service.cli.verdict_words import spoken
from service.formats.sessions import JobRead, SessionRead

sessions = typer.Typer(no_args_is_help=True, help="Sessions: list, show, cancel.")
COLUMNS = ("session", "plan", "state", "done", "launches", "host", "asked")
JOB_COLUMNS = ("launch", "stack", "state", "attempt", "cells", "runner", "seen")
FINDING_SHOWN = 120


@sessions.command("list")
def list_sessions(
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    limit: int = 20,
    json: AsJson = False,
) -> None:
    """List the newest sessions.

    Example: kunline session list --limit 5
    """
    with service(url, token, lang) as client:
        found = client.sessions(limit=limit)
    if json:
        typer.echo("[" + ",".join(session.model_dump_json() for session in found) + "]")
        return
    words = CATALOGUES[lang]
    if not found:
        typer.echo(words["none"])
        return
    rows = [
        (
            str(session.id),
            session.plan,
            words[f"state {session.state}"],
            f"{done(session):.0%}",
            str(len(session.jobs)),
            session.host or "-",
            f"{session.created_at:%Y-%m-%d %H:%M} UTC",
        )
        for session in found
    ]
    print_table([words[name] for name in COLUMNS], rows)


@sessions.command()
def show(
    session_id: UUID,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show one session and each of its launches.

    Example: kunline session show 6f1c… --lang zh
    """
    with service(url, token, lang) as client:
        _tell(client.session(session_id), lang, json=json)


@sessions.command()
def cancel(
    session_id: UUID,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Cancel a session: queued launches at once, a running one at its next sign of life.

    Example: kunline session cancel 6f1c…
    """
    with service(url, token, lang) as client:
        _tell(client.cancel(session_id), lang, json=json)


def _tell(session: SessionRead, language: Language, *, json: bool) -> None:
    if json:
        typer.echo(session.model_dump_json())
    else:
        print_session(session, language)


def print_session(session: SessionRead, language: Language) -> None:
    """Print how far a session is, and what became of each of its launches."""
    words = CATALOGUES[language]
    told = {"plan": session.plan, "state": words[f"state {session.state}"]}
    typer.echo(words["title"].format(id=session.id, done=f"{done(session):.0%}", **told))
    header = [words[name] for name in JOB_COLUMNS]
    print_table(header, (_row(job, language) for job in session.jobs))


def _row(job: JobRead, language: Language) -> tuple[str, ...]:
    broken = job.broken
    seen = f"broken at {broken.layer}: {broken.finding[:FINDING_SHOWN]}" if broken else ""
    return (
        str(job.ordinal + 1),
        job.stack_name,
        CATALOGUES[language][f"state {job.state}"],
        str(job.attempt),
        f"{job.cells_reported}/{job.cells}",
        job.runner or "-",
        spoken(seen, language),
    )
