"""Edges where the service once stumbled: races, wild values, words that no caller means well."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event, select

from service.config import Settings
from service.domain.job import JobState
from service.domain.layer import Layer
from service.domain.token import Scope
from service.formats.orders import Renewal
from service.formats.reports import Broken
from service.store import jobs, runners
from service.store.database import ReadSession, reading, writing
from service.store.tables import JobRow
from service.usecases.announce import nudges
from service.usecases.cancel_session import cancel_session
from service.usecases.issue_token import issue_token, revoke_token
from service.usecases.lose_job import lose_job
from service.usecases.read_sessions import list_sessions
from service.usecases.renew_lease import renew_lease
from tests.integration import builders, path
from tests.integration.builders import NOW, OLD
from tests.integration.path import LEASING
from tests.integration.serving import application
from tests.integration.test_concurrency import at_once

LOCAL = "http://localhost:8000"
JSON = {"Content-Type": "application/json"}
LATER = NOW + timedelta(seconds=30)


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    app = application(engine, tmp_path)
    with TestClient(app, base_url=LOCAL, raise_server_exceptions=False) as client:
        yield client


def test_an_origin_that_is_no_address_is_refused_and_no_crash(http: TestClient) -> None:
    body = builders.claim().model_dump_json()

    answer = http.post(
        "/api/v1/jobs/claim", content=body, headers={**JSON, "Origin": "http://[::1"}
    )

    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("header", "status"), [("X-Kunline-Version", 400), ("Content-Length", 413)]
)
def test_a_number_too_long_to_read_is_refused_and_no_crash(
    http: TestClient, header: str, status: int
) -> None:
    digits = "9" * 5000
    value = f"0.{digits}" if status == 400 else digits

    assert http.get("/api/v1/runs", headers={header: value}).status_code == status


def test_an_endless_limit_is_refused_before_a_runner_has_to_read_it(http: TestClient) -> None:
    order = builders.session_order().model_dump(mode="json")
    order["limits"]["build_s"] = float("inf")
    order["policy"]["tolerances"]["ttft_p50"] = float("inf")

    answer = http.post(
        "/api/v1/sessions", content=json.dumps(order), headers={**JSON, "Idempotency-Key": "k"}
    )

    assert answer.status_code == 422
    assert len(answer.json()["fields"]) == 2


def test_a_time_before_the_first_year_is_refused_and_spoils_no_list(
    engine: Engine, http: TestClient
) -> None:
    path.submit(engine, builders.session_order())
    wild = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    order = path.claimed(engine)
    run = builders.run_report(order).model_copy(update={"measured_at": wild})
    launch = builders.launch_report(order).model_copy(update={"started_at": wild})

    answers = [
        http.put(f"/api/v1/runs/{run.run_id}", content=run.model_dump_json(), headers=JSON),
        http.put(
            f"/api/v1/launches/{launch.launch_id}", content=launch.model_dump_json(), headers=JSON
        ),
    ]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert http.get("/api/v1/runs").status_code == 200


def test_many_who_pin_at_once_leave_one_pin_a_cell(engine: Engine, http: TestClient) -> None:
    path.do_session(engine, builders.session_order())

    def pin() -> int:
        body = {"stack_key": OLD.key, "why": "the release"}
        return http.post("/api/v1/baselines", json=body).status_code

    assert set(at_once([pin] * 8)) == {201}
    assert len(http.get("/api/v1/baselines").json()) == 2


def test_what_nobody_foresaw_is_a_problem_that_names_the_release(
    http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("service.api.sessions.list_sessions", fail)

    answer = http.get("/api/v1/sessions")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["X-Kunline-Version"] == "0.1.0"
    assert "secret" not in answer.text


def test_an_artefact_whose_file_is_gone_is_said_to_be_and_never_cached_for_others(
    http: TestClient, tmp_path: Path
) -> None:
    noise = b"".join(uuid4().bytes for _ in range(8000))
    digest = builders.artefact(noise).digest
    http.put(f"/api/v1/artefacts/{digest}", content=noise)
    there = http.get(f"/api/v1/artefacts/{digest}")
    for file in (tmp_path / "artefacts").rglob("*.zst"):
        file.unlink()

    gone = http.get(f"/api/v1/artefacts/{digest}")

    assert there.headers["Cache-Control"].startswith("private")
    assert gone.status_code == 410
    assert digest in gone.json()["title"]


def test_artefacts_that_grow_beyond_the_bound_together_are_refused(
    engine: Engine, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.usecases.keep_artefact.TOGETHER_BYTES_MAX", 25)
    path.submit(engine, builders.session_order())
    texts = tuple(builders.artefact(b"ten bytes!", f"{number}.txt") for number in range(3))
    run = builders.run_report(path.claimed(engine)).model_copy(update={"artefacts": texts})

    answer = http.put(f"/api/v1/runs/{run.run_id}", content=run.model_dump_json())

    assert answer.status_code == 413


def _issue(engine: Engine) -> None:
    with writing(engine) as session:
        issue_token(
            session,
            name="ann",
            scopes=[Scope.READ],
            expires_at=None,
            now=NOW,
            draw=lambda: "secret",
        )


def test_revoking_the_last_token_opens_the_door_to_nobody(engine: Engine, http: TestClient) -> None:
    _issue(engine)
    with writing(engine) as session:
        revoke_token(session, name="ann", now=NOW)

    assert http.get("/api/v1/runs").status_code == 401


def test_a_service_on_loopback_that_a_proxy_names_needs_a_token(
    engine: Engine, tmp_path: Path
) -> None:
    settings = Settings(
        data_dir=tmp_path, web_dir=tmp_path / "no", allowed_hosts=("kunline.example",)
    )
    http = TestClient(application(engine, tmp_path, settings=settings), base_url=LOCAL)

    assert http.get("/api/v1/runs").status_code == 401


def test_a_job_lost_while_its_session_is_cancelled_does_not_stay_in_the_queue(
    engine: Engine,
) -> None:
    session_id = path.submit(engine, builders.session_order())
    order = path.claimed(engine)

    def cancel() -> None:
        with writing(engine) as session:
            cancel_session(session, session_id, now=NOW)

    person = threading.Thread(target=cancel)
    with writing(engine) as session:
        job = jobs.locked(session, order.job_id)
        assert lose_job(session, job, leasing=LEASING, now=NOW) is JobState.QUEUED
        person.start()
        person.join(0.5)
    person.join()

    assert {job.state for job in path.read(engine, session_id).jobs} == {"cancelled"}


def test_what_broke_in_an_earlier_try_breaks_no_cell_of_a_later_one(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    broken = Broken(layer=Layer.SERVER, finding="it was killed")
    path.tell_launch(engine, builders.launch_report(path.claimed(engine), broken=broken))
    again = path.claimed(engine)

    state = path.finish(engine, again, handed_back=True)

    assert state is JobState.QUEUED
    assert path.read(engine, session_id).jobs[0].broken is None


def test_a_sign_of_life_is_one_of_its_runner_too(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    with writing(engine) as session:
        renewal = Renewal(fencing_token=order.fencing_token)
        renew_lease(session, order.job_id, renewal, leasing=LEASING, now=LATER)

    with reading(engine) as session:
        assert runners.read(session, "r1").seen_at == LATER


def _queries(engine: Engine, ask: Callable[[ReadSession], object]) -> list[str]:
    """Return the queries that a question takes."""
    seen: list[str] = []

    def note(*told: object) -> None:
        seen.append(str(told[2]))

    event.listen(engine, "before_cursor_execute", note)
    with reading(engine) as session:
        ask(session)
    event.remove(engine, "before_cursor_execute", note)
    return [query for query in seen if query.startswith("SELECT")]


def test_many_sessions_are_listed_in_as_many_queries_as_one_without_their_orders(
    engine: Engine,
) -> None:
    path.submit(engine, builders.session_order(), "0")
    one = _queries(engine, lambda session: list_sessions(session, limit=100))
    for index in range(1, 6):
        path.submit(engine, builders.session_order(), str(index))

    many = _queries(engine, lambda session: list_sessions(session, limit=100))

    assert len(many) == len(one)
    assert not [query for query in many if "job.launch" in query]
    with reading(engine) as session:
        assert len(list_sessions(session, limit=100)) == 6
        assert len(session.scalars(select(JobRow.id)).all()) == 24


def test_many_jobs_are_announced_in_one_query(engine: Engine) -> None:
    for index in range(5):
        path.submit(engine, builders.session_order(), str(index))
    with writing(engine) as session:
        waiting = jobs.announce_again(session, before=LATER, now=LATER)

    asked = _queries(engine, lambda session: nudges(session, waiting))

    assert len(waiting) == 5
    assert len(asked) == 1


@pytest.mark.parametrize("module", ["service.tasks.worker", "service.tasks.scheduler"])
def test_worker_and_scheduler_say_that_they_need_a_broker(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUNLINE_BROKER_URL", raising=False)

    refused = subprocess.run(
        [sys.executable, "-m", module], capture_output=True, text=True, timeout=60, check=False
    )

    assert refused.returncode == 2
    assert "KUNLINE_BROKER_URL" in refused.stderr
