"""The overview: pools and their freshness, the last sessions and what was said of them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.store.database import writing
from service.usecases.know_runner import register_runner
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.pages import get, pages, pin
from tests.integration.serving import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def http(engine: Engine, tmp_path: Path, clock: Clock) -> Iterator[TestClient]:
    with pages(engine, tmp_path, clock) as client:
        yield client


def test_an_empty_service_says_so(http: TestClient) -> None:
    found = get(http, "/overview")

    assert (found["pools"], found["sessions"], found["last_night"]) == ([], [], None)
    assert found["totals"]["runs"] == {"measured": 0, "incomplete": 0, "invalid": 0, "broken": 0}
    assert found["newest_run_at"] is None


@pytest.mark.parametrize(
    ("quiet_s", "fresh"),
    [pytest.param(10, True, id="heard of lately"), pytest.param(300, False, id="gone quiet")],
)
def test_a_runner_is_fresh_as_long_as_a_lease_lasts(
    engine: Engine, http: TestClient, clock: Clock, quiet_s: int, fresh: bool
) -> None:
    with writing(engine) as session:
        register_runner(session, builders.claim(), leasing=path.LEASING, now=NOW)
    clock.now = NOW + timedelta(seconds=quiet_s)

    (pool,) = get(http, "/overview")["pools"]

    (seen,) = pool["runners"]
    assert (pool["name"], seen["runner"]["host"]) == ("cpu", "h1")
    assert (seen["quiet_s"], seen["fresh"]) == (quiet_s, fresh)


def test_a_session_that_ended_says_how_many_cells_have_each_outcome(
    engine: Engine, http: TestClient
) -> None:
    path.do_session(engine, builders.session_order(), scales={NEW.name: 2.0})

    found = get(http, "/overview")

    (told,) = found["sessions"]
    assert told["told"] == {
        "cells": 2,
        "no_alarm": 0,
        "outcomes": {"regressed": 2},
        "creeping": 0,
    }
    assert [stack["name"] for stack in told["candidates"]] == [NEW.name]
    assert (told["jobs"], told["jobs_ended"]) == (4, 4)
    assert found["last_night"]["told"] == told["told"]
    assert (found["last_night"]["sessions"], found["last_night"]["untold"]) == (1, 0)


def test_a_session_that_runs_is_not_judged(engine: Engine, http: TestClient) -> None:
    path.submit(engine, builders.session_order())
    path.do_job(engine, path.claimed(engine))
    path.claimed(engine)

    found = get(http, "/overview")

    (told,) = found["sessions"]
    (pool,) = found["pools"]
    assert (told["state"], told["told"], told["jobs_ended"]) == ("running", None, 1)
    assert (pool["queued_jobs"], pool["running_jobs"]) == (2, 1)
    assert pool["newest_run_at"] is not None
    assert found["last_night"] is None


def test_many_sessions_are_judged_a_few_an_answer_until_all_are(
    engine: Engine, http: TestClient
) -> None:
    for number in range(3):
        path.do_session(engine, builders.session_order(), str(number))

    untold = [get(http, "/overview")["last_night"]["untold"] for _ in range(4)]

    assert untold == [2, 1, 0, 0]


def test_a_later_pin_is_heard_of(engine: Engine, http: TestClient) -> None:
    path.do_session(engine, builders.session_order(), "one")
    order = builders.session_order(arms=(NEW, NEW), baseline=None)
    session_id = str(path.do_session(engine, order, "two"))

    def told() -> dict[str, int]:
        get(http, "/overview")
        sessions = get(http, "/overview")["sessions"]
        found = next(each for each in sessions if each["id"] == session_id)
        outcomes: dict[str, int] = found["told"]["outcomes"]
        return outcomes

    before = told()
    pin(engine, OLD)
    after = told()

    assert before == {"insufficient baseline": 2}
    assert after == {"unchanged": 2}


def test_channels_count_their_pins(engine: Engine, http: TestClient) -> None:
    path.do_session(engine, builders.session_order())
    pin(engine, OLD)
    pin(engine, OLD, "next")

    channels = get(http, "/overview")["channels"]

    assert [(each["name"], each["baselines"]) for each in channels] == [("main", 2), ("next", 2)]
