"""The client and what it is answered: newer services are understood, strangers are not."""

from importlib.metadata import version
from typing import Any
from uuid import UUID

import httpx
import pytest

from service.client import VERSION_HEADER, Client, ServiceAwayError

RUNNER = {
    "name": "r1",
    "host": "h1",
    "pool": "p",
    "chips": ["cpu"],
    "cards": 2,
    "version": "0.1.0",
    "incarnation": str(UUID(int=1)),
    "state": "active",
    "seen_at": "2026-11-29T00:00:00Z",
    "job_id": None,
}


def client(body: object, *, status: int = 200, release: str | None = None) -> Client:
    def answer(_: httpx.Request) -> httpx.Response:
        headers = {VERSION_HEADER: release or version("kunline")}
        return httpx.Response(status, json=body, headers=headers)

    http = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://kunline.test")
    return Client(http, sleep=lambda _: None)


def test_a_field_that_a_newer_service_added_is_not_looked_at() -> None:
    [runner] = client([{**RUNNER, "mood": "calm"}]).runners()

    assert runner.name == "r1"


def test_a_field_added_deeper_down_is_not_looked_at_either() -> None:
    page: dict[str, Any] = {"runs": [], "cursor": None, "of": {"more": 1}}

    assert client(page).runs().runs == ()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param([{"name": "r1"}], 200, id="fields are missing"),
        pytest.param({"hello": "world"}, 200, id="another shape"),
        pytest.param({}, 302, id="a redirect"),
    ],
)
def test_an_answer_that_is_none_is_said_in_a_sentence(body: object, status: int) -> None:
    with pytest.raises(ServiceAwayError, match="something else than was asked for"):
        client(body, status=status).runners()
