"""What a page asks the API, in this process and on a real database."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.stack import Stack
from service.formats.baselines import BaselinePin
from service.formats.sessions import SessionOrder
from service.store.database import writing
from service.usecases.pin_baseline import pin_baseline
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.serving import Clock, application

LOCAL = "http://localhost:8000"
# The stack that is called old was built first.
BUILT = {OLD.key: date(2026, 9, 1), NEW.key: date(2026, 10, 1)}


@contextmanager
def pages(engine: Engine, place: Path, clock: Clock | None = None) -> Iterator[TestClient]:
    """Open the application."""
    with TestClient(application(engine, place, clock=clock), base_url=LOCAL) as client:
        yield client


def get(client: TestClient, path: str, **asked: object) -> Any:
    """Return what a page is answered."""
    answer = client.get(f"/api/v1{path}", params=asked)  # type: ignore[arg-type]  # lists and numbers are as good as text
    assert answer.status_code == 200, answer.text
    return answer.json()


def pin(engine: Engine, stack: Stack, channel: str = "main") -> None:
    """Pin a stack in all cells it was measured in."""
    wanted = BaselinePin(channel=channel, stack_key=stack.key, why="it is good")
    with writing(engine) as session:
        pin_baseline(session, wanted, who="ann", now=NOW)


def dated(order: SessionOrder) -> SessionOrder:
    """Return a session whose old stack was built before its new one."""
    stacks = tuple(
        stack.model_copy(update={"built_at": BUILT.get(stack.key, stack.built_at)})
        for stack in order.stacks
    )
    return order.model_copy(update={"stacks": stacks})
