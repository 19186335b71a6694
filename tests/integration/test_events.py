"""A session's event stream: whole at first, then what changes, then over; and it can be resumed."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import Engine

from service.api.events import Followed
from tests.integration import builders, path
from tests.integration.serving import application, served

TIMEOUT_S = 20


@dataclass
class Service:
    """A served application, its address, and what it follows."""

    url: str
    followed: Followed

    def address(self, session_id: UUID) -> str:
        return f"{self.url}/api/v1/sessions/{session_id}/events"


@dataclass
class Event:
    """One event as it was sent."""

    name: str
    id: str
    data: Any


@pytest.fixture
def service(engine: Engine, tmp_path: Path) -> Iterator[Service]:
    app = application(engine, tmp_path)
    app.state.followed = Followed(every_s=0.02, listeners_max=3)
    with served(app) as url:
        yield Service(url, app.state.followed)


def read(answer: httpx.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield Event(fields["event"], fields["id"], json.loads(fields["data"]))
            fields = {}


def heard(service: Service, session_id: UUID, *, last: str | None = None) -> list[Event]:
    """Listen until the stream ends."""
    headers = {} if last is None else {"Last-Event-ID": last}
    address = service.address(session_id)
    with httpx.stream("GET", address, headers=headers, timeout=TIMEOUT_S) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return list(read(answer))


def test_a_session_that_is_over_is_sent_whole_and_then_as_over(
    engine: Engine, service: Service
) -> None:
    session_id = path.do_session(engine, builders.session_order())

    whole, over = heard(service, session_id)

    assert (whole.name, over.name) == ("session", "over")
    assert [job["state"] for job in whole.data["jobs"]] == ["reported"] * 4
    assert over.data == {"session_id": str(session_id), "state": "finished"}


def test_what_is_known_already_is_not_sent_again(engine: Engine, service: Service) -> None:
    session_id = path.do_session(engine, builders.session_order())
    whole = heard(service, session_id)[0]

    again = heard(service, session_id, last=whole.id)

    assert [event.name for event in again] == ["over"]


def test_what_changes_is_sent_as_it_happens(engine: Engine, service: Service) -> None:
    session_id = path.submit(engine, builders.session_order())

    def work() -> None:
        while (job := path.claim(engine)) is not None:
            time.sleep(0.1)
            path.do_job(engine, job)

    worker = threading.Thread(target=work)
    with httpx.stream("GET", service.address(session_id), timeout=TIMEOUT_S) as answer:
        events = read(answer)
        whole = next(events)
        worker.start()
        rest = list(events)
    worker.join()

    assert len(whole.data["jobs"]) == 4
    assert [event.name for event in rest][-1] == "over"
    assert {event.name for event in rest[:-1]} == {"jobs"}
    assert max(len(event.data["jobs"]) for event in rest[:-1]) < 4
    assert {job["ordinal"] for event in rest[:-1] for job in event.data["jobs"]} == {0, 1, 2, 3}
    assert rest[-2].data["session"]["state"] == "finished"


def test_who_goes_away_is_forgotten(engine: Engine, service: Service) -> None:
    session_id = path.submit(engine, builders.session_order())
    with httpx.stream("GET", service.address(session_id), timeout=TIMEOUT_S) as answer:
        # The stream is open for as long as somebody holds what reads it.
        events = read(answer)
        next(events)
        listening = service.followed.listeners

    until = time.monotonic() + TIMEOUT_S
    while service.followed.sessions and time.monotonic() < until:
        time.sleep(0.02)
    assert listening == 1
    assert service.followed.sessions == {}


def test_more_listeners_than_there_may_be_are_refused(engine: Engine, service: Service) -> None:
    session_id = path.submit(engine, builders.session_order())
    address = service.address(session_id)
    with httpx.Client(timeout=TIMEOUT_S) as client:
        streams = [client.stream("GET", address) for _ in range(3)]
        answers = [stream.__enter__() for stream in streams]
        events = [read(answer) for answer in answers]
        for each in events:
            next(each)

        refused = client.get(address)

        for stream in streams:
            stream.__exit__(None, None, None)
    assert refused.status_code == 503


def test_a_session_that_is_not_there_is_404(service: Service) -> None:
    assert httpx.get(service.address(uuid4()), timeout=TIMEOUT_S).status_code == 404
