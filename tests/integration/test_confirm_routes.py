"""Confirms over HTTP and as commands: begun, followed, read in both languages, cancelled."""

import json
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.main import main
from service.formats.confirms import BudgetRead, ConfirmPage, ConfirmRead
from service.formats.events import EventDetail, EventRead
from tests.integration.confirming import measure
from tests.integration.serving import Clock, Heard, application, served

SLOWER = 1.12


@pytest.fixture
def engine(history_copy: Engine) -> Engine:
    """Take SQLite alone: what is asked here is the same on both databases."""
    return history_copy


@pytest.fixture
def clock(event: EventRead) -> Clock:
    return Clock(event.seen_at + timedelta(hours=1))


def client(app: FastAPI) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1")


def measured(engine: Engine, event: EventRead) -> int:
    def scale(name: str) -> float:
        return SLOWER if name == event.seen_stack_name else 1.0

    return len(measure(engine, scale, now=event.seen_at + timedelta(hours=1)))


def test_a_confirm_is_begun_followed_and_read_beside_its_event(
    engine: Engine, event: EventRead, clock: Clock, tmp_path: Path
) -> None:
    heard = Heard()
    http = client(application(engine, tmp_path, announce=heard, clock=clock))
    asked = {"event_id": str(event.id), "why": "to be sure", "who": "ann"}
    begun = http.post("/api/v1/confirms", json=asked)
    again = http.post("/api/v1/confirms", json=asked)
    held = BudgetRead.model_validate(http.get("/api/v1/confirms/budget").json())
    launched = measured(engine, event)
    confirm_id = begun.json()["id"]
    ended = ConfirmRead.model_validate(http.get(f"/api/v1/confirms/{confirm_id}").json())
    listed = ConfirmPage.model_validate(http.get("/api/v1/confirms?state=ended").json())
    beside = EventDetail.model_validate(http.get(f"/api/v1/events/{event.id}").json())

    assert (begun.status_code, again.json()["id"]) == (201, confirm_id)
    assert begun.json()["state"] == "running"
    assert [nudge.queue for nudge in heard.nudges[:1]] == ["host.h1"]
    assert held.spent.launches == begun.json()["planned"]["launches"]
    assert (ended.outcome, ended.spent.launches) == ("regressed", launched)
    assert listed.confirms == beside.confirms == (ended,)


def test_what_nobody_knows_of_is_not_found(engine: Engine, clock: Clock, tmp_path: Path) -> None:
    http = client(application(engine, tmp_path, clock=clock))
    asked = {"event_id": str(uuid4()), "why": "to be sure"}

    assert http.post("/api/v1/confirms", json=asked).json()["type"] == "UnknownEventError"
    assert http.get(f"/api/v1/confirms/{uuid4()}").status_code == 404
    assert http.post(f"/api/v1/confirms/{uuid4()}/cancel").status_code == 404


def run(address: str, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(main, ["confirm", *words, "--url", address])
    return answer.exit_code, answer.stdout


def test_the_command_line_says_what_came_of_it_in_both_languages(
    engine: Engine, event: EventRead, clock: Clock, tmp_path: Path
) -> None:
    with served(application(engine, tmp_path, clock=clock)) as address:
        begun = run(address, "start", str(event.id), "--why", "to be sure", "--json")
        confirm_id = json.loads(begun[1])["id"]
        before = run(address, "show", confirm_id)
        measured(engine, event)
        shown = run(address, "show", confirm_id)
        chinese = run(address, "show", confirm_id, "--lang", "zh")
        listed = run(address, "list", "--event", str(event.id))
        budget = run(address, "budget")

    assert (begun[0], before[0], shown[0], chinese[0]) == (0, 4, 3, 3)
    assert f"confirm {confirm_id}: REGRESSED" in shown[1]
    assert "at least one cell is surely worse" in shown[1]
    assert f"复测确认 {confirm_id}：退化" in chinese[1]
    assert confirm_id in listed[1]
    assert "night: 48 launches and 16.00 card-hours" in budget[1]


def test_a_confirm_is_cancelled_from_the_command_line(
    engine: Engine, event: EventRead, clock: Clock, tmp_path: Path
) -> None:
    with served(application(engine, tmp_path, clock=clock)) as address:
        _, text = run(address, "start", str(event.id), "--why", "to be sure", "--json")
        code, cancelled = run(address, "cancel", json.loads(text)["id"])

    assert code == 0
    assert "somebody cancelled it" in cancelled
    assert measured(engine, event) == 0
