"""The API on a real database: in this process for routes, behind a socket for the client."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from sqlalchemy import Engine

from service.api.app import create_app
from service.api.door import Door
from service.config import Settings
from service.formats.nudges import Nudge
from service.store.artefacts import ArtefactFiles
from tests.integration.builders import NOW
from tests.integration.databases import free_port

START_S = 20.0


@dataclass
class Heard:
    """An announcer that keeps what it is told."""

    nudges: list[Nudge] = field(default_factory=list)

    def __call__(self, nudges: Iterable[Nudge]) -> None:
        self.nudges += nudges


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


def application(
    engine: Engine,
    place: Path,
    *,
    settings: Settings | None = None,
    announce: Heard | None = None,
    clock: Clock | None = None,
) -> FastAPI:
    """Build the application on an open database."""
    door = Door(
        settings=settings or Settings(data_dir=place, web_dir=place / "no-web"),
        engine=engine,
        files=ArtefactFiles(str(place / "artefacts")),
        announce=announce or Heard(),
        now=clock or Clock(),
    )
    return create_app(door)


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Serve an application on a loopback port and give its URL."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + START_S
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(START_S)
