"""Who may take a session's launches, as the service knows its runners."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.claimant import SILENT_AFTER
from service.formats.claimants import ClaimantsRead
from service.formats.orders import Claim
from tests.integration import builders, path
from tests.integration.builders import NOW
from tests.integration.serving import Clock, application

LOCAL = "http://localhost:8000"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def http(engine: Engine, tmp_path: Path, clock: Clock) -> TestClient:
    return TestClient(application(engine, tmp_path, clock=clock), base_url=LOCAL)


def register(http: TestClient, claim: Claim) -> None:
    told = claim.model_dump(mode="json")
    http.put(f"/api/v1/runners/{claim.runner}", json=told).raise_for_status()


def found(http: TestClient, session_id: object) -> ClaimantsRead:
    answer = http.get(f"/api/v1/sessions/{session_id}/claimants")
    return ClaimantsRead.model_validate_json(answer.content)


def test_each_runner_of_the_pool_is_told_with_what_keeps_it(
    http: TestClient, engine: Engine, clock: Clock
) -> None:
    session_id = path.submit(engine, builders.session_order(cards=2))
    register(http, builders.claim("few", cards=1))
    register(http, builders.claim("silent"))
    register(http, builders.claim("elsewhere", pool="other"))
    clock.now += SILENT_AFTER + timedelta(seconds=1)
    night = {"window": "22:00-06:00 Asia/Shanghai", "incarnation": UUID(int=2)}
    register(http, builders.claim("night").model_copy(update=night))
    register(http, builders.claim("fits"))
    http.post("/api/v1/runners/fits/state", json={"state": "paused"}).raise_for_status()

    told = found(http, session_id)

    assert (told.pool, told.chip, told.cards) == ("cpu", "cpu", 2)
    assert (told.host, told.waits) == (None, True)
    # At noon in UTC it is eight in the evening in Shanghai.
    assert {each.runner: each.obstacle for each in told.runners} == {
        "few": "cards",
        "silent": "silent",
        "night": "closed",
        "fits": "paused",
    }
    clock.now += timedelta(hours=2)
    register(http, builders.claim("night").model_copy(update=night))
    assert {each.runner: each.obstacle for each in found(http, session_id).runners}["night"] is None


def test_a_session_that_began_on_a_host_is_told_to_be_bound_to_it(
    http: TestClient, engine: Engine
) -> None:
    session_id = path.submit(engine, builders.session_order())
    register(http, builders.claim("other", host="h2"))
    job = path.claimed(engine)

    assert not found(http, session_id).waits
    path.finish(engine, job, handed_back=True)
    told = found(http, session_id)
    assert (told.waits, told.host) == (True, "h1")
    assert {each.runner: each.obstacle for each in told.runners} == {"other": "host", "r1": None}
