"""Curves: measured loads with their bounds, and the capacity under limits; nothing in between."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.capacity import Bound, Kept
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD
from tests.integration.pages import get, pages

LOADS = (1, 4, 16)
CELLS = tuple(builders.condition(concurrency=load) for load in LOADS)


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    """Measure two stacks at three loads, the higher the slower, the new one worse at the last."""
    order = builders.session_order(arms=(OLD, NEW) * 2, conditions=CELLS, baseline=OLD)
    path.submit(engine, order)
    for _ in order.launches:
        job = path.claimed(engine)
        path.tell_launch(engine, builders.launch_report(job, launch_id=job.job_id))
        worse = 1.5 if job.stack.key == NEW.key else 1.0
        for cell, load in enumerate(LOADS):
            scale = load * (worse if load == LOADS[-1] else 1.0) * (1 + job.ordinal / 1000)
            path.report(
                engine, builders.run_report(job, cell=cell, launch_id=job.job_id, scale=scale)
            )
        path.finish(engine, job)
    with pages(engine, tmp_path) as opened:
        yield opened


def asked(client: TestClient, **more: object) -> Any:
    return get(client, "/curves", stack=[OLD.key, NEW.key], **more)


def test_both_stacks_stand_on_one_curve_with_their_bounds_lowest_load_first(
    client: TestClient,
) -> None:
    (curve,) = asked(client)["curves"]

    assert [side["stack"]["key"] for side in curve["sides"]] == [OLD.key, NEW.key]
    for side in curve["sides"]:
        assert [load["amount"] for load in side["loads"]] == list(LOADS)
        assert all(load["launches"] == 2 for load in side["loads"])
        level = side["loads"][0]["latencies"]["ttft_p50"]
        assert level["low"] < level["level"] < level["high"]
        assert side["capacity"] is None


def test_capacity_is_the_highest_load_within_the_limits_of_each_stack(client: TestClient) -> None:
    free = asked(client)["curves"][0]["sides"]
    ttft = [load["latencies"]["ttft_p50"]["level"] for load in free[0]["loads"]]
    limit = ttft[2] * 1.2

    (curve,) = asked(client, at_most=[f"ttft_p50:{limit:.6f}"], traffic=5000)["curves"]

    old, new = (side["capacity"] for side in curve["sides"])
    assert (old["amount"], old["bound"]) == (16, Bound.OPEN)
    assert (new["amount"], new["bound"]) == (4, Bound.BROKEN)
    assert [load["kept"] for load in curve["sides"][1]["loads"]] == [
        Kept.KEPT, Kept.KEPT, Kept.BROKEN,
    ]  # fmt: skip
    assert old["goodput_per_card"]["low"] < old["goodput_per_card"]["level"]
    assert old["cards_needed"]["most"] >= old["cards_needed"]["expected"] >= 1


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param({"at_most": "output_throughput:5"}, 422, id="a limit on a throughput"),
        pytest.param({"at_most": "ttft_p51:5"}, 404, id="a latency that nobody knows"),
        pytest.param({"at_most": "ttft_p50"}, 422, id="a limit without a number"),
        pytest.param({"stack": "ffff0000"}, 404, id="a stack that nobody knows"),
        pytest.param({"traffic": "0"}, 422, id="no traffic"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    engine: Engine, tmp_path: Path, query: dict[str, str], status: int
) -> None:
    with pages(engine, tmp_path) as client:
        answer = client.get("/api/v1/curves", params={"stack": OLD.key, **query})

    assert answer.status_code == status


def test_a_curve_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    path_ = f"/api/v1/curves?stack={OLD.key}"
    tag = client.get(path_).headers["etag"]

    assert client.get(path_, headers={"If-None-Match": tag}).status_code == 304
