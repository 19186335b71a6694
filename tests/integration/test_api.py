"""The HTTP door: what it answers, and whom and what it does not let in."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

import service.usecases
from service.api import errors
from service.api.app import NOUNS
from service.api.openapi import COPY, description
from service.config import Settings
from service.domain.token import Scope
from service.store import schema
from service.store.database import writing
from service.usecases.issue_token import issue_token
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.serving import Heard, application

JSON = {"Content-Type": "application/json"}
LOCAL = "http://localhost:8000"


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def http(engine: Engine, tmp_path: Path, heard: Heard) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path, announce=heard), base_url=LOCAL) as client:
        yield client


def guarded(engine: Engine, tmp_path: Path, **changed: object) -> TestClient:
    settings = Settings.model_validate(
        {"data_dir": tmp_path, "web_dir": tmp_path / "no", **changed}
    )
    return TestClient(application(engine, tmp_path, settings=settings), base_url=LOCAL)


def issue(engine: Engine, *scopes: Scope) -> dict[str, str]:
    with writing(engine) as session:
        issued = issue_token(
            session,
            name="-".join(scopes),
            scopes=scopes,
            expires_at=None,
            now=NOW,
            draw=lambda: uuid4().hex,
        )
    return {"Authorization": f"Bearer {issued.secret}"}


def submit(http: TestClient, key: str = "one") -> str:
    answer = http.post(
        "/api/v1/sessions",
        content=builders.session_order().model_dump_json(),
        headers={**JSON, "Idempotency-Key": key},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_submitted_session_is_queued_and_announced_once_it_is_stored(
    http: TestClient, heard: Heard
) -> None:
    session_id = submit(http)

    read = http.get(f"/api/v1/sessions/{session_id}").json()

    assert read["state"] == "queued"
    assert [job["state"] for job in read["jobs"]] == ["queued"] * 4
    assert [(nudge.queue, str(nudge.job_id)) for nudge in heard.nudges] == [
        ("pool.cpu", read["jobs"][0]["id"])
    ]


def test_the_same_key_answers_the_same_session(http: TestClient) -> None:
    assert submit(http) == submit(http)


def test_nothing_to_claim_is_204(http: TestClient) -> None:
    answer = http.post(
        "/api/v1/jobs/claim", content=builders.claim().model_dump_json(), headers=JSON
    )

    assert (answer.status_code, answer.content) == (204, b"")


def test_an_unknown_field_is_refused_by_name(http: TestClient) -> None:
    answer = http.put(
        "/api/v1/runners/r1",
        json={**builders.claim().model_dump(mode="json"), "colour": "red"},
    )

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["fields"][0]["field"] == "body.colour"


def test_a_wrong_key_is_refused_at_the_door(http: TestClient) -> None:
    order = builders.session_order().model_dump(mode="json")
    order["conditions"][0]["key"] = "0" * 64

    answer = http.post("/api/v1/sessions", json=order, headers={"Idempotency-Key": "k"})

    assert answer.status_code == 422
    assert "is not that of the content" in answer.text


def test_an_unknown_thing_is_a_problem_in_its_own_words(http: TestClient) -> None:
    answer = http.get(f"/api/v1/sessions/{UUID(int=7)}")

    assert answer.status_code == 404
    assert answer.json()["type"] == "UnknownSessionError"
    assert answer.json()["title"] == f"no session {UUID(int=7)}"


def test_an_unknown_address_is_a_problem_as_well(http: TestClient) -> None:
    answer = http.get("/api/v1/nothing")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_another_host_name_is_refused(http: TestClient) -> None:
    answer = http.get("/api/v1/runs", headers={"Host": "evil.example:8000"})

    assert answer.status_code == 421
    assert answer.json()["type"] == "HostRefusedError"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Origin": "http://evil.example"}, 403, id="another origin"),
        pytest.param({"Origin": "null"}, 403, id="an origin that is hidden"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, 403, id="a neighbour of the same site"),
        pytest.param({"Origin": LOCAL, "Sec-Fetch-Site": "same-origin"}, 204, id="our own page"),
        pytest.param({}, 204, id="no browser"),
    ],
)
def test_a_write_is_let_in_from_our_own_page_or_from_no_page(
    http: TestClient, headers: dict[str, str], status: int
) -> None:
    body = builders.claim().model_dump_json()

    answer = http.post("/api/v1/jobs/claim", content=body, headers={**JSON, **headers})

    assert answer.status_code == status


def test_a_body_beyond_the_limit_is_refused(engine: Engine, tmp_path: Path) -> None:
    http = guarded(engine, tmp_path, request_bytes_max=100)

    stated = http.put("/api/v1/runners/r1", content=b" " * 101, headers=JSON)
    chunked = http.put("/api/v1/runners/r1", content=iter([b" " * 60, b" " * 60]), headers=JSON)

    assert stated.status_code == 413
    assert chunked.status_code == 413


@pytest.mark.parametrize(
    ("release", "status"),
    [
        pytest.param("0.1.9", 200, id="another patch"),
        pytest.param("0.2.0", 200, id="one minor on"),
        pytest.param("0.3.0", 400, id="two minors on"),
        pytest.param("1.1.0", 400, id="another major"),
        pytest.param("new", 400, id="no release"),
    ],
)
def test_a_release_too_far_away_is_refused_with_both_named(
    http: TestClient, release: str, status: int
) -> None:
    answer = http.get("/api/v1/runs", headers={"X-Kunline-Version": release})

    assert answer.status_code == status
    assert answer.headers["X-Kunline-Version"] == "0.1.0"


def test_without_a_token_stored_somebody_here_may_do_everything(http: TestClient) -> None:
    submit(http)

    assert http.get("/api/v1/sessions").status_code == 200


def test_with_a_token_stored_a_token_is_needed(engine: Engine, tmp_path: Path) -> None:
    reader = issue(engine, Scope.READ)
    http = guarded(engine, tmp_path)

    assert http.get("/api/v1/runs").status_code == 401
    assert http.get("/api/v1/runs", headers={"Authorization": "Bearer kl_no"}).status_code == 401
    assert http.get("/api/v1/runs", headers=reader).status_code == 200


@pytest.mark.parametrize(
    ("scope", "status"),
    [(Scope.READ, 403), (Scope.RUN, 403), (Scope.INGEST, 204), (Scope.ADMIN, 204)],
)
def test_a_token_allows_what_its_scopes_say(
    engine: Engine, tmp_path: Path, scope: Scope, status: int
) -> None:
    headers = {**JSON, **issue(engine, scope)}
    http = guarded(engine, tmp_path)

    answer = http.post(
        "/api/v1/jobs/claim", content=builders.claim().model_dump_json(), headers=headers
    )

    assert answer.status_code == status


def test_beyond_loopback_a_token_is_needed_even_while_none_is_stored(
    engine: Engine, tmp_path: Path
) -> None:
    http = guarded(engine, tmp_path, host="0.0.0.0")  # noqa: S104 — it is the refusal that is tested

    assert http.get("/api/v1/runs").status_code == 401


def test_an_artefact_comes_back_byte_exact(http: TestClient) -> None:
    content = bytes(range(256)) * 1000
    digest = builders.artefact(content).digest

    first = http.put(f"/api/v1/artefacts/{digest}", content=content)
    second = http.put(f"/api/v1/artefacts/{digest}", content=content)
    wrong = http.put(f"/api/v1/artefacts/{'0' * 64}", content=content)

    assert (first.json()["stored"], second.json()["stored"]) == (True, False)
    assert http.get(f"/api/v1/artefacts/{digest}").content == content
    assert wrong.status_code == 422


def test_a_session_is_done_and_judged_through_the_door(engine: Engine, http: TestClient) -> None:
    session_id = path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})

    verdicts = http.get(f"/api/v1/sessions/{session_id}/verdicts").json()
    comparison = http.get(
        "/api/v1/comparisons", params={"baseline": OLD.key[:8], "candidate": NEW.key}
    ).json()

    assert verdicts["outcome"] == "regressed"
    assert comparison["outcome"] == "regressed"


def test_a_text_the_database_cannot_hold_is_refused_and_not_a_crash(http: TestClient) -> None:
    order = builders.session_order()
    stack = order.model_dump(mode="json")
    stack["models"][0]["path"] = "a\0b"

    answer = http.post("/api/v1/sessions", json=stack, headers={"Idempotency-Key": "nul"})

    assert answer.status_code in {201, 422}


def test_the_process_says_that_it_lives_and_can_work(http: TestClient) -> None:
    assert http.get("/healthz").json() == {"alive": True}
    assert http.get("/readyz").json()["ready"] is True
    assert http.get("/").status_code == 200
    assert 'kunline_jobs{state="queued"} 0.0' in http.get("/metrics").text


def test_a_database_of_another_schema_is_not_ready(engine: Engine, tmp_path: Path) -> None:
    schema.downgrade(engine, "base")
    http = guarded(engine, tmp_path)

    answer = http.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["schema_found"] is None


def _errors_of_usecases() -> set[type[Exception]]:
    modules = [
        import_module(f"service.usecases.{found.name}")
        for found in pkgutil.iter_modules(service.usecases.__path__)
    ]
    return {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception) and kind.__module__.startswith("service.")
    }


def test_every_error_of_a_use_case_has_a_status() -> None:
    assert _errors_of_usecases() - errors.STATUS.keys() == set()


def test_every_noun_has_routes() -> None:
    assert all(noun.router.routes for noun in NOUNS)


def test_the_committed_description_is_what_the_code_says() -> None:
    assert COPY.read_text() == description()
