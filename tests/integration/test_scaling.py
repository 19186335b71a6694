"""Several cards against one, and the share of their times that is communication."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.condition import Condition
from service.domain.stack import Stack
from service.formats.communications import ARTEFACT, CommunicationSeen
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD
from tests.integration.pages import get, pages

ONE, TWO = builders.condition(), builders.condition(tp=2)
SEEN = CommunicationSeen(
    ranks=2,
    hidden=64,
    layers=2,
    vocabulary=512,
    value_bytes=2,
    seconds={1024: 1e-4, 1048576: 2e-3},
    links={"0-1": 28e9, "0-2": 28e9, "1-2": 5e9},
    chunk=32,
)


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


def measured(
    engine: Engine,
    condition: Condition,
    *,
    scales: tuple[float, ...],
    arm: Stack = OLD,
    told: bytes | None = None,
) -> UUID:
    """Measure one condition in a launch a scale. told: what each launch says of its messages."""
    arms = (arm,) * len(scales)
    order = builders.session_order(arms=arms, conditions=[condition], baseline=None)
    session_id = path.submit(engine, order, key=f"{arm.name} {condition.key} {scales}")
    for scale in scales:
        job = path.claimed(engine)
        launch = builders.launch_report(job, launch_id=job.job_id)
        if told is not None:
            kept = (builders.artefact(told, ARTEFACT),)
            launch = launch.model_copy(update={"artefacts": kept})
        path.tell_launch(engine, launch)
        path.report(engine, builders.run_report(job, launch_id=job.job_id, scale=scale))
        path.finish(engine, job)
    return session_id


def test_every_pair_of_one_and_several_cards_has_its_efficiency(
    engine: Engine, http: TestClient
) -> None:
    measured(engine, ONE, scales=(1.0, 1.01))
    measured(engine, TWO, scales=(0.625, 0.63))
    measured(engine, builders.condition(tp=4), scales=(1.25, 1.26))
    measured(engine, builders.condition(tp=2, concurrency=1), scales=(1.0,))

    (row,) = get(http, "/scaling")["rows"]

    assert (row["stack"]["name"], row["host"], row["fields"]["cards"]) == (OLD.name, "h1", 1)
    assert (row["one"]["cards"], row["one"]["launches"], row["one"]["speedup"]) == (1, 2, 1.0)
    two, four = row["many"]
    assert (two["cards"], two["tp"], two["slower"]) == (2, 2, False)
    assert two["speedup"] == pytest.approx(1.6, rel=0.01)
    assert two["efficiency"] == pytest.approx(0.8, rel=0.01)
    assert two["low"] < two["speedup"] < two["high"]
    assert (four["cards"], four["slower"]) == (4, True)
    assert four["efficiency"] == pytest.approx(0.2, rel=0.01)


def test_a_latency_has_the_same_speedup_as_the_throughput_it_makes(
    engine: Engine, http: TestClient
) -> None:
    measured(engine, ONE, scales=(1.0,))
    measured(engine, TWO, scales=(0.5,))

    (by_time,) = get(http, "/scaling", metric="tpot_p50", stack=OLD.name)["rows"]

    assert by_time["many"][0]["speedup"] == pytest.approx(2.0)
    assert by_time["many"][0]["efficiency"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"host": "h2"}, id="another host"),
        pytest.param({"model": "other"}, id="another model"),
        pytest.param({"stack": NEW.name}, id="a stack that was measured on one card alone"),
    ],
)
def test_what_was_not_measured_beside_one_card_has_no_row(
    engine: Engine, http: TestClient, asked: dict[str, str]
) -> None:
    measured(engine, ONE, scales=(1.0,))
    measured(engine, TWO, scales=(0.5,))
    measured(engine, ONE, scales=(1.0,), arm=NEW)

    assert get(http, "/scaling", **asked)["rows"] == []


def test_an_unknown_stack_or_metric_is_not_found(http: TestClient) -> None:
    assert http.get("/api/v1/scaling", params={"stack": "none"}).status_code == 404
    assert http.get("/api/v1/scaling", params={"metric": "speed"}).status_code == 404


def cells(http: TestClient, session_id: UUID) -> Any:
    return get(http, "/communication", session_id=str(session_id))


def test_the_share_of_a_cells_time_that_is_communication_is_estimated(
    engine: Engine, http: TestClient
) -> None:
    session_id = measured(engine, TWO, scales=(1.0, 1.0), told=SEEN.model_dump_json().encode())

    found = cells(http, session_id)

    (cell,) = found["cells"]
    decode, prefill = cell["decode"], cell["prefill"]
    # Four requests in flight of 64 values of 2 bytes; two sums a layer, and one.
    assert (decode["message_bytes"], decode["messages"]) == (512, 5)
    assert decode["kind"] == "many small"
    assert decode["seconds"] == pytest.approx(6e-4, rel=0.1)
    assert decode["share"] == pytest.approx(decode["seconds"] / 0.005)
    # 64 tokens in chunks of 32, among other requests.
    assert (prefill["passes"], prefill["message_bytes"]) == (2, 32 * 64 * 2)
    assert prefill["at_least"]
    assert len(cell["launches"]) == 2
    assert found["slow_links"][0].startswith("the link of cards 1 and 2 (unknown) runs at 5.00")


@pytest.mark.parametrize(
    ("condition", "told", "reason"),
    [
        pytest.param(ONE, None, "one card has nobody", id="one card"),
        pytest.param(TWO, None, "were not measured", id="a launch that told nothing"),
        pytest.param(TWO, b'{"version":9}', "were not measured", id="words of a later release"),
    ],
)
def test_what_cannot_be_estimated_says_why(
    engine: Engine, http: TestClient, condition: Condition, told: bytes | None, reason: str
) -> None:
    session_id = measured(engine, condition, scales=(1.0,), told=told)

    (cell,) = cells(http, session_id)["cells"]

    assert (cell["decode"], cell["prefill"]) == (None, None)
    assert reason in cell["reason"]


def test_an_unknown_session_is_not_found(http: TestClient) -> None:
    unknown = str(UUID(int=9))

    assert http.get("/api/v1/communication", params={"session_id": unknown}).status_code == 404
