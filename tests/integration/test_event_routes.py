"""Events and screens over the API and on the command line: what is answered, and its exit code."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.main import main
from service.client import connected
from service.formats.events import EventDetail, EventPage, ScreenPage
from service.formats.overview import OverviewRead
from service.formats.series import SeriesRead
from tests.integration.builders import NOW, PROTOCOL
from tests.integration.nights import CELLS, do_nights
from tests.integration.serving import application, served

STEP = 14
TWO = CELLS[:2]


def slower(night: int, cell: int) -> float:
    return 1.1 if night >= STEP and cell == 0 else 1.0


def history(engine: Engine) -> None:
    """Measure nights in which the first cell becomes slower."""
    do_nights(engine, range(20), conditions=TWO, slower=slower)


pytestmark = pytest.mark.scene(played=history)


@pytest.fixture
def api(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(engine, tmp_path), base_url="http://127.0.0.1") as client:
        yield client


def test_the_routes_answer_what_the_screen_says(api: TestClient) -> None:
    page = EventPage.model_validate(api.get("/api/v1/events").json())
    (event,) = page.events
    detail = EventDetail.model_validate(api.get(f"/api/v1/events/{event.id}").json())
    quiet = api.get("/api/v1/screens", params={"answer": "no alarm"}).json()
    found = ScreenPage.model_validate(api.get("/api/v1/screens", params={"limit": 4}).json())
    rest = ScreenPage.model_validate(
        api.get("/api/v1/screens", params={"limit": 4, "cursor": found.cursor}).json()
    )

    assert page.cursor is None
    assert detail.event == event
    assert detail.run_ids
    assert {each["condition_key"] for each in quiet["screens"]} == {TWO[1].key}
    assert len(found.screens) + len(rest.screens) == 6
    assert rest.cursor is None


def test_events_are_narrowed_down(api: TestClient) -> None:
    def count(**params: str) -> int:
        return len(api.get("/api/v1/events", params=params).json()["events"])

    assert count(condition_key=TWO[0].key) == 1
    assert count(condition_key=TWO[1].key) == 0
    assert count(host="h1") == 1
    assert count(host="h2") == 0
    assert count(since=(NOW + timedelta(days=STEP)).isoformat()) == 1
    assert count(since=(NOW + timedelta(days=40)).isoformat()) == 0


def test_a_series_tells_its_screen_and_where_it_changed(api: TestClient) -> None:
    params = {"condition_key": TWO[0].key, "protocol_key": PROTOCOL.key, "metric": "tpot_p50"}
    read = SeriesRead.model_validate(api.get("/api/v1/series", params=params).json())

    (screen,) = read.screens
    (change,) = read.change_points
    at = next(point for point in read.points if point.run_id == change.run_id)
    assert screen.answer.value == "suspect"
    assert screen.event_id == change.event_id
    assert change.change == pytest.approx(0.1, abs=0.02)
    assert read.stacks[at.stack].name == f"nightly-{STEP}"
    assert read.stacks[at.stack].key == change.stack_key


def test_the_overview_counts_what_the_screen_says(api: TestClient) -> None:
    read = OverviewRead.model_validate(api.get("/api/v1/overview").json())

    assert read.last_night is not None
    assert read.last_night.screen is not None
    assert (read.last_night.screen.no_alarm, read.last_night.screen.suspect) == (3, 3)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param(f"events/{uuid4()}", 404, id="an event that is not there"),
        pytest.param("events?cursor=nonsense", 422, id="a cursor of nobody's"),
        pytest.param("screens?cursor=bm9wZQ==", 422, id="a cursor of another page"),
        pytest.param("screens?cursor=WzEsMiwzLDRd", 422, id="a cursor of numbers"),
        pytest.param("events?since=yesterday", 422, id="a time that is none"),
        pytest.param("screens?answer=unchanged", 422, id="an answer that is never given"),
    ],
)
def test_what_is_not_there_is_refused(
    engine: Engine, tmp_path: Path, path: str, status: int
) -> None:
    with TestClient(application(engine, tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get(f"/api/v1/{path}").status_code == status


def test_the_command_lists_and_shows_suspects(api: TestClient) -> None:
    with served(api.app) as url:  # type: ignore[arg-type]  # an ASGI application, by its stub
        listed = _run("events", "--days", "3650", "--url", url)
        as_json = _run("events", "--days", "3650", "--json", "--url", url)
        (event,) = json.loads(as_json[1])["events"]
        shown = _run("events", event["id"], "--url", url)
        detail = _run("events", "show", event["id"], "--json", "--url", url)
        elsewhere = _run("events", "--days", "3650", "--host", "h2", "--url", url)

    assert [code for code, _ in (listed, as_json, shown, detail)] == [4, 4, 4, 4]
    assert f"nightly-{STEP - 1} → nightly-{STEP}" in listed[1]
    assert "suspect: 3 series of 1 cells, for the worse" in listed[1]
    assert "from the runs" in shown[1]
    assert json.loads(detail[1])["event"] == event
    assert elsewhere == (0, "No event was seen in the last 3650 days.\n")


def test_the_client_reads_screens_and_events(api: TestClient) -> None:
    with served(api.app) as url, connected(url) as client:  # type: ignore[arg-type]  # see above
        (event,) = client.events().events
        found = client.ask(
            ScreenPage,
            "screens",
            query={"condition_key": TWO[0].key, "metric": "tpot_p50", "host": "h1"},
        )

    assert [each.event_id for each in found.screens] == [event.id]


def _run(*words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(main, [*words])
    return answer.exit_code, answer.stdout
