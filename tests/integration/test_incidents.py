"""Incidents: opened from an event, answered, merged, split and opened again; and what they hold."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.incident import IncidentStateError, Triage
from service.domain.stack import Stack
from service.formats.baselines import BaselinePin, BaselineRead
from service.formats.events import EventRead
from service.formats.incidents import (
    IncidentDetail,
    IncidentOrder,
    IncidentPage,
    IncidentRead,
    MergeOrder,
    RecordRead,
    ReopenOrder,
    SplitOrder,
    TriageOrder,
)
from service.store.database import reading, writing
from service.usecases.move_baseline import FrozenBaselineError
from service.usecases.pin_baseline import list_baselines, pin_baseline
from service.usecases.read_incidents import read_incident, read_record
from service.usecases.triage_incident import (
    merge_incident,
    open_incident,
    reopen_incident,
    split_incident,
    triage_incident,
)
from tests.integration.builders import NOW
from tests.integration.nights import CELLS, STEP, do_night, stack_of
from tests.integration.serving import application

LATER = NOW + timedelta(days=30)
GOOD, BAD, NEWER = stack_of(STEP - 1), stack_of(STEP), stack_of(30)


@pytest.fixture
def engine(history: Engine) -> Engine:
    """Name what the tests here are given."""
    return history


def opened(engine: Engine, event: EventRead) -> IncidentRead:
    order = IncidentOrder(event_id=event.id, why="confirmed by hand")
    with writing(engine) as session:
        return open_incident(session, order, who="ann", now=LATER)


def answered(engine: Engine, incident_id: UUID, triage: Triage) -> IncidentRead:
    order = TriageOrder(triage=triage, why="looked at", owner="bob")
    with writing(engine) as session:
        return triage_incident(
            session, incident_id, order, who="ann", now=LATER + timedelta(hours=1)
        )


def split(engine: Engine, incident_id: UUID, keys: Sequence[str]) -> IncidentRead:
    order = SplitOrder(condition_keys=tuple(keys), why="two causes")
    with writing(engine) as session:
        return split_incident(session, incident_id, order, who="ann", now=LATER)


def reopened(engine: Engine, incident_id: UUID) -> IncidentRead:
    with writing(engine) as session:
        return reopen_incident(
            session, incident_id, ReopenOrder(why="came back"), who="ann", now=LATER
        )


def pin(engine: Engine, stack_key: str, key: str) -> tuple[BaselineRead, ...]:
    wanted = BaselinePin(stack_key=stack_key, condition_keys=(key,), why="release")
    with writing(engine) as session:
        return pin_baseline(session, wanted, who="ann", now=LATER)


def test_an_incident_lists_what_moved_and_the_runs_it_came_from(
    engine: Engine, event: EventRead
) -> None:
    incident, again = opened(engine, event), opened(engine, event)

    assert incident == again
    assert incident.is_open
    assert (incident.baseline_stack_key, incident.candidate_stack_key) == (GOOD.key, BAD.key)
    assert {cell.condition_key for cell in incident.cells} == {CELLS[0].key, CELLS[1].key}
    assert all(cell.run_ids and 0.04 < cell.change < 0.12 for cell in incident.cells)


def test_a_pin_on_its_cells_is_refused_and_names_it_and_other_cells_are_free(
    engine: Engine, event: EventRead
) -> None:
    incident = opened(engine, event)

    with pytest.raises(FrozenBaselineError, match=str(incident.id)):
        pin(engine, BAD.key, CELLS[0].key)

    assert len(pin(engine, BAD.key, CELLS[3].key)) == 1


def test_accepting_moves_the_baseline_of_its_cells_alone(engine: Engine, event: EventRead) -> None:
    for cell in (CELLS[0], CELLS[3]):
        pin(engine, GOOD.key, cell.key)

    answered(engine, opened(engine, event).id, Triage.ACCEPT)

    with reading(engine) as session:
        found = list_baselines(session, channel="main", history=False)
    assert {each.condition_key: each.stack_key for each in found} == {
        CELLS[0].key: BAD.key,
        CELLS[3].key: GOOD.key,
    }


def test_a_split_incident_merges_again_and_can_be_taken_out(
    engine: Engine, event: EventRead
) -> None:
    whole = opened(engine, event)
    part = split(engine, whole.id, [CELLS[0].key])

    with writing(engine) as session:
        order = MergeOrder(into=whole.id, why="one cause")
        merged = merge_incident(session, part.id, order, who="ann", now=LATER)

    assert {cell.condition_key for cell in part.cells} == {CELLS[0].key}
    assert merged.merged == (part.id,)
    assert len(merged.cells) == len(whole.cells)
    assert reopened(engine, part.id).merged_into is None


def test_a_merged_cell_is_frozen_by_its_whole(engine: Engine, event: EventRead) -> None:
    whole = opened(engine, event)
    part = split(engine, whole.id, [CELLS[0].key])
    with writing(engine) as session:
        order = MergeOrder(into=whole.id, why="one cause")
        merge_incident(session, part.id, order, who="ann", now=LATER)

    with pytest.raises(FrozenBaselineError, match=str(whole.id)):
        pin(engine, BAD.key, CELLS[0].key)


def test_all_cells_cannot_be_split_off(engine: Engine, event: EventRead) -> None:
    whole = opened(engine, event)

    with pytest.raises(IncidentStateError, match="one has to stay"):
        split(engine, whole.id, [CELLS[0].key, CELLS[1].key])


def test_what_was_done_is_kept_and_noise_counts_as_a_false_alarm(
    engine: Engine, event: EventRead
) -> None:
    incident = opened(engine, event)
    answered(engine, incident.id, Triage.NOISE)

    with reading(engine) as session:
        record, detail = read_record(session), read_incident(session, incident.id)
    assert (record.opened, record.noise, record.false_alarm_rate) == (1, 1, 1.0)
    assert record.to_triage_s == 3600.0
    assert [(act.act, act.actor) for act in detail.history] == [("open", "ann"), ("triage", "ann")]
    assert reopened(engine, incident.id).is_open


@pytest.mark.parametrize(
    ("arms", "verified"),
    [
        pytest.param((GOOD, NEWER) * 6, True, id="beside its baseline and inside"),
        pytest.param((NEWER,), False, id="alone, so that nothing can be told"),
    ],
)
def test_a_fix_is_verified_by_a_later_stack_that_is_seen_back_inside(
    engine: Engine, event: EventRead, arms: Sequence[Stack], verified: bool
) -> None:
    incident = answered(engine, opened(engine, event).id, Triage.FIX)

    do_night(engine, 30, arms=arms)

    with reading(engine) as session:
        detail = read_incident(session, incident.id)
    found = detail.incident
    assert (found.verified_at is not None, found.is_open) == (verified, not verified)
    assert found.verified_stack_name == (NEWER.name if verified else None)
    assert (detail.history[-1].act == "verify") is verified


def test_incidents_are_answered_over_http(engine: Engine, event: EventRead, tmp_path: Path) -> None:
    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as http:
        made = http.post("/api/v1/incidents", json={"event_id": str(event.id), "why": "seen"})
        incident = IncidentRead.model_validate_json(made.content)
        where = f"/api/v1/incidents/{incident.id}"
        pinned = {"stack_key": BAD.key, "condition_keys": [CELLS[0].key], "why": "new"}
        refused = http.post("/api/v1/baselines", json=pinned)
        answer = http.post(f"{where}/triage", json={"triage": "noise", "why": "one bad disk"})
        page = IncidentPage.model_validate_json(http.get("/api/v1/incidents").content)
        detail = IncidentDetail.model_validate_json(http.get(where).content)
        record = RecordRead.model_validate_json(http.get("/api/v1/incidents/record").content)
        unknown = http.get(f"/api/v1/incidents/{UUID(int=0)}")

    assert (made.status_code, refused.status_code, answer.status_code) == (201, 409, 200)
    assert str(incident.id) in refused.json()["title"]
    assert [each.id for each in page.incidents] == [incident.id]
    assert (detail.incident.triage, record.noise) == (Triage.NOISE, 1)
    assert unknown.status_code == 404
