"""Gates, waivers and tokens over HTTP: who may ask, what is answered, what is kept of it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.config import Settings
from service.domain.audit import Act, Noun
from service.domain.token import Scope
from service.formats.ci_gates import GateListed, GateRead
from service.formats.waivers import WaiverRead
from service.store import audits, tokens
from service.store.database import reading, writing
from service.store.tokens import UnknownTokenError
from service.usecases.admit import TokenRefusedError, identify
from service.usecases.issue_token import Issued, issue_token, revoke_token, rotate_token
from tests.integration import builders, gating
from tests.integration.builders import NOW
from tests.integration.serving import application

LOCAL = "http://localhost:8000"
KEY = {"Idempotency-Key": "one", "Content-Type": "application/json"}


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path), base_url=LOCAL) as client:
        yield client


def issue(engine: Engine, name: str, *scopes: Scope) -> Issued:
    with writing(engine) as session:
        return issue_token(
            session, name=name, scopes=scopes, expires_at=None, now=NOW, draw=lambda: uuid4().hex
        )


def bearer(issued: Issued) -> dict[str, str]:
    return {"Authorization": f"Bearer {issued.secret}"}


def ask(http: TestClient, headers: dict[str, str] | None = None) -> GateRead:
    body = gating.gate_order().model_dump_json()
    answer = http.post("/api/v1/gates", content=body, headers={**KEY, **(headers or {})})
    assert answer.status_code == 201, answer.text
    return GateRead.model_validate_json(answer.content)


def test_a_gate_is_asked_for_once_however_often_it_is_sent_and_says_how_far_it_is(
    http: TestClient,
) -> None:
    first, again = ask(http), ask(http)

    assert first.id == again.id
    assert (first.answer.state, first.session.state) == ("running", "queued")
    read = GateRead.model_validate_json(http.get(f"/api/v1/gates/{first.id}").content)
    assert read == again
    (listed,) = http.get("/api/v1/gates").json()
    assert GateListed.model_validate(listed).id == first.id


def test_a_gate_is_cancelled_and_one_that_is_not_there_is_not_found(http: TestClient) -> None:
    gate = ask(http)

    cancelled = http.post(f"/api/v1/gates/{gate.id}/cancel")

    assert cancelled.json()["answer"]["state"] == "cancelled"
    assert http.get(f"/api/v1/gates/{UUID(int=0)}").status_code == 404


@pytest.mark.parametrize(
    ("scope", "status"),
    [(Scope.READ, 403), (Scope.INGEST, 403), (Scope.TRIAGE, 403), (Scope.RUN, 201)],
)
def test_a_gate_needs_a_token_that_may_run(
    engine: Engine, tmp_path: Path, scope: Scope, status: int
) -> None:
    headers = bearer(issue(engine, "ci", scope))
    settings = Settings.model_validate({"data_dir": tmp_path, "web_dir": tmp_path / "no"})
    http = TestClient(application(engine, tmp_path, settings=settings), base_url=LOCAL)

    body = gating.gate_order().model_dump_json()
    answer = http.post("/api/v1/gates", content=body, headers={**KEY, **headers})

    assert answer.status_code == status


def test_who_asked_for_a_gate_is_the_name_of_the_token_and_audited(
    engine: Engine, http: TestClient
) -> None:
    gate = ask(http, bearer(issue(engine, "ci", Scope.RUN)))

    with reading(engine) as session:
        (entry,) = audits.of_thing(session, Noun.GATE, str(gate.id))
    assert gate.answer.asked_by == entry.actor == "ci"
    assert entry.act is Act.GATE


def test_a_waiver_is_made_listed_and_taken_back_and_each_is_audited(
    engine: Engine, http: TestClient
) -> None:
    headers = bearer(issue(engine, "grace", Scope.TRIAGE))
    until = (NOW + timedelta(days=3)).isoformat()
    order = {"plan": "pr", "metric": "ttft_p50", "until": until, "why": "known for a week"}

    made = http.post("/api/v1/waivers", json=order, headers=headers)
    waiver = WaiverRead.model_validate_json(made.content)
    revoked = http.post(
        f"/api/v1/waivers/{waiver.id}/revocation", json={"why": "fixed"}, headers=headers
    )

    assert (waiver.who, waiver.in_force) == ("grace", True)
    assert revoked.json()["in_force"] is False
    assert len(http.get("/api/v1/waivers", headers=headers).json()) == 1
    with reading(engine) as session:
        entries = audits.of_thing(session, Noun.WAIVER, str(waiver.id))
    assert [(entry.act, entry.reason) for entry in entries] == [
        (Act.WAIVE, "known for a week"),
        (Act.REVOKE, "fixed"),
    ]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        pytest.param({"until": (NOW + timedelta(days=200)).isoformat()}, 422, id="too long"),
        pytest.param({"metric": "speed"}, 404, id="no such metric"),
        pytest.param({"condition_key": "0" * 64}, 404, id="no such condition"),
        pytest.param({"stack_key": "nosuch"}, 404, id="no such base"),
        pytest.param({"why": "so"}, 422, id="no reason"),
    ],
)
def test_a_waiver_of_nothing_or_without_end_or_reason_is_refused(
    http: TestClient, changed: dict[str, str], status: int
) -> None:
    order = {"plan": "pr", "until": (NOW + timedelta(days=3)).isoformat(), "why": "known for long"}

    assert http.post("/api/v1/waivers", json={**order, **changed}).status_code == status


def test_a_token_says_when_it_was_last_used(engine: Engine, http: TestClient) -> None:
    headers = bearer(issue(engine, "ci", Scope.READ))

    http.get("/api/v1/gates", headers=headers)

    with reading(engine) as session:
        assert tokens.named(session, "ci").last_used_at == NOW


def test_a_rotated_token_has_another_secret_and_the_old_one_ends_after_its_grace(
    engine: Engine,
) -> None:
    old = issue(engine, "ci", Scope.RUN)

    with writing(engine) as session:
        new = rotate_token(
            session,
            name="ci",
            grace=timedelta(hours=1),
            expires_at=None,
            now=NOW,
            draw=lambda: uuid4().hex,
        )

    def scopes(issued: Issued, hours: float) -> object:
        with reading(engine) as session:
            now = NOW + timedelta(hours=hours)
            return identify(session, issued.secret, loopback=True, now=now).scopes

    assert scopes(new, 2) == scopes(old, 0.5) == {Scope.RUN}
    with pytest.raises(TokenRefusedError):
        scopes(old, 1.5)


def test_a_leaked_token_ends_by_its_secret_and_with_it_what_it_was_rotated_from(
    engine: Engine,
) -> None:
    old = issue(engine, "ci", Scope.RUN)
    with writing(engine) as session:
        new = rotate_token(
            session,
            name="ci",
            grace=timedelta(hours=9),
            expires_at=None,
            now=NOW,
            draw=lambda: uuid4().hex,
        )
        revoke_token(session, name=new.secret, now=NOW)

    for secret in (old.secret, new.secret):
        with reading(engine) as session, pytest.raises(TokenRefusedError):
            identify(session, secret, loopback=True, now=NOW)
    with reading(engine) as session:
        entries = audits.of_thing(session, Noun.TOKEN, str(new.token.id))
    assert [entry.act for entry in entries] == [Act.ISSUE, Act.REVOKE]


def test_a_secret_that_is_nobodys_is_not_told_back(engine: Engine) -> None:
    with writing(engine) as session, pytest.raises(UnknownTokenError) as refused:
        revoke_token(session, name="kl_nobodys", now=NOW)

    assert "kl_nobodys" not in str(refused.value)


def test_sessions_gates_and_runners_tell_who_ordered_cancelled_and_paused_them(
    engine: Engine, http: TestClient
) -> None:
    ci, root = (
        bearer(issue(engine, name, scope))
        for name, scope in (("ci", Scope.RUN), ("root", Scope.ADMIN))
    )
    gate = ask(http, ci)
    order = builders.session_order().model_dump_json()
    headers = {**KEY, **ci, "Idempotency-Key": "two"}
    ordered = [http.post("/api/v1/sessions", content=order, headers=headers) for _ in range(2)]
    session_id = ordered[0].json()["id"]
    http.post(f"/api/v1/sessions/{session_id}/cancel", headers=ci)
    http.post(f"/api/v1/gates/{gate.id}/cancel", headers=ci)
    claim = builders.claim().model_dump_json()
    http.put("/api/v1/runners/r1", content=claim, headers={**KEY, **root})
    for state in ("paused", "draining", "active"):
        http.post("/api/v1/runners/r1/state", json={"state": state}, headers=root)

    with reading(engine) as session:
        acts = [
            [(entry.actor, entry.act) for entry in audits.of_thing(session, noun, noun_id)]
            for noun, noun_id in (
                (Noun.SESSION, session_id),
                (Noun.GATE, str(gate.id)),
                (Noun.RUNNER, "r1"),
            )
        ]
    assert acts == [
        [("ci", Act.ORDER), ("ci", Act.CANCEL)],
        [("ci", Act.GATE), ("ci", Act.CANCEL)],
        [("root", Act.PAUSE), ("root", Act.DRAIN), ("root", Act.RESUME)],
    ]
