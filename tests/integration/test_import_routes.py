"""The routes of imports and withdrawals: who may, what is refused, and in which words."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import Engine

from service.domain.token import Scope
from service.formats.imports import ImportOrder
from tests.integration.imported import import_order, result
from tests.integration.serving import application
from tests.integration.test_api import JSON, LOCAL, issue


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path), base_url=LOCAL) as client:
        yield client


def send(
    http: TestClient, order: ImportOrder, headers: dict[str, str] | None = None, key: str = "one"
) -> Response:
    return http.post(
        "/api/v1/imports",
        content=order.model_dump_json(),
        headers={**JSON, "Idempotency-Key": key, **(headers or {})},
    )


def stored_run(http: TestClient, headers: dict[str, str] | None = None) -> str:
    answer = send(http, import_order(), headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["results"][0]["run_id"])


def test_an_import_is_answered_and_can_be_read_again(http: TestClient) -> None:
    answer = send(http, import_order()).json()

    assert http.get(f"/api/v1/imports/{answer['id']}").json() == answer
    assert answer["results"][0]["state"] == "stored"


def test_an_unknown_import_is_404(http: TestClient) -> None:
    answer = http.get(f"/api/v1/imports/{uuid4()}")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_import_needs_its_key(http: TestClient) -> None:
    answer = http.post("/api/v1/imports", content=import_order().model_dump_json(), headers=JSON)

    assert answer.status_code == 422


def test_a_text_that_does_not_come_is_named(http: TestClient) -> None:
    order = import_order().model_copy(update={"texts": ()})
    answer = send(http, order)

    assert answer.status_code == 422
    assert "out.jsonl:1" in answer.text


def test_a_text_that_is_not_its_digest_is_refused(http: TestClient) -> None:
    order = import_order([result(1), result(2)])
    swapped = order.texts[0].model_copy(update={"zstd": order.texts[1].zstd})
    answer = send(http, order.model_copy(update={"texts": (swapped, order.texts[1])}))

    assert answer.json()["type"] == "DigestMismatchError"


@pytest.mark.parametrize(
    ("scope", "status"),
    [(Scope.INGEST, 200), (Scope.TRIAGE, 403), (Scope.RUN, 403), (Scope.READ, 403)],
)
def test_an_import_takes_the_scope_of_ingest(
    http: TestClient, engine: Engine, scope: Scope, status: int
) -> None:
    assert send(http, import_order(), issue(engine, scope)).status_code == status


def test_a_correction_takes_the_scope_of_triage_as_well(http: TestClient, engine: Engine) -> None:
    order = import_order(correct="it was the old one")
    some, all_of_it = issue(engine, Scope.INGEST), issue(engine, Scope.INGEST, Scope.TRIAGE)

    assert send(http, order, some).status_code == 403
    assert send(http, order, all_of_it).status_code == 200


def test_a_withdrawal_is_the_tokens_whatever_it_calls_itself(
    http: TestClient, engine: Engine
) -> None:
    ingest, triage = issue(engine, Scope.INGEST), issue(engine, Scope.TRIAGE)
    run_id = stored_run(http, ingest)
    body = {"reason": "wrong driver", "who": "somebody else"}

    refused = http.post(f"/api/v1/runs/{run_id}/withdrawal", json=body, headers=ingest)
    done = http.post(f"/api/v1/runs/{run_id}/withdrawal", json=body, headers=triage)
    history = http.get(f"/api/v1/runs/{run_id}/history", headers=triage).json()

    assert refused.status_code == 403
    assert done.status_code == 201
    assert [act["actor"] for act in history] == ["ingest", "triage"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"reason": "   "}, 422, id="a reason of spaces"),
        pytest.param({}, 422, id="no reason"),
        pytest.param({"reason": "r", "replaced_by": str(uuid4())}, 404, id="no such replacement"),
    ],
)
def test_a_withdrawal_says_why_and_for_what(
    http: TestClient, body: dict[str, str], status: int
) -> None:
    run_id = stored_run(http)

    answer = http.post(f"/api/v1/runs/{run_id}/withdrawal", json=body)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_withdrawing_for_two_reasons_is_a_conflict(http: TestClient) -> None:
    run_id = stored_run(http)
    http.post(f"/api/v1/runs/{run_id}/withdrawal", json={"reason": "one"})

    answer = http.post(f"/api/v1/runs/{run_id}/withdrawal", json={"reason": "two"})

    assert answer.status_code == 409
    assert "restore it before" in answer.json()["title"]


def test_a_restored_run_is_no_longer_withdrawn(http: TestClient) -> None:
    run_id = stored_run(http)
    http.post(f"/api/v1/runs/{run_id}/withdrawal", json={"reason": "one"})
    done = http.post(f"/api/v1/runs/{run_id}/restoration", json={"reason": "it was right"})

    assert done.status_code == 201
    assert http.get(f"/api/v1/runs/{run_id}").json()["withdrawal"] is None
