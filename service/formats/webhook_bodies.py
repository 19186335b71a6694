"""What is sent to a webhook in each of its forms, and what it answers when it took it.

The robots of chats take a text of their own shape and answer 200 whatever happens, with a code in
the body: Feishu (custom bot guide), DingTalk (custom robot access) and WeCom (group robot).
"""

import hmac
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote_plus, urlsplit, urlunsplit

from service.domain.notification import Delivery, Webhook, WebhookForm
from service.formats import notification_words
from service.formats.signed_webhooks import headers

KIND = "notification"
# The shortest that any of the robots takes: WeCom's 2048 bytes of a text.
TEXT_BYTES_MAX = 2000
JSON_HEADERS = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "kunline"}
# What the code of each robot's answer is called; 0 says that it took the text.
CODES = ("code", "StatusCode", "errcode")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request: where to, with which headers, and its body."""

    address: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Sending:
    """What a request is made with: the address and secret themselves, the time, and our address.

    base: of the dashboard, for links; empty where nobody set one.
    """

    address: str
    secret: str | None
    at: datetime
    base: str = ""


def outgoing(webhook: Webhook, delivery: Delivery, sending: Sending) -> Outgoing:
    """Return the request that tells a webhook of a notification."""
    at_s = int(sending.at.timestamp())
    if webhook.form is WebhookForm.KUNLINE:
        body = _dumped(_document(webhook, delivery, sending.base))
        signed = headers(body, sending.secret or "", kind=KIND, at_s=at_s)
        return Outgoing(sending.address, signed, body)
    words = _text(webhook, delivery, sending.base)
    match webhook.form:
        case WebhookForm.FEISHU:
            # A tag in a text would call people: nothing that is told may do so.
            plain = words.replace("<at", "< at")
            shape: dict[str, Any] = {"msg_type": "text", "content": {"text": plain}}
            if sending.secret is not None:
                shape |= {"timestamp": str(at_s), "sign": feishu_sign(sending.secret, at_s)}
            address = sending.address
        case WebhookForm.DINGTALK:
            shape = {"msgtype": "text", "text": {"content": words}}
            address = _dingtalk_address(sending, at_s * 1000)
        case _:
            shape = {"msgtype": "text", "text": {"content": words}}
            address = sending.address
    return Outgoing(address, JSON_HEADERS, _dumped(shape))


def refusal(form: WebhookForm, body: bytes) -> str | None:
    """Return what a robot says of a text that it did not take, or None where it took it."""
    if form is WebhookForm.KUNLINE:
        return None
    try:
        told = json.loads(body)
    except ValueError:
        return "the answer is no JSON: is the address that of a robot?"
    if not isinstance(told, dict):
        return "the answer is no JSON object"
    code = next((told[name] for name in CODES if name in told), None)
    if code == 0:
        return None
    words = told.get("msg") or told.get("errmsg") or told.get("StatusMessage") or ""
    return f"refused with code {code}: {words}"


def feishu_sign(secret: str, at_s: int) -> str:
    """Return Feishu's signature: the key is the time and the secret, and nothing is signed."""
    digest = hmac.new(f"{at_s}\n{secret}".encode(), b"", sha256).digest()
    return b64encode(digest).decode()


def dingtalk_sign(secret: str, at_ms: int) -> str:
    """Return DingTalk's signature of a time in milliseconds."""
    digest = hmac.new(secret.encode(), f"{at_ms}\n{secret}".encode(), sha256).digest()
    return b64encode(digest).decode()


def _dingtalk_address(sending: Sending, at_ms: int) -> str:
    if sending.secret is None:
        return sending.address
    url = urlsplit(sending.address)
    signed = f"timestamp={at_ms}&sign={quote_plus(dingtalk_sign(sending.secret, at_ms))}"
    query = f"{url.query}&{signed}" if url.query else signed
    return urlunsplit(url._replace(query=query))


def _document(webhook: Webhook, delivery: Delivery, base: str) -> dict[str, Any]:
    return {
        "version": 1,
        "id": str(delivery.notification_id),
        "kind": delivery.kind.value,
        "at": delivery.made_at.isoformat(),
        "title": notification_words.title(delivery.kind, delivery.facts, webhook.language),
        "text": notification_words.text(delivery.kind, delivery.facts, webhook.language),
        "link": _link(delivery, base),
        "facts": dict(delivery.facts),
    }


def _text(webhook: Webhook, delivery: Delivery, base: str) -> str:
    lines = [
        notification_words.title(delivery.kind, delivery.facts, webhook.language),
        notification_words.text(delivery.kind, delivery.facts, webhook.language),
        _link(delivery, base) or "",
    ]
    whole = "\n".join(line for line in lines if line).encode()
    return whole[:TEXT_BYTES_MAX].decode(errors="ignore")


def _link(delivery: Delivery, base: str) -> str | None:
    path = delivery.facts.get("path")
    return f"{base.rstrip('/')}{path}" if base and path else None


def _dumped(shape: Mapping[str, Any]) -> bytes:
    return json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode()
