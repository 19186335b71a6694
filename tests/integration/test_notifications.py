"""Notifications from what happened to whom it is told, through retries, on real databases."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.notify import webhooks
from service.domain.audit import Noun
from service.domain.incident import Triage
from service.domain.notification import RETRYING, DeliveryState, NotificationKind, WebhookForm
from service.formats.incidents import IncidentOrder, IncidentRead, TriageOrder
from service.formats.schedules import ScheduleOrder
from service.formats.webhooks import ALL_KINDS, DeliveryRead, WebhookOrder, WebhookRead
from service.store import audits
from service.store.database import reading, writing
from service.store.events import EventFilter
from service.tasks.notifications import send_notifications
from service.usecases.begin_nights import begin_nights
from service.usecases.keep_schedule import set_schedule
from service.usecases.keep_webhook import (
    add_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
)
from service.usecases.read_events import list_events
from service.usecases.triage_incident import open_incident, triage_incident
from tests.integration import path
from tests.integration.builders import NOW
from tests.integration.confirming import asked, measure
from tests.integration.forges import Receiver, Request, standing_in
from tests.integration.nights import STEP, do_night, order_of, stack_of
from tests.integration.pages import get, pages
from tests.integration.serving import application, served

LATER = NOW + timedelta(days=30)
SECRET = "a secret of more than sixteen"
GOOD, NEWER = stack_of(STEP - 1), stack_of(30)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with standing_in(server := Receiver()):
        yield server


def added(
    engine: Engine,
    address: str,
    *,
    name: str = "oncall",
    form: WebhookForm = WebhookForm.KUNLINE,
    kinds: Sequence[NotificationKind] = ALL_KINDS,
) -> WebhookRead:
    order = WebhookOrder(
        name=name, form=form, address=address, secret=SECRET, kinds=tuple(kinds), why="who is on"
    )
    with writing(engine) as session:
        return add_webhook(session, order, who="ann", now=LATER)


def opened(engine: Engine) -> IncidentRead:
    with writing(engine) as session:
        (event,) = list_events(session, EventFilter(), limit=5, cursor=None).events
        order = IncidentOrder(event_id=event.id, why="confirmed by hand")
        return open_incident(session, order, who="ann", now=LATER)


def answered(engine: Engine, incident_id: UUID, triage: Triage = Triage.FIX) -> None:
    order = TriageOrder(triage=triage, why="looked at", owner="bob")
    with writing(engine) as session:
        triage_incident(session, incident_id, order, who="ann", now=LATER)


def sweep(engine: Engine, now: datetime = LATER, environ: Mapping[str, str] | None = None) -> int:
    return send_notifications(engine, environ or {}, base="https://k.example", now=lambda: now)


def told(requests: Sequence[Request]) -> list[str]:
    return [json.loads(each.body)["kind"] for each in requests]


def deliveries(engine: Engine) -> tuple[DeliveryRead, ...]:
    with reading(engine) as session:
        return list_deliveries(session, webhook_id=None, limit=50)


def test_opening_answering_and_fixing_an_incident_are_told_in_order(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook")
    incident = opened(history)
    answered(history, incident.id)
    do_night(history, 30, arms=(GOOD, NEWER) * 6)

    for _ in range(3):
        sweep(history, NOW + timedelta(days=31))

    assert sorted(told(receiver.requests)) == [
        "incident answered",
        "incident fixed",
        "incident opened",
    ]
    fixed = next(
        json.loads(each.body)
        for each in receiver.requests
        if json.loads(each.body)["kind"] == "incident fixed"
    )
    assert fixed["facts"]["verified"] == NEWER.name
    assert fixed["link"] == f"https://k.example/incidents/{incident.id}"


def test_each_thing_is_told_once_however_often_it_is_swept(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook")
    opened(history)
    opened(history)

    assert [sweep(history) for _ in range(3)] == [1, 0, 0]
    assert len(receiver.requests) == 1
    assert [each.state for each in deliveries(history)] == [DeliveryState.SENT]


def test_only_what_a_webhook_wants_is_told(history: Engine, receiver: Receiver) -> None:
    added(history, f"{receiver.url}/hook", kinds=[NotificationKind.ANSWERED])
    answered(history, opened(history).id)

    sweep(history)

    assert told(receiver.requests) == ["incident answered"]


def test_what_is_not_taken_is_tried_again_after_a_pause_and_no_sooner(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook")
    opened(history)
    receiver.failures = [503]

    first, at_once = sweep(history), sweep(history)
    later = sweep(history, LATER + timedelta(seconds=31))

    assert (first, at_once, later) == (0, 0, 1)
    assert len({each.headers["x-kunline-delivery"] for each in receiver.requests}) == 1
    (delivery,) = deliveries(history)
    assert (delivery.attempts, delivery.last_error) == (2, None)


def test_a_webhook_that_is_away_is_given_up_within_bounds(history: Engine) -> None:
    added(history, "http://127.0.0.1:9/hook")
    opened(history)

    for hour in range(RETRYING.tries + 2):
        sweep(history, LATER + timedelta(hours=hour))

    (delivery,) = deliveries(history)
    assert (delivery.state, delivery.attempts) == (DeliveryState.GIVEN_UP, RETRYING.tries)
    assert delivery.last_error == "ConnectError"
    with reading(history) as session:
        (found,) = list_webhooks(session)
    assert (found.given_up, found.last_error) == (1, "ConnectError")


def test_a_robot_that_refuses_with_200_has_not_taken_it(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook", form=WebhookForm.FEISHU)
    opened(history)

    sweep(history)

    (delivery,) = deliveries(history)
    assert delivery.state is DeliveryState.WAITING
    assert delivery.last_error == "the answer is no JSON: is the address that of a robot?"


def test_an_address_from_the_environment_is_looked_up_where_it_is_sent(
    history: Engine, receiver: Receiver
) -> None:
    added(history, "env:KUNLINE_NOTIFY_ADDRESS")
    opened(history)

    without = sweep(history)
    (waiting,) = deliveries(history)
    environ = {"KUNLINE_NOTIFY_ADDRESS": f"{receiver.url}/hook"}
    given = sweep(history, LATER + timedelta(minutes=1), environ)

    assert (without, given) == (0, 1)
    assert "KUNLINE_NOTIFY_ADDRESS is not set" in (waiting.last_error or "")


def test_a_removed_webhook_is_told_nothing_and_its_secrets_are_gone(
    history: Engine, receiver: Receiver
) -> None:
    webhook = added(history, f"{receiver.url}/hook")
    opened(history)
    with writing(history) as session:
        remove_webhook(session, webhook.id, why="gone", who="ann", now=LATER)

    sweep(history)

    assert receiver.requests == []
    assert [each.state for each in deliveries(history)] == [DeliveryState.GIVEN_UP]
    with history.connect() as connection:
        row = connection.exec_driver_sql("SELECT address, secret FROM webhook").one()
    assert tuple(row) == ("", None)


def test_no_answer_holds_an_address_or_a_secret(
    history: Engine, receiver: Receiver, tmp_path: Path
) -> None:
    webhook = added(history, f"{receiver.url}/hook?access_token=verysecret")
    opened(history)
    sweep(history)

    with pages(history, tmp_path) as client:
        found = get(client, "/webhooks"), get(client, "/webhooks/deliveries")
    with reading(history) as session:
        noted = audits.of_thing(session, Noun.WEBHOOK, str(webhook.id))

    text = json.dumps(found) + repr(noted)
    assert "verysecret" not in text
    assert SECRET not in text
    assert found[0][0]["host"] == "127.0.0.1"


def test_a_confirm_tells_its_verdict_and_the_incident_that_it_opens(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook")
    with reading(history) as session:
        (event,) = list_events(session, EventFilter(), limit=5, cursor=None).events
    now = event.seen_at + timedelta(hours=1)
    confirm = asked(history, event.id, now=now)
    measure(history, lambda name: 1.12 if name == event.seen_stack_name else 1.0, now=now)

    sweep(history, LATER)

    documents = {json.loads(each.body)["kind"]: json.loads(each.body) for each in receiver.requests}
    verdict, opened = documents["verdict"], documents["incident opened"]
    assert len(receiver.requests) == 2
    assert verdict["facts"]["id"] == str(confirm.id)
    assert verdict["facts"]["outcome"] == "regressed"
    assert verdict["facts"]["launches"] > 0
    assert opened["facts"]["who"] == "kunline"
    assert opened["facts"]["low"] > 0
    assert verdict["link"] == opened["link"]


def test_a_night_of_a_schedule_is_told_with_what_was_judged(
    history: Engine, receiver: Receiver
) -> None:
    added(history, f"{receiver.url}/hook", kinds=[NotificationKind.VERDICT])
    order = order_of(30, arms=(GOOD, NEWER) * 6)
    wanted = ScheduleOrder(at="03:00", duplicates=0, order=order, why="nightly")
    with writing(history) as session:
        set_schedule(session, "nightly", wanted, who="ann", now=LATER)
    with writing(history) as session:
        (session_id,) = begin_nights(session, now=LATER + timedelta(hours=15))
    while (job := path.claim(history)) is not None:
        path.do_job(history, job)

    sweep(history, NOW + timedelta(days=31))

    (request,) = receiver.requests
    document = json.loads(request.body)
    assert document["title"] == "Kunline: night of demo: unchanged 4"
    assert document["facts"]["id"] == str(session_id)


def run(address: str, *words: str, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    answer = CliRunner().invoke(webhooks, [*words, "--url", address], env=dict(environ or {}))
    return answer.exit_code, answer.output


def test_webhooks_are_kept_at_the_command_line_and_never_shown_whole(
    history: Engine, receiver: Receiver, tmp_path: Path
) -> None:
    secret = {
        "KUNLINE_NOTIFY_ADDRESS": f"{receiver.url}/hook",
        "KUNLINE_NOTIFY_SECRET": SECRET,
    }
    with served(application(history, tmp_path)) as at:
        bare, no_address = run(at, "add", "oncall", "--why", "x")
        made, _ = run(at, "add", "oncall", "--why", "x", "--lang", "zh", environ=secret)
        twice, taken = run(at, "add", "oncall", "--why", "x", environ=secret)
        _, listed = run(at, "list")
        waiting, unsent = run(at, "test", "oncall", "--wait-s", "0")
        sweep(history, LATER)
        _, shown = run(at, "deliveries")
        gone, _ = run(at, "remove", "oncall", "--why", "x")
        unknown, words = run(at, "test", "oncall")

    assert (bare, made, twice, waiting, gone, unknown) == (2, 0, 2, 1, 0, 2)
    assert "set KUNLINE_NOTIFY_ADDRESS" in no_address
    assert "there is a webhook oncall" in taken
    assert "127.0.0.1" in listed
    assert "/hook" not in listed + shown
    assert "nobody sent it yet" in unsent
    assert "sent" in shown
    assert "no webhook oncall" in words
    assert json.loads(receiver.requests[0].body)["title"].startswith("Kunline：通知地址")
