"""Attributions as they are kept: told again and again while they are searched, and then no more."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.attribution import Attribution, Cause, Level, Part, State, Step
from service.domain.incident import Direction, Incident
from service.domain.verdict import Outcome
from service.formats.attributions import (
    AttributionAnswer,
    AttributionRead,
    AttributionReport,
    ComboRead,
    StepRead,
)
from service.formats.incidents import IncidentDetail
from service.store import incidents
from service.store.attributions import UnknownAttributionError
from service.store.database import reading, writing
from service.store.incidents import UnknownIncidentError
from service.store.sessions import UnknownSessionError
from service.store.stacks import UnknownStackError
from service.usecases.keep_attribution import (
    AttributionStateError,
    keep_attribution,
    list_attributions,
    read_attribution,
)
from service.usecases.read_incidents import read_incident
from tests.integration import path
from tests.integration.builders import NEW, NOW, OLD, session_order
from tests.integration.serving import application

STEP = Step((Part("sglang", "0.5.18", "0.5.23"),))
SOUGHT = AttributionAnswer(
    plan="demo",
    good=OLD.name,
    bad=NEW.name,
    outcome=Outcome.REGRESSED,
    steps=(StepRead.of(STEP),),
    most_combos=1,
    followed=None,
)
FOUND = SOUGHT.ended(Attribution(Cause.SINGLE, (STEP,)))


@pytest.fixture
def session_id(engine: Engine) -> UUID:
    return path.submit(engine, session_order(), "key", now=NOW)


@pytest.fixture
def incident_id(engine: Engine, session_id: UUID) -> UUID:
    assert session_id.version == 4
    incident = Incident(
        id=uuid4(),
        title="slower",
        direction=Direction.WORSE,
        baseline_stack_key=OLD.key,
        candidate_stack_key=NEW.key,
        opened_at=NOW,
        opened_by="ann",
        seen_at=NOW,
    )
    with writing(engine) as session:
        incidents.keep(session, incident, ())
    return incident.id


def combo(session_id: UUID) -> ComboRead:
    return ComboRead(
        at_bad=("sglang",),
        candidates=("sglang",),
        stack_key=NEW.key,
        stack_name=NEW.name,
        level=Level.BROKEN,
        verdict=None,
        broken="broken at server: it did not come up",
        session_id=session_id,
        cached=False,
    )


def report(
    answer: AttributionAnswer = SOUGHT,
    state: State = State.SEARCHING,
    *,
    incident_id: UUID | None = None,
    bad: str = NEW.key,
) -> AttributionReport:
    return AttributionReport(
        incident_id=incident_id,
        good_stack_key=OLD.key,
        bad_stack_key=bad,
        state=state,
        budget_card_s=3600.0,
        launches=4,
        card_s=120.0,
        answer=answer,
    )


def kept(
    engine: Engine, attribution_id: UUID, told: AttributionReport, *, minutes: int = 0
) -> AttributionRead:
    with writing(engine) as session:
        return keep_attribution(
            session, attribution_id, told, who="ann", now=NOW + timedelta(minutes=minutes)
        )


def test_a_search_is_told_again_and_again_until_it_ends(
    engine: Engine, incident_id: UUID, session_id: UUID
) -> None:
    attribution_id = uuid4()
    seen = SOUGHT.model_copy(update={"combos": (combo(session_id),)})
    kept(engine, attribution_id, report(incident_id=incident_id))
    kept(engine, attribution_id, report(seen, incident_id=incident_id), minutes=5)
    ended = report(FOUND, State.ENDED, incident_id=incident_id)
    kept(engine, attribution_id, ended, minutes=9)
    again = kept(engine, attribution_id, ended, minutes=10)

    with reading(engine) as session:
        found = read_attribution(session, attribution_id)
        detail = read_incident(session, incident_id)
    assert found == again
    assert (found.state, found.answer) == (State.ENDED, FOUND)
    assert (found.started_at, found.started_by) == (NOW, "ann")
    assert (found.launches, found.card_s, found.budget_card_s) == (4, 120.0, 3600.0)
    assert detail.attributions == (found,)
    assert [(act.act, act.actor) for act in detail.history] == [("attribute", "ann")]


def test_what_has_ended_is_not_told_anew_and_keeps_its_stacks(
    engine: Engine, incident_id: UUID
) -> None:
    over, going_on = uuid4(), uuid4()
    kept(engine, over, report(FOUND, State.ENDED, incident_id=incident_id))
    kept(engine, going_on, report())

    with pytest.raises(AttributionStateError, match="is ended"):
        kept(engine, over, report(incident_id=incident_id))
    with pytest.raises(AttributionStateError, match="of other stacks"):
        kept(engine, going_on, report(bad=OLD.key))


@pytest.mark.parametrize(
    ("told", "error"),
    [
        pytest.param(report(incident_id=UUID(int=1)), UnknownIncidentError, id="incident"),
        pytest.param(report(bad="e" * 64), UnknownStackError, id="stack"),
        pytest.param(
            report(SOUGHT.model_copy(update={"combos": (combo(UUID(int=2)),)})),
            UnknownSessionError,
            id="session",
        ),
    ],
)
def test_what_it_names_has_to_be_here(
    engine: Engine, session_id: UUID, told: AttributionReport, error: type[Exception]
) -> None:
    assert session_id.version == 4

    with pytest.raises(error):
        kept(engine, uuid4(), told)


def test_they_are_listed_by_incident_the_newest_first(engine: Engine, incident_id: UUID) -> None:
    first, second, apart = uuid4(), uuid4(), uuid4()
    kept(engine, first, report(FOUND, State.ENDED, incident_id=incident_id))
    kept(engine, second, report(incident_id=incident_id), minutes=1)
    kept(engine, apart, report(), minutes=2)

    with reading(engine) as session:
        of_incident = list_attributions(session, incident_id=incident_id)
        of_all = list_attributions(session, limit=2)
        with pytest.raises(UnknownAttributionError):
            read_attribution(session, UUID(int=3))
    assert [each.id for each in of_incident] == [second, first]
    assert [each.id for each in of_all] == [apart, second]


def test_they_are_told_and_read_over_http(
    engine: Engine, incident_id: UUID, tmp_path: Path
) -> None:
    where = f"/api/v1/attributions/{uuid4()}"
    told = report(FOUND, State.ENDED, incident_id=incident_id)
    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as http:
        made = http.put(where, json=told.model_dump(mode="json"))
        read = AttributionRead.model_validate_json(http.get(where).content)
        listed = http.get("/api/v1/attributions", params={"incident_id": str(incident_id)})
        detail = IncidentDetail.model_validate_json(
            http.get(f"/api/v1/incidents/{incident_id}").content
        )
        changed = http.put(where, json=report(incident_id=incident_id).model_dump(mode="json"))
        unknown = http.get(f"/api/v1/attributions/{UUID(int=0)}")

    assert (made.status_code, changed.status_code, unknown.status_code) == (200, 409, 404)
    assert [each["id"] for each in listed.json()] == [str(read.id)]
    assert detail.attributions == (read,)
    assert read.answer.cause is Cause.SINGLE
