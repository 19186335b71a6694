"""`kunline session …`: what was asked to be measured, how far it is, and how to stop it."""

from uuid import UUID

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.follow import done
from service.cli.tables import print_table
from service.formats.sessions import SessionRead

sessions = typer.Typer(no_args_is_help=True, help="Sessions: list, show, cancel.")


@sessions.command("list")
def list_sessions(
    url: Url = DEFAULT_URL, token: Token = None, *, limit: int = 20, json: AsJson = False
) -> None:
    """List the newest sessions.

    Example: kunline session list --limit 5
    """
    with service(url, token) as client:
        found = client.sessions(limit=limit)
    if json:
        typer.echo("[" + ",".join(session.model_dump_json() for session in found) + "]")
        return
    if not found:
        typer.echo("No session yet: `kunline run PLAN` asks for one.")
        return
    header = ("session", "plan", "state", "done", "launches", "host", "asked for at")
    rows = [
        (
            str(session.id),
            session.plan,
            session.state,
            f"{done(session):.0%}",
            str(len(session.jobs)),
            session.host or "-",
            f"{session.created_at:%Y-%m-%d %H:%M} UTC",
        )
        for session in found
    ]
    print_table(header, rows)


@sessions.command()
def show(
    session_id: UUID, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show one session and each of its launches.

    Example: kunline session show 6f1c…
    """
    with service(url, token) as client:
        _print(client.session(session_id), json=json)


@sessions.command()
def cancel(
    session_id: UUID, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Cancel a session: queued launches at once, a running one at its next sign of life.

    Example: kunline session cancel 6f1c…
    """
    with service(url, token) as client:
        _print(client.cancel(session_id), json=json)


def _print(session: SessionRead, *, json: bool) -> None:
    if json:
        typer.echo(session.model_dump_json())
        return
    typer.echo(f"session {session.id}: {session.plan}, {session.state}, {done(session):.0%} done")
    header = ("launch", "stack", "state", "attempt", "cells", "runner", "what was seen")
    rows = [
        (
            str(job.ordinal + 1),
            job.stack_name,
            job.state,
            str(job.attempt),
            f"{job.cells_reported}/{job.cells}",
            job.runner or "-",
            f"broken at {job.broken.layer}: {job.broken.finding[:120]}" if job.broken else "",
        )
        for job in session.jobs
    ]
    print_table(header, rows)
