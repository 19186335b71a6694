"""The list of gates: what each says by now, told once and told anew when what it rests on moves."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.verdict import Outcome
from service.domain.waiver import Waiver
from service.formats.ci_gates import GateListed
from service.store import judged, waivers
from service.store.database import reading, writing
from service.store.waivers import StoredWaiver
from service.usecases.list_gates import Under, list_gates
from tests.integration import gating
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.serving import application

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as client:
        yield client


def slow(engine: Engine, key: str = "one") -> UUID:
    """Measure a gate whose candidate is a third slower."""
    gate_id = gating.ask(engine, gating.gate_order(), key)
    gating.measure(engine, lambda stack, *_: 1.3 if stack == NEW.name else 1.0)
    return gate_id


def listed(engine: Engine) -> tuple[GateListed, int]:
    """Return the newest gate of the list, and how many had to be judged for it."""
    with reading(engine) as session:
        found, fresh = list_gates(session, Under("rule", LATER), limit=20)
    with writing(engine) as session:
        judged.keep(session, fresh, now=LATER)
    return found[0], len(fresh)


def test_a_list_tells_outcome_exit_code_and_end_of_what_is_over(
    engine: Engine, http: TestClient
) -> None:
    over = slow(engine)
    running = gating.ask(engine, gating.gate_order(), "two")

    every = [GateListed.model_validate(each) for each in http.get("/api/v1/gates").json()]

    told = {each.id: (each.outcome, each.exit_code, each.state) for each in every}
    assert told == {
        over: (Outcome.REGRESSED, 3, "finished"),
        running: (None, None, "running"),
    }
    found = next(each for each in every if each.id == over)
    assert found.finished_at is not None
    assert (found.base_stack_key, found.candidate_stack_key) == (OLD.key, NEW.key)
    assert (found.channel, found.mode, found.asked_by) == ("main", "remote", "ada")


def test_what_was_told_of_a_gate_is_not_judged_again(engine: Engine) -> None:
    slow(engine)

    assert [listed(engine)[1] for _ in range(2)] == [1, 0]


def test_a_waiver_changes_what_a_list_says_and_its_end_changes_it_back(engine: Engine) -> None:
    slow(engine)
    before, _ = listed(engine)
    stored = StoredWaiver(
        uuid4(),
        Waiver("pr", None, None, None, LATER + timedelta(days=1), "known for a week", "grace"),
        NOW,
        None,
    )
    with writing(engine) as session:
        waivers.keep(session, stored)
    waived, _ = listed(engine)
    with writing(engine) as session:
        waivers.revoke(session, stored.id, now=NOW + timedelta(minutes=30))
    after, _ = listed(engine)

    assert [each.exit_code for each in (before, waived, after)] == [3, 4, 3]


def test_a_list_says_what_the_gate_itself_says_once_its_runs_are_withdrawn(
    engine: Engine, http: TestClient
) -> None:
    gate_id = slow(engine)
    before, _ = listed(engine)
    runs = http.get("/api/v1/runs", params={"session_id": str(before.session_id)}).json()["runs"]
    for run in runs:
        order = {"reason": "another load ran beside it"}
        http.post(f"/api/v1/runs/{run['id']}/withdrawal", json=order).raise_for_status()

    after, fresh = listed(engine)

    assert fresh == 1
    assert after.outcome is gating.read(engine, gate_id).answer.outcome
    assert after.outcome is not before.outcome


def test_a_gate_that_was_cancelled_says_what_was_measured_by_then(
    engine: Engine, http: TestClient
) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    http.post(f"/api/v1/gates/{gate_id}/cancel")

    found, _ = listed(engine)

    assert (found.state, found.outcome, found.exit_code) == ("cancelled", Outcome.MISSING, 5)
