"""The straight way: one address is answered at once, and all else by the application."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from fastapi import Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from service.api.straight import Straight, body_of

ONE = UUID(int=1)
WHOLE: Sequence[Message] = ({"type": "http.request", "body": b"all", "more_body": False},)


class RefusedError(Exception):
    """What the function raises, and the application has an answer to."""


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await Response("the application")(scope, receive, send)


async def answer(request: Request, named: UUID) -> Response:
    match await body_of(request):
        case b"refuse":
            raise RefusedError
        case b"fail":
            raise ArithmeticError
        case body:
            return Response(f"{named.int} {body.decode()}")


def ask(path: str, *, method: str = "PUT", received: Sequence[Message] = WHOLE) -> tuple[int, str]:
    """Return the status and the body of the answer to a request."""
    straight = Straight(
        application,
        method="PUT",
        address="/runs",
        answer=answer,
        errors={RefusedError: lambda _, error: Response(type(error).__name__, 409)},
    )
    coming = iter(received)
    sent: list[Message] = []

    async def receive() -> Message:
        return next(coming)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": []}
    asyncio.run(straight(scope, receive, send))
    return sent[0]["status"], sent[1]["body"].decode()


def body(*parts: bytes) -> Sequence[Message]:
    return [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, 1)
    ]


def test_the_address_is_answered_at_once() -> None:
    assert ask(f"/runs/{ONE}") == (200, "1 all")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", f"/runs/{ONE}", id="another method"),
        pytest.param("PUT", f"/jobs/{ONE}", id="another noun"),
        pytest.param("PUT", f"/runs/{ONE}/withdrawal", id="something of a run"),
        pytest.param("PUT", "/runs/", id="nothing named"),
        pytest.param("PUT", "/runs", id="all runs"),
    ],
)
def test_all_else_is_left_to_the_application(method: str, path: str) -> None:
    assert ask(path, method=method) == (200, "the application")


def test_a_body_in_parts_is_read_whole() -> None:
    assert ask(f"/runs/{ONE}", received=body(b"one ", b"", b"two")) == (200, "1 one two")


def test_an_error_is_answered_as_the_application_answers_it() -> None:
    assert ask(f"/runs/{ONE}", received=body(b"refuse")) == (409, "RefusedError")


def test_an_error_that_nobody_foresaw_is_raised() -> None:
    with pytest.raises(ArithmeticError):
        ask(f"/runs/{ONE}", received=body(b"fail"))


def test_nobody_is_answered_who_hung_up_in_the_middle() -> None:
    parts = [*body(b"one", b"two")[:1], {"type": "http.disconnect"}]

    with pytest.raises(ClientDisconnect):
        ask(f"/runs/{ONE}", received=parts)
