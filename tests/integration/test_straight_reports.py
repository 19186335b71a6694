"""Reports over HTTP: the straight way answers as the route that OpenAPI describes would."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import Engine

from service.config import Settings
from service.domain.token import Scope
from service.formats.reports import RunReport
from service.store.database import create_database, writing
from service.usecases.issue_token import issue_token
from tests.integration import builders, path
from tests.integration.builders import NOW
from tests.integration.serving import application

JSON = {"Content-Type": "application/json"}
LIMIT = 20_000
Call = Callable[[TestClient, RunReport], Response]


@pytest.fixture
def engine(migrated_file: Path, tmp_path: Path) -> Iterator[Engine]:
    """Open an empty database; which one it is makes no difference to what is told of it."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    opened = create_database(f"sqlite:///{tmp_path / 'kunline.db'}")
    yield opened
    opened.dispose()


def client(engine: Engine, place: Path, *, straight: bool = True) -> TestClient:
    settings = Settings(data_dir=place, web_dir=place / "no", request_bytes_max=LIMIT)
    app = application(engine, place, settings=settings)
    if not straight:
        app.user_middleware = [each for each in app.user_middleware if "answer" not in each.kwargs]
    return TestClient(app, base_url="http://localhost:8000")


def put(
    http: TestClient, sent: RunReport, content: Any = None, *, headers: Mapping[str, str] = JSON
) -> Response:
    body = sent.model_dump_json() if content is None else content
    return http.put(f"/api/v1/runs/{sent.run_id}", content=body, headers=headers)


def again(http: TestClient, sent: RunReport) -> Response:
    put(http, sent)
    return put(http, sent)


def in_parts(http: TestClient, sent: RunReport) -> Response:
    body = sent.model_dump_json().encode()
    return put(http, sent, iter([body[:500], body[500:]]))


def other(sent: RunReport, **fields: object) -> RunReport:
    return sent.model_copy(update={"run_id": uuid4(), **fields})


CALLS: dict[str, Call] = {
    "a new run": put,
    "the same once more": again,
    "a body in parts": in_parts,
    "an address that is no id": lambda http, _: http.put("/api/v1/runs/one", content="{}"),
    "another run's address": lambda http, sent: put(http, sent, other(sent).model_dump_json()),
    "no JSON": lambda http, sent: put(http, sent, b"\xff"),
    "no body": lambda http, sent: put(http, sent, b""),
    "an unknown field": lambda http, sent: put(http, sent, b'{"colour": "red"}'),
    "a job nobody knows": lambda http, sent: put(http, other(sent, job_id=uuid4())),
    "a stale token": lambda http, sent: put(http, other(sent, fencing_token=9)),
    "a cell of another job": lambda http, sent: put(http, other(sent, condition_key="0" * 64)),
    "too large, as stated": lambda http, sent: put(http, sent, b" " * (LIMIT + 1)),
    "too large, in parts": lambda http, sent: put(http, sent, iter([b" " * LIMIT, b" "])),
    "a page of another origin": lambda http, sent: put(
        http, sent, headers={"Origin": "https://elsewhere.example"}
    ),
    "another method": lambda http, sent: http.post(f"/api/v1/runs/{sent.run_id}", content="{}"),
}


def told(answer: Response) -> Mapping[str, Any]:
    """Return what an answer says, without ids and the words that name them."""
    found = answer.json()
    return {
        "status": answer.status_code,
        "headers": {name: answer.headers.get(name) for name in ("content-type", "allow")},
        "said": {name: found.get(name) for name in ("stored", "type")},
        "fields": [each["field"] for each in found.get("fields", ())],
    }


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_the_straight_way_answers_as_the_route_would(
    engine: Engine, tmp_path: Path, call: Call
) -> None:
    answers = []
    for straight in (True, False):
        name = str(straight)
        path.submit(engine, builders.session_order(), name)
        sent = builders.run_report(path.claimed(engine, builders.claim(name, host=name)))
        answers.append(told(call(client(engine, tmp_path, straight=straight), sent)))

    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("scope", "status"), [(None, 401), (Scope.READ, 403), (Scope.RUN, 403), (Scope.INGEST, 200)]
)
def test_a_report_needs_a_token_that_may_ingest(
    engine: Engine, tmp_path: Path, scope: Scope | None, status: int
) -> None:
    path.submit(engine, builders.session_order())
    sent = builders.run_report(path.claimed(engine))
    with writing(engine) as session:
        issued = issue_token(
            session,
            name="somebody",
            scopes=[scope or Scope.ADMIN],
            expires_at=None,
            now=NOW,
            draw=lambda: uuid4().hex,
        )
    token = {"Authorization": f"Bearer {issued.secret}"} if scope else {}

    answer = put(client(engine, tmp_path), sent, headers={**JSON, **token})

    assert answer.status_code == status
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)
