"""Tokens over HTTP: made once, shown without their secret, ended at once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.audit import Noun
from service.formats.tokens import TokenIssued, TokenRead
from service.store import audits
from service.store.database import reading
from tests.integration.serving import Clock, application

WHERE = "/api/v1/tokens"


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as client:
        yield client


def make(http: TestClient, name: str, *scopes: str) -> TokenIssued:
    answer = http.post(WHERE, json={"name": name, "scopes": scopes, "days": 30})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return TokenIssued.model_validate_json(answer.content)


def by(issued: TokenIssued) -> dict[str, str]:
    return {"Authorization": f"Bearer {issued.secret}"}


def test_the_first_token_has_to_be_able_to_make_another(http: TestClient) -> None:
    refused = http.post(WHERE, json={"name": "reader", "scopes": ["read"]})

    assert refused.status_code == 409
    assert "kunline token create" in refused.json()["title"]


def test_a_secret_is_in_one_answer_alone_and_the_list_has_none(http: TestClient) -> None:
    admin = make(http, "ann", "admin")
    http.headers |= by(admin)
    reader = make(http, "dashboard", "read", "triage")

    listed = http.get(WHERE)

    assert [each["name"] for each in listed.json()] == ["ann", "dashboard"]
    assert admin.secret not in listed.text
    assert reader.secret not in listed.text
    assert reader.token.expires_at is not None
    assert http.post(WHERE, json={"name": "ann", "scopes": ["read"]}).status_code == 409


def test_a_token_is_ended_at_once_and_by_whom_is_kept(http: TestClient, engine: Engine) -> None:
    http.headers |= by(make(http, "ann", "admin"))
    reader = make(http, "dashboard", "read")

    ended = TokenRead.model_validate_json(http.post(f"{WHERE}/dashboard/revocation").content)
    again = TokenRead.model_validate_json(http.post(f"{WHERE}/dashboard/revocation").content)

    assert not ended.counts
    assert ended == again
    assert http.get("/api/v1/runs", headers=by(reader)).status_code == 401
    assert http.post(f"{WHERE}/nobody/revocation").status_code == 404
    with reading(engine) as session:
        kept = audits.of_thing(session, Noun.TOKEN, str(reader.token.id))
    assert [(entry.act, entry.actor) for entry in kept] == [("issue", "ann"), ("revoke", "ann")]


def test_another_secret_is_given_and_the_old_one_counts_for_its_grace_alone(
    engine: Engine, tmp_path: Path
) -> None:
    clock = Clock()
    app = application(engine, tmp_path, clock=clock)
    with TestClient(app, base_url="http://localhost:8000") as http:
        http.headers |= by(make(http, "ann", "admin"))
        old = make(http, "dashboard", "read")
        answer = http.post(f"{WHERE}/dashboard/rotation", json={"grace_hours": 2})
        new = TokenIssued.model_validate_json(answer.content)

        def seen(issued: TokenIssued) -> int:
            return http.get("/api/v1/runs", headers=by(issued)).status_code

        assert answer.status_code == 201
        assert answer.headers["Cache-Control"] == "no-store"
        assert new.token.scopes == old.token.scopes
        assert (seen(old), seen(new)) == (200, 200)
        clock.now += timedelta(hours=3)
        app.state.remembered.callers.clear()
        assert (seen(old), seen(new)) == (401, 200)


def test_a_token_that_counts_no_longer_gets_no_other_secret(http: TestClient) -> None:
    http.headers |= by(make(http, "ann", "admin"))
    make(http, "dashboard", "read")
    http.post(f"{WHERE}/dashboard/revocation")

    answer = http.post(f"{WHERE}/dashboard/rotation", json={})

    assert answer.status_code == 409
    assert "make another one" in answer.json()["title"]


@pytest.mark.parametrize("scope", ["read", "run", "triage", "ingest"])
def test_only_who_administers_sees_and_makes_tokens(http: TestClient, scope: str) -> None:
    http.headers |= by(make(http, "ann", "admin"))
    lesser = by(make(http, "lesser", scope))

    assert http.get(WHERE, headers=lesser).status_code == 403
    order = {"name": "mine", "scopes": ["admin"]}
    assert http.post(WHERE, json=order, headers=lesser).status_code == 403
    assert http.post(f"{WHERE}/ann/revocation", headers=lesser).status_code == 403
    assert http.post(f"{WHERE}/ann/rotation", json={}, headers=lesser).status_code == 403
