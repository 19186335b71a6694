"""A series: runs in the order their stacks were built, with repeats, band and what changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.layer import Layer
from service.formats.reports import Broken
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD, PROTOCOL
from tests.integration.pages import dated, get, pages, pin

CONDITION = builders.condition(concurrency=1)
ASKED = {"condition_key": CONDITION.key, "protocol_key": PROTOCOL.key, "metric": "ttft_p50"}


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


@pytest.fixture
def measured(engine: Engine) -> Engine:
    """Measure one cell on both stacks, twice each; the new one was built later."""
    order = dated(builders.session_order(arms=(NEW, OLD, NEW, OLD), conditions=[CONDITION]))
    path.do_session(engine, order, scales={NEW.name: 2.0})
    return engine


def series(http: TestClient, **asked: object) -> Any:
    return get(http, "/series", **ASKED, **asked)


@pytest.mark.usefixtures("measured")
def test_runs_are_in_the_order_their_stacks_were_built(http: TestClient) -> None:
    found = series(http)

    assert [stack["name"] for stack in found["stacks"]] == [OLD.name, NEW.name]
    assert [point["stack"] for point in found["points"]] == [0, 0, 1, 1]
    assert found["points"][0]["repeats"] == pytest.approx([0.0198, 0.02, 0.0202])
    assert found["points"][3]["median"] == pytest.approx(0.04)
    assert (found["total"], found["cursor"], found["hosts"]) == (4, None, ["h1"])
    assert (found["unit"], found["better"], found["tolerance"]) == ("s", "lower", 0.1)


@pytest.mark.usefixtures("measured")
def test_a_stack_says_what_differs_from_the_one_before_it(http: TestClient) -> None:
    first, second = series(http)["stacks"]

    (change,) = second["changes"]
    assert first["changes"] == []
    assert (change["name"], change["baseline"], change["candidate"]) == (
        "sglang",
        "0.5.18",
        "0.5.23",
    )
    assert second["scope"] == "process"


def test_the_band_is_what_the_pinned_baseline_gave(measured: Engine, http: TestClient) -> None:
    pin(measured, OLD)

    found = series(http)

    band = found["baseline"]
    assert (band["stack_key"], band["runs"]) == (OLD.key, 2)
    assert [band[name] for name in ("low", "level", "high")] == pytest.approx([0.02] * 3)
    assert [point["is_baseline"] for point in found["points"]] == [True, True, False, False]


@pytest.mark.usefixtures("measured")
def test_pages_go_back_to_the_first_run(http: TestClient) -> None:
    last = series(http, limit=3)
    first = series(http, limit=3, cursor=last["cursor"])

    ids = [point["run_id"] for point in (*first["points"], *last["points"])]
    assert ids == [point["run_id"] for point in series(http)["points"]]
    assert first["cursor"] is None


@pytest.mark.parametrize(
    ("host", "runs"), [pytest.param("h1", 4, id="that host"), pytest.param("h2", 0, id="another")]
)
@pytest.mark.usefixtures("measured")
def test_a_host_shows_its_own_runs_alone(http: TestClient, host: str, runs: int) -> None:
    found = series(http, host=host)

    assert (len(found["points"]), found["total"]) == (runs, runs)


def test_a_broken_run_has_its_place_and_no_value(engine: Engine, http: TestClient) -> None:
    order = builders.session_order(arms=(OLD,), conditions=[CONDITION], baseline=None)
    path.submit(engine, order)
    job = path.claimed(engine)
    broken = Broken(layer=Layer.SERVER, finding="it died")
    path.tell_launch(engine, builders.launch_report(job, broken=broken))
    path.finish(engine, job)

    (point,) = series(http)["points"]

    assert (point["state"], point["judged"], point["median"], point["repeats"]) == (
        "broken",
        False,
        None,
        [],
    )


@pytest.mark.parametrize(
    ("points", "runs"),
    [
        pytest.param(2000, [1, 1, 1, 1], id="each run where there is room"),
        pytest.param(2, [2, 2], id="neighbours put together"),
        pytest.param(1, [2, 2], id="stacks never put together"),
    ],
)
@pytest.mark.usefixtures("measured")
def test_the_outline_holds_the_whole_series(http: TestClient, points: int, runs: list[int]) -> None:
    outline = get(http, "/series/outline", **ASKED, points=points)

    assert outline["runs"] == runs
    assert outline["total"] == 4
    assert outline["stack"] == sorted(outline["stack"])
    assert outline["min"][0] == pytest.approx(0.0198)
    assert outline["max"][-1] == pytest.approx(0.0404)
    assert {len(outline[name]) for name in ("run_id", "measured_at", "host", "median")} == {
        len(runs)
    }


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param({"metric": "ttft"}, 404, id="a metric that is not there"),
        pytest.param({"condition_key": "0" * 64}, 404, id="a condition that is not there"),
        pytest.param({"cursor": "WyJhIl0="}, 422, id="a cursor of nobody's"),
    ],
)
@pytest.mark.usefixtures("measured")
def test_a_wrong_question_is_refused(http: TestClient, asked: dict[str, str], status: int) -> None:
    assert http.get("/api/v1/series", params={**ASKED, **asked}).status_code == status


@pytest.mark.usefixtures("measured")
def test_a_cell_without_runs_has_an_empty_series(http: TestClient) -> None:
    found = get(http, "/series", **{**ASKED, "protocol_key": "0" * 64})
    outline = get(http, "/series/outline", **{**ASKED, "protocol_key": "0" * 64})

    assert (found["points"], found["stacks"], found["baseline"]) == ([], [], None)
    assert outline["run_id"] == []
