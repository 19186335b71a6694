"""`kunline demo`: the straight path once, on real SGLang, on this machine and nothing else."""

import json
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.cli.exit_codes import INTERRUPTED, USAGE
from service.cli.follow import OVER, follow
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.plan import planned_or_exit
from service.cli.requirements import (
    DISK_BYTES,
    DISK_BYTES_BUILT,
    NEEDS,
    built,
    cache_home,
    missing,
    this_machine,
)
from service.cli.run import ordered, print_answer, submitted
from service.cli.tree import Embedded, embedded_service, wait_for_runner
from service.cli.up import DataDir, Port, failing_clearly, serve_until_stopped
from service.client import Client, RefusedError, connected
from service.formats.baselines import BaselinePin
from service.formats.data_folder import data_home
from service.formats.planned_sessions import SessionUpload
from service.formats.sessions import SessionRead

PLAN = "demo"
DOWNLOAD_NOTE = (
    "The first time it downloads about 3 GB of wheels (SGLang twice, PyTorch for the CPU once) "
    "and builds two stacks; later runs use them again."
)
REMEMBERED = "demo-session.json"


def demo(
    matrix: MatrixOption,
    data_dir: DataDir = None,
    port: Port = 8000,
    leave: Annotated[
        bool, typer.Option("--exit", help="End after the verdicts instead of serving on.")
    ] = False,
) -> None:
    """Measure two pinned SGLang stacks on this machine's CPU, and judge the newer.

    Interrupted, it goes on at the first unreported launch when it is run again.

    Example: kunline demo --exit
    """
    data_dir = data_dir or data_home() / "demo"
    planned = planned_or_exit(PLAN, matrix=matrix)
    _require_machine(data_dir, len(planned.stacks))
    upload = ordered(planned)
    with (
        failing_clearly(),
        _interruptible(),
        embedded_service(data_dir, port=port, runner=True, say=complain) as embedded,
        connected(embedded.url) as client,
    ):
        wait_for_runner(embedded.tree, client)
        session = _measured(embedded, client, upload)
        _pin(client, upload, session)
        print_answer(session, client.verdicts(session.id), json=False)
        typer.echo(_what_next(embedded.url, session))
        if sys.stdin.isatty() and not leave:
            typer.echo("Serving on; Ctrl-C ends it.")
            serve_until_stopped(embedded.tree)


def _require_machine(data_dir: Path, stacks: int) -> None:
    """Say what is needed, before anything is downloaded, and end where it is missing."""
    cache = cache_home()
    ready = built(cache) >= stacks
    typer.echo(NEEDS if ready else f"{NEEDS} {DOWNLOAD_NOTE}", err=True)
    disk_bytes = DISK_BYTES_BUILT if ready else DISK_BYTES
    if lacks := missing(this_machine(cache, data_dir), disk_bytes=disk_bytes):
        complain("this machine will not do. " + " ".join(lacks))
        raise typer.Exit(USAGE)


def _measured(embedded: Embedded, client: Client, upload: SessionUpload) -> SessionRead:
    """Return the demo's session once it is over: the interrupted one, else a new one.

    Its key is on disk before it is asked for, so no kill can leave one that nobody knows of.
    """
    place = embedded.data_dir / REMEMBERED
    session = _interrupted(place, client, upload)
    if session is None:
        key = secrets.token_hex(16)
        _remember(place, {"order": _digest(upload), "key": key})
        session = submitted(client, upload, idempotency_key=key)
    _remember(place, {**_remembered(place), "session": str(session.id)})
    _say_where(session)
    return follow(client, session.id, tend=embedded.tree.tend)


def _interrupted(place: Path, client: Client, upload: SessionUpload) -> SessionRead | None:
    """Return the session to go on with, or None; one of another order is cancelled first."""
    known = _remembered(place)
    if not known:
        return None
    if known["order"] == _digest(upload):
        session = submitted(client, upload, idempotency_key=known["key"])
        return None if session.state in OVER else session
    if "session" in known and client.session(UUID(known["session"])).state not in OVER:
        complain("the demo's plan has changed since it was interrupted: beginning anew")
        client.cancel(UUID(known["session"]))
    return None


def _remembered(place: Path) -> dict[str, str]:
    """Return what is known of the demo's session; nothing where it has none."""
    return dict(json.loads(place.read_text())) if place.exists() else {}


def _remember(place: Path, known: dict[str, str]) -> None:
    half = place.with_suffix(".tmp")
    half.write_text(json.dumps(known))
    half.rename(place)


def _digest(upload: SessionUpload) -> str:
    return sha256(upload.order.model_dump_json().encode()).hexdigest()


def _say_where(session: SessionRead) -> None:
    reported = sum(job.state == "reported" for job in session.jobs)
    start = f"going on at launch {reported + 1}" if reported else "a new one"
    complain(f"session {session.id}, {start}; {len(session.jobs)} launches in all")


def _pin(client: Client, upload: SessionUpload, session: SessionRead) -> None:
    """Pin the older stack; where nothing of it could be measured, say so and go on."""
    key = upload.order.baseline_stack_key
    if key is None:
        return
    why = "the demo's older stack"
    try:
        client.pin_baseline(BaselinePin(stack_key=key, session_id=session.id, why=why, who="demo"))
    except RefusedError as error:
        complain(f"no baseline was pinned: {error}")


def _what_next(url: str, session: SessionRead) -> str:
    return (
        f"\nThe service is at {url} (its API: {url}/openapi.json). Try next, while it serves:\n"
        f"  kunline runs --session {session.id}     what was measured, with every repeat\n"
        "  kunline baseline show                     what later runs are held to\n"
        "  kunline plan p800-multi --stack …         what a matrix on P800 cards would measure\n"
        "  kunline read FILE…                        your own SGLang result files\n"
    )


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn a Ctrl-C into a sentence, once everything inside has been ended in order."""
    try:
        yield
    except KeyboardInterrupt:
        complain("stopped; run it again to go on at the first unreported launch")
        raise typer.Exit(INTERRUPTED) from None
