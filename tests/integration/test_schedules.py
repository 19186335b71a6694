"""Schedules on a real database: each night is queued once, with some launches measured twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.audit import Noun
from service.formats.schedules import ScheduleChange, ScheduleOrder, ScheduleRead
from service.formats.sessions import SessionOrder
from service.store import audits
from service.store.database import reading, writing
from service.store.schedules import UnknownScheduleError
from service.usecases.begin_nights import begin_nights, with_duplicates
from service.usecases.cancel_session import cancel_session
from service.usecases.keep_schedule import change_schedule, list_schedules, set_schedule
from service.usecases.read_noise import list_noise
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.serving import application

AT = f"{(NOW + timedelta(hours=1)):%H:00}"
FIRST = (NOW + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
DAY = timedelta(days=1)


def wanted(*, duplicates: int = 1, order: SessionOrder | None = None) -> ScheduleOrder:
    return ScheduleOrder(
        at=AT,
        duplicates=duplicates,
        order=order or builders.session_order(arms=(NEW,), baseline=None),
        why="nightly",
    )


def put(engine: Engine, order: ScheduleOrder | None = None, *, now: datetime = NOW) -> ScheduleRead:
    with writing(engine) as session:
        return set_schedule(session, "nightly", order or wanted(), who="li", now=now)


def change(engine: Engine, act: str, *, now: datetime = NOW) -> ScheduleRead | None:
    asked = ScheduleChange.model_validate({"act": act, "why": "because"})
    with writing(engine) as session:
        return change_schedule(session, "nightly", asked, who="wang", now=now)


def sweep(engine: Engine, now: datetime) -> tuple[UUID, ...]:
    with writing(engine) as session:
        return begin_nights(session, now=now)


def cancel(engine: Engine, session_id: UUID) -> None:
    with writing(engine) as session:
        cancel_session(session, session_id, now=NOW)


def test_a_night_is_queued_when_its_time_comes_and_once(engine: Engine) -> None:
    put(engine)

    before = sweep(engine, FIRST - timedelta(seconds=1))
    (begun,) = sweep(engine, FIRST)
    again = sweep(engine, FIRST + timedelta(seconds=10))

    assert (before, again) == ((), ())
    assert len(path.read(engine, begun).jobs) == 2


def test_two_sweeps_at_one_time_queue_one_session(engine: Engine) -> None:
    put(engine)

    with ThreadPoolExecutor(8) as pool:
        begun = {
            found for ids in pool.map(lambda _: sweep(engine, FIRST), range(8)) for found in ids
        }

    assert len(begun) == 1


def test_a_night_waits_for_the_one_before_it_and_no_longer_than_the_work_day(
    engine: Engine,
) -> None:
    put(engine)
    (first,) = sweep(engine, FIRST)

    held_up = sweep(engine, FIRST + DAY)
    with reading(engine) as session:
        (told,) = list_schedules(session, now=FIRST + DAY)
    cancel(engine, first)
    (second,) = sweep(engine, FIRST + DAY + timedelta(hours=5))
    cancel(engine, second)
    too_late = sweep(engine, FIRST + 2 * DAY + timedelta(hours=7))

    assert held_up == too_late == ()
    assert told.waits_for == first
    assert second != first


def test_paused_nights_are_not_begun_and_not_made_up_for(engine: Engine) -> None:
    put(engine)
    change(engine, "pause")
    paused = sweep(engine, FIRST)

    resumed = change(engine, "resume", now=FIRST + timedelta(minutes=30))
    missed = sweep(engine, FIRST + timedelta(hours=1))
    (next_one,) = sweep(engine, FIRST + DAY)

    assert paused == missed == ()
    assert resumed is not None
    assert resumed.next_begin == FIRST + DAY
    assert path.read(engine, next_one).plan == "demo"


def test_every_change_is_in_the_audit_and_what_was_measured_stays(engine: Engine) -> None:
    put(engine)
    (session_id,) = sweep(engine, FIRST)
    put(engine, wanted(duplicates=3), now=FIRST)
    change(engine, "pause")
    change(engine, "remove")

    with reading(engine) as session:
        entries = audits.of_thing(session, Noun.SCHEDULE, "nightly")
        left = list_schedules(session, now=FIRST)
    assert [entry.act.value for entry in entries] == ["schedule", "schedule", "pause", "unschedule"]
    assert entries[1].before is not None
    assert (entries[1].before["duplicates"], entries[-1].after) == (1, None)
    assert left == ()
    assert path.read(engine, session_id).plan == "demo"
    with pytest.raises(UnknownScheduleError, match="kunline schedule list"):
        change(engine, "pause")


def test_each_launch_has_its_turn_to_be_measured_twice_in_another_order_of_seeds() -> None:
    conditions = [builders.condition(concurrency=1)]
    order = builders.session_order(arms=(OLD, NEW, NEW, OLD), conditions=conditions)

    nights = [with_duplicates(order, night=FIRST.date() + day * DAY, count=1) for day in range(2)]

    twice = [night.launches for night in nights]
    assert [len(launches) for launches in twice] == [5, 5]
    added = [
        next(new for old, new in zip((*order.launches, None), launches, strict=True) if new != old)
        for launches in twice
    ]
    assert {launch.stack_key for launch in added} == {OLD.key, NEW.key}
    for launch in added:
        assert sorted(launch.cells[0].seeds) == sorted(builders.SEEDS)
        assert launch.cells[0].seeds != builders.SEEDS


def test_duplicates_alone_make_the_launch_variance_known(engine: Engine) -> None:
    put(engine)
    (session_id,) = sweep(engine, FIRST)
    while (job := path.claim(engine)) is not None:
        path.do_job(engine, job, scale=1.0 + 0.01 * job.ordinal)

    with reading(engine) as session:
        found = list_noise(session, session_id=session_id)
    assert {each.launches for each in found} == {2}


def test_the_routes_set_list_change_and_refuse(engine: Engine, tmp_path: Path) -> None:
    with TestClient(application(engine, tmp_path), base_url="http://localhost") as client:
        body = wanted().model_dump(mode="json")
        made = client.put("/api/v1/schedules/nightly", json=body)
        listed = client.get("/api/v1/schedules")
        wrong = client.put("/api/v1/schedules/nightly", json={**body, "zone": "Mars/Olympus"})
        asked = {"act": "remove", "why": "moved"}
        removed = client.post("/api/v1/schedules/nightly/change", json=asked)
        unknown = client.post("/api/v1/schedules/nightly/change", json=asked)

    assert (made.status_code, listed.json()[0]["name"]) == (200, "nightly")
    assert (wrong.status_code, wrong.json()["fields"][0]["field"]) == (422, "body.zone")
    assert "Asia/Shanghai" in wrong.json()["fields"][0]["message"]
    assert (removed.json(), unknown.status_code) == ({"schedule": None}, 404)
