"""Notifications: which are wanted, how often they are tried, and what each form is sent as."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import new as hmac_new
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from pydantic import ValidationError

from service.domain.incident import Triage
from service.domain.notification import (
    RETRYING,
    Delivery,
    NotificationKind,
    Webhook,
    WebhookForm,
)
from service.domain.verdict import Outcome
from service.formats.notification_words import CHINESE, ENGLISH, text, title
from service.formats.signed_webhooks import signature
from service.formats.webhook_bodies import Outgoing, Sending, outgoing, refusal
from service.formats.webhooks import ALL_KINDS, WebhookOrder
from tests.golden_file import assert_golden

AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SECRET = "a secret of more than sixteen"
INCIDENT = {
    "noun": "incident",
    "id": str(UUID(int=7)),
    "title": "tpot worse since nightly-13",
    "direction": "worse",
    "baseline": "nightly-12",
    "candidate": "nightly-13",
    "verified": "nightly-30",
    "host": None,
    "triage": "fix",
    "owner": "bob",
    "due": "2026-11-20",
    "cells": 2,
    "metric": "tpot_p50",
    "cell": "tiny 1×rank tp1 64→16 concurrency 1",
    "change": 0.081,
    "low": 0.062,
    "high": 0.1,
    "who": "ann",
    "why": "the new scheduler",
    "path": f"/incidents/{UUID(int=7)}",
}
CONFIRM = {
    "noun": "confirm",
    "id": str(UUID(int=8)),
    "outcome": "regressed",
    "reason": "the whole interval is worse",
    "baseline": "nightly-12",
    "candidate": "nightly-13",
    "host": "h1",
    "launches": 8,
    "card_s": 5400.0,
    "path": f"/events/{UUID(int=9)}",
}
NIGHT = {
    "noun": "night",
    "id": str(UUID(int=10)),
    "plan": "p800-single",
    "outcomes": {"unchanged": 40, "regressed": 2},
    "creeping": 1,
    "path": f"/queue/{UUID(int=10)}",
}
TOLD: dict[str, tuple[NotificationKind, dict[str, Any]]] = {
    "opened": (NotificationKind.OPENED, INCIDENT),
    "answered": (NotificationKind.ANSWERED, INCIDENT),
    "fixed": (NotificationKind.FIXED, INCIDENT),
    "confirm": (NotificationKind.VERDICT, CONFIRM),
    "night": (NotificationKind.VERDICT, NIGHT),
    "test": (NotificationKind.TEST, {"name": "oncall"}),
}


def webhook(form: WebhookForm = WebhookForm.KUNLINE, secret: str | None = SECRET) -> Webhook:
    return Webhook(
        id=UUID(int=1),
        name="oncall",
        form=form,
        address="https://chat.example/hook?access_token=t",
        secret=secret,
        kinds=frozenset({NotificationKind.OPENED}),
        language="en",
        made_at=AT,
        made_by="ann",
    )


def sent(form: WebhookForm, *, secret: str | None = SECRET, **more: str) -> Outgoing:
    delivery = Delivery(
        UUID(int=2), UUID(int=1), UUID(int=3), NotificationKind.OPENED, {**INCIDENT, **more}, AT
    )
    sending = Sending("https://chat.example/hook?access_token=t", secret, AT, "https://k.example/")
    return outgoing(webhook(form, secret), delivery, sending)


def hmac_base64(key: str, message: str) -> str:
    return b64encode(hmac_new(key.encode(), message.encode(), sha256).digest()).decode()


def test_both_languages_have_the_same_words_and_fill_in_the_same_names() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    assert [
        key
        for key, words in ENGLISH.items()
        if set(re.findall(r"\{(\w+)", words)) != set(re.findall(r"\{(\w+)", CHINESE[key]))
    ] == []


def test_every_outcome_and_answer_has_a_word() -> None:
    assert {f"outcome {outcome}" for outcome in Outcome} <= ENGLISH.keys()
    assert {f"triage {triage}" for triage in Triage} <= ENGLISH.keys()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_people_are_told_reads_well(language: str) -> None:
    told = [
        f"{title(kind, facts, language)}\n{text(kind, facts, language)}"
        for kind, facts in TOLD.values()
    ]

    assert_golden(f"notifications_{language}.txt", "\n\n".join(told) + "\n")


def test_a_webhook_is_told_of_what_it_wants_and_of_a_test() -> None:
    assert webhook().wants(NotificationKind.OPENED)
    assert webhook().wants(NotificationKind.TEST)
    assert not webhook().wants(NotificationKind.FIXED)
    assert not replace(webhook(), removed_at=AT).wants(NotificationKind.TEST)


def test_pauses_double_and_end_within_two_hours() -> None:
    pauses = [RETRYING.pause_after(tries) for tries in range(1, RETRYING.tries)]

    assert pauses[:3] == [timedelta(seconds=30), timedelta(minutes=1), timedelta(minutes=2)]
    assert sum((each for each in pauses if each), timedelta()) < timedelta(hours=2)
    assert RETRYING.pause_after(RETRYING.tries) is None


def test_our_own_form_is_one_signed_document_with_a_link() -> None:
    request = sent(WebhookForm.KUNLINE)

    told = json.loads(request.body)
    at_s = int(AT.timestamp())
    expected = f"sha256={signature(request.body, SECRET, at_s=at_s)}"
    assert request.headers["X-Kunline-Signature"] == expected
    assert request.headers["X-Kunline-Kind"] == "notification"
    assert told["kind"] == "incident opened"
    assert told["link"] == f"https://k.example/incidents/{UUID(int=7)}"
    assert told["facts"] == INCIDENT


def test_feishu_takes_a_text_signed_with_time_and_secret_as_key() -> None:
    told = json.loads(sent(WebhookForm.FEISHU).body)

    at_s = int(AT.timestamp())
    assert told["msg_type"] == "text"
    assert told["content"]["text"].startswith("Kunline: incident opened: tpot worse")
    assert (told["timestamp"], told["sign"]) == (str(at_s), hmac_base64(f"{at_s}\n{SECRET}", ""))


def test_feishu_is_told_nothing_that_calls_people() -> None:
    told = json.loads(sent(WebhookForm.FEISHU, why='<at user_id="all">all</at>').body)

    assert "<at" not in told["content"]["text"]


def test_dingtalk_takes_a_text_at_a_signed_address() -> None:
    request = sent(WebhookForm.DINGTALK)

    asked = parse_qs(urlsplit(request.address).query)
    at_ms = int(AT.timestamp()) * 1000
    assert asked["access_token"] == ["t"]
    assert asked["timestamp"] == [str(at_ms)]
    assert asked["sign"] == [hmac_base64(SECRET, f"{at_ms}\n{SECRET}")]
    assert json.loads(request.body)["msgtype"] == "text"


@pytest.mark.parametrize("form", [WebhookForm.WECOM, WebhookForm.FEISHU, WebhookForm.DINGTALK])
def test_without_a_secret_nothing_is_signed(form: WebhookForm) -> None:
    request = sent(form, secret=None)

    assert "sign" not in json.loads(request.body)
    assert "sign" not in request.address


def test_a_text_is_cut_where_robots_take_no_more() -> None:
    told = json.loads(sent(WebhookForm.WECOM, secret=None, why="很" * 1000).body)

    assert len(told["text"]["content"].encode()) <= 2000


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b'{"code":0,"msg":"success"}', False),
        (b'{"StatusCode":0,"StatusMessage":"success"}', False),
        (b'{"errcode":0,"errmsg":"ok"}', False),
        (b'{"code":19021,"msg":"sign match fail"}', True),
        (b'{"errcode":310000,"errmsg":"sign not match"}', True),
        (b"<html>", True),
        (b"[]", True),
        (b"{}", True),
    ],
)
def test_a_robot_refuses_in_its_answer_and_not_in_its_status(body: bytes, refused: bool) -> None:
    assert (refusal(WebhookForm.FEISHU, body) is not None) is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"address": "http://chat.example/x"}, "https", id="others may read it"),
        pytest.param({"address": "https://u:p@chat.example/x"}, "user", id="a user in it"),
        pytest.param(
            {"address": "env:HOME"}, "begins with KUNLINE_NOTIFY_", id="a variable of others"
        ),
        pytest.param({"secret": "short"}, "secret", id="a weak secret"),
        pytest.param({"secret": None}, "give a secret", id="none where it is signed"),
        pytest.param({"form": "wecom"}, "signs nothing", id="one where nothing is signed"),
        pytest.param({"kinds": ()}, "kinds", id="told of nothing"),
    ],
)
def test_a_webhook_is_refused_that_could_not_be_told_safely(
    change: dict[str, Any], message: str
) -> None:
    order = {"name": "a", "address": "https://chat.example/x", "secret": SECRET, "why": "x"}

    with pytest.raises(ValidationError, match=message):
        WebhookOrder.model_validate({**order, **change})


def test_an_address_may_be_this_machine_or_a_variable_of_the_worker() -> None:
    for address in ("http://127.0.0.1:80/x", "env:KUNLINE_NOTIFY_ADDRESS"):
        order = WebhookOrder(name="a", address=address, secret=SECRET, why="x")

        assert order.kinds == ALL_KINDS
