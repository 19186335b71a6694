"""The door: what every route works with, made once for the process."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Engine

from service.config import Settings
from service.store.artefacts import Files
from service.store.database import (
    ReadSession,
    WriteSession,
    reading,
    reading_at_once,
    writing,
)
from service.usecases.send_nudges import Announcer


@dataclass(frozen=True, slots=True)
class Door:
    """The database, the files, the messages and the clock."""

    settings: Settings
    engine: Engine
    files: Files
    announce: Announcer
    now: Callable[[], datetime]

    def reading(self) -> AbstractContextManager[ReadSession]:
        """Open a session that only asks."""
        return reading(self.engine)

    def reading_at_once(self) -> AbstractContextManager[ReadSession]:
        """Open a session that only asks, all of it of one moment."""
        return reading_at_once(self.engine)

    def writing(self) -> AbstractContextManager[WriteSession]:
        """Open a session that commits once, at its end: before the answer is sent."""
        return writing(self.engine)


async def door_of(request: Request) -> Door:
    """Return the process's door. A coroutine, so that it costs no thread."""
    door: Door = request.app.state.door
    return door


Opened = Annotated[Door, Depends(door_of)]
