"""`kunline up`: the whole service in one process tree, on nothing but Python."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from service.cli.broker import NoBrokerError
from service.cli.exit_codes import INTERRUPTED, OPERATIONAL, TERMINATED
from service.cli.plain import complain
from service.cli.processes import ChildGaveUpError, Tree
from service.cli.tree import embedded_service
from service.client import RefusedError, ServiceAwayError
from service.formats.data_folder import data_home

TEND_EVERY_S = 0.5

DataDir = Annotated[
    Path | None,
    typer.Option(help="Where database, artefacts and logs live. [default: the user's data folder]"),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="KUNLINE_DATA_DIR",
        help="Where database, artefacts and logs live. [default: the user's data folder]",
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Loopback port to listen on.")]


def up(
    data_dir: Kept = None,
    port: Port = 8000,
    runner: Annotated[bool, typer.Option("--runner", help="Run a runner here as well.")] = False,
) -> None:
    """Run service, worker, scheduler and broker here, on SQLite, until Ctrl-C.

    Example: kunline up --runner
    """
    with (
        failing_clearly(),
        embedded_service(
            data_dir or data_home(), port=port, runner=runner, say=complain
        ) as embedded,
    ):
        typer.echo(f"Kunline is at {embedded.url} (logs in {embedded.data_dir}); Ctrl-C ends it.")
        serve_until_stopped(embedded.tree)


def serve_until_stopped(tree: Tree) -> None:
    """Keep children running until a person presses Ctrl-C."""
    try:
        while True:
            tree.tend()
            time.sleep(TEND_EVERY_S)
    except KeyboardInterrupt:
        complain("stopping ...")


class Terminated(KeyboardInterrupt):
    """SIGTERM asks for the same as a Ctrl-C; only the exit code tells them apart."""


def stopped_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


@contextmanager
def failing_clearly() -> Iterator[None]:
    """End with a sentence where a part of the service does not run; treat SIGTERM as Ctrl-C."""
    with terminable():
        try:
            yield
        except (ChildGaveUpError, NoBrokerError, RefusedError, ServiceAwayError) as error:
            complain(str(error))
            raise typer.Exit(OPERATIONAL) from error


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated at a SIGTERM while the block runs."""
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated
