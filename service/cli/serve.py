"""`kunline serve|worker|scheduler|runner|db|token`: each becomes the process it names."""

import os
import sys
from typing import Annotated

import typer

Context = typer.Context


def serve(
    host: Annotated[str | None, typer.Option(help="Address; loopback unless tokens exist.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="Processes.")] = None,
) -> None:
    """Run the HTTP API on the database that KUNLINE_DATABASE_URL names.

    Example: KUNLINE_DATABASE_URL=postgresql+psycopg://… kunline serve --workers 2
    """
    given = {"KUNLINE_HOST": host, "KUNLINE_PORT": port, "KUNLINE_WORKERS": workers}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    become("service.api")


def worker() -> None:
    """Run the service's own tasks: the sweep that finds lost jobs, and what follows a report.

    Example: KUNLINE_BROKER_URL=redis://broker:6379/0 kunline worker
    """
    become("service.tasks.worker")


def scheduler() -> None:
    """Send the service's periodic tasks on time; run exactly one.

    Example: KUNLINE_BROKER_URL=redis://broker:6379/0 kunline scheduler
    """
    become("service.tasks.scheduler")


def runner(
    pool: Annotated[str | None, typer.Option(help="Pool whose jobs to take.")] = None,
    chip: Annotated[str | None, typer.Option(help="Chip family: cpu, kunlun.")] = None,
    cards: Annotated[int | None, typer.Option(min=1, help="How many cards it owns.")] = None,
) -> None:
    """Run a runner on this host: it takes jobs, brings stacks up and measures them.

    Example: KUNLINE_URL=https://kunline.example kunline runner --pool p800
    """
    given = {"KUNLINE_POOL": pool, "KUNLINE_CHIP": chip, "KUNLINE_CARDS": cards}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    become("runners.worker")


def database(context: Context) -> None:
    """Operator's work on the database: `kunline db migrate`, `kunline db retell`.

    `kunline db migrate --help` tells how the database is named.

    Example: kunline db migrate
    """
    become("service.admin", "db", *context.args)


def token(context: Context) -> None:
    """Make, list and revoke API tokens, on the host of the database.

    create, list, rotate, revoke: `kunline token create --help` tells the options of one.

    Example: kunline token create ci --scope read --scope ingest
    """
    become("service.admin", "token", *context.args)


def become(name: str, *arguments: str) -> None:
    """Replace this process by one of our modules, so that signals reach it undisturbed."""
    os.execv(sys.executable, [sys.executable, "-m", name, *arguments])
