"""Profiles of an incident's stacks: ordered once, kept with their traces, and never judged."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from typer.testing import CliRunner

from runners import reports
from service.cli.incident import incidents as commands
from service.domain.cell import Cell
from service.domain.communication import decoding
from service.domain.incident import Direction, Incident, IncidentCell
from service.domain.layer import Layer
from service.domain.profile import Profile, Stage, StageProfile
from service.formats.communications import ARTEFACT as COMMUNICATION
from service.formats.communications import CommunicationSeen
from service.formats.orders import JobOrder
from service.formats.profiles import ARTEFACT, ProfileSeen
from service.formats.reports import Broken
from service.store import incidents
from service.store.database import writing
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD, PROTOCOL
from tests.integration.pages import get, pages
from tests.integration.serving import application, served

TWO = builders.condition(tp=2)
SEEN = CommunicationSeen(
    ranks=2,
    hidden=64,
    layers=2,
    vocabulary=512,
    value_bytes=2,
    seconds={1024: 1e-4, 1048576: 2e-3},
)
DECODE = StageProfile(
    passes=30, pass_s=0.004, messages=6.0, message_s=5e-4, waiting_s=2e-4, other_s=1e-4
)
PROFILE = ProfileSeen.told(
    Profile({Stage.DECODE: DECODE}, (), (("aten::mm", 0.08),)),
    ranks=2,
    sequences=4,
    input_tokens=64,
    output_tokens=16,
    first_token_s=0.03,
)


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: no query here is a profile's own."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


def opened(engine: Engine) -> UUID:
    """Measure both stacks on two cards, and open an incident of their cell."""
    order = builders.session_order(conditions=[TWO], cards=2)
    path.do_session(engine, order, scales={NEW.name: 1.4})
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
        listed = IncidentCell(Cell(TWO.key, PROTOCOL.key), "tpot_p50", 0.4)
        incidents.keep(session, incident, [listed])
    return incident.id


def ordered(http: TestClient, incident_id: UUID) -> dict[str, object]:
    answer = http.post(f"/api/v1/incidents/{incident_id}/profiles", json={"why": "the links?"})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def profile(engine: Engine, order: JobOrder) -> None:
    """Report what a runner does of a profiled launch, and finish its job."""
    launch = builders.launch_report(order, launch_id=reports.launch_id_of(order))
    told = builders.artefact(SEEN.model_dump_json().encode(), COMMUNICATION)
    path.tell_launch(engine, launch.model_copy(update={"artefacts": (told,)}))
    texts = {
        ARTEFACT: PROFILE.model_dump_json().encode(),
        "profile-17-TP-0.trace.json.gz": f"trace of {order.stack.stack.name}".encode(),
    }
    (cell,) = order.launch.cells
    run = reports.profiled_run(order, cell, begun=NOW, ended=NOW, texts=texts)
    path.report(engine, run)
    path.finish(engine, order)


def test_each_stack_is_launched_once_in_the_cell_that_moved_and_on_its_host(
    engine: Engine, http: TestClient
) -> None:
    incident_id = opened(engine)

    asked = ordered(http, incident_id)
    again = ordered(http, incident_id)

    assert asked["session_id"] == again["session_id"]
    assert path.claim(engine, builders.claim("r2", host="h2")) is None
    orders = [path.claimed(engine)]
    profile(engine, orders[0])
    orders.append(path.claimed(engine))
    profile(engine, orders[1])
    assert path.claim(engine) is None
    assert [order.stack.key for order in orders] == [OLD.key, NEW.key]
    assert all(order.launch.profile and len(order.launch.cells[0].seeds) == 1 for order in orders)


def test_what_was_profiled_stands_beside_the_estimate_with_its_traces(
    engine: Engine, http: TestClient
) -> None:
    incident_id = opened(engine)
    ordered(http, incident_id)
    for _ in range(2):
        profile(engine, path.claimed(engine))

    (found,) = get(http, f"/incidents/{incident_id}/profiles")

    old, new = found["arms"]
    assert (old["stack"]["name"], new["stack"]["name"]) == (OLD.name, NEW.name)
    estimate = decoding(SEEN.shape, SEEN.curve, sequences=4, ranks=2).seconds
    checked = new["checked"]["decode"]
    assert checked["estimated_s"] == pytest.approx(estimate)
    assert checked["ratio"] == pytest.approx(estimate / DECODE.message_s)
    assert new["seen"]["stages"]["decode"]["share"] == pytest.approx(0.125)
    assert old["traces"][0]["digest"] != new["traces"][0]["digest"]
    assert http.get(f"/api/v1/artefacts/{new['traces'][0]['digest']}").content.endswith(b"0.5.23")


def test_nothing_of_a_profile_is_judged_screened_or_pinned(
    engine: Engine, http: TestClient
) -> None:
    incident_id = opened(engine)
    before = {what: get(http, what) for what in ("/events", "/baselines", "/scaling")}
    session_id = ordered(http, incident_id)["session_id"]
    for _ in range(2):
        profile(engine, path.claimed(engine))

    verdicts = get(http, f"/sessions/{session_id}/verdicts")

    assert verdicts["finished"]
    assert {cell["comparison"]["outcome"] for cell in verdicts["cells"]} == {"invalid"}
    assert {what: get(http, what) for what in before} == before
    incident = get(http, f"/incidents/{incident_id}")
    assert [act["act"] for act in incident["history"]] == ["order"]
    assert incident["incident"]["is_open"]


def test_a_server_that_its_profiler_ended_says_where_it_broke(
    engine: Engine, http: TestClient
) -> None:
    incident_id = opened(engine)
    ordered(http, incident_id)
    order = path.claimed(engine)
    broken = Broken(layer=Layer.PLUGIN, finding="the server's profiler was asked for one batch")
    path.tell_launch(engine, builders.launch_report(order, broken=broken))
    path.finish(engine, order)

    ((old, new),) = (each["arms"] for each in get(http, f"/incidents/{incident_id}/profiles"))

    assert (old["state"], old["seen"]) == ("reported", None)
    assert old["reason"].startswith("broken at plugin: the server's profiler")
    assert (new["state"], new["run_id"]) == ("queued", None)


def test_an_incident_that_no_job_measured_has_no_order_that_could_be_given_again(
    engine: Engine, http: TestClient
) -> None:
    incident_id = opened(engine)
    asked = {"why": "x", "condition_key": builders.condition(concurrency=1).key}

    answer = http.post(f"/api/v1/incidents/{incident_id}/profiles", json=asked)

    assert answer.status_code == 409
    assert "run its plan with both stacks first" in answer.json()["title"]


@pytest.mark.parametrize(
    ("lang", "said", "act"),
    [
        pytest.param("en", "never judged", "had both stacks profiled", id="English"),
        pytest.param("zh", "不参与判定", "性能剖析", id="Chinese"),
    ],
)
def test_a_person_reads_the_share_the_estimate_and_where_the_traces_are(
    engine: Engine, http: TestClient, tmp_path: Path, lang: str, said: str, act: str
) -> None:
    incident_id = opened(engine)
    ordered(http, incident_id)
    for _ in range(2):
        profile(engine, path.claimed(engine))

    with served(application(engine, tmp_path)) as at:
        words = ["profiles", str(incident_id), "--lang", lang, "--url", at]
        shown = CliRunner().invoke(commands, words)
        told = CliRunner().invoke(commands, [*words, "--json"])
        history = CliRunner().invoke(commands, ["show", *words[1:]])

    assert said in shown.output
    assert act in history.output
    assert "12.5 %" in shown.output
    assert "aten::mm 80 ms" in shown.output
    assert len(json.loads(told.stdout)) == 1
