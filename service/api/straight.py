"""Requests that are answered as they came: reports are large and many, and a detour costs more."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from service.formats.messages import Message

Read = TypeVar("Read", bound=Message)


class Straight:
    """Answers the requests of one address before the application looks for their route.

    Finding it, and finding out what its function wants, costs half as much as to read a report.
    The route is there all the same: for OpenAPI, which describes it like any other.
    address: what comes before the id. errors: how each is answered, as the application has it.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        method: str,
        address: str,
        answer: Callable[[Request, UUID], Awaitable[Response]],
        errors: Mapping[Any, Callable[[Request, Exception], Any]],
    ) -> None:
        self._app = app
        self._method = method
        self._address = address
        self._answer = answer
        self._errors = errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or leave it to the application."""
        if not self._is_meant(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._answer(request, _id(scope["path"].rpartition("/")[2]))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is answered or raised
            response = self._refused(request, error)
        await response(scope, receive, send)

    def _is_meant(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != self._method:
            return False
        before, _, named = scope["path"].rpartition("/")
        return bool(named) and before == self._address

    def _refused(self, request: Request, error: Exception) -> Response:
        """Return the answer to an error. Raises one that nobody foresaw."""
        for kind in type(error).__mro__:
            if (answer := self._errors.get(kind)) is not None:
                refused: Response = answer(request, error)
                return refused
        raise error


async def body_of(request: Request) -> bytes:
    """Return a body whole, for less than the request itself asks. Raises ClientDisconnect."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        told = {"type": "uuid_parsing", "loc": ("path", "run_id"), "msg": "not a valid UUID"}
        raise RequestValidationError([told]) from error


def read_body(kind: type[Read], body: bytes) -> Read:
    """Return a body as a message. Raises RequestValidationError, as FastAPI's own reading does."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = [{**each, "loc": ("body", *each["loc"])} for each in found]
        raise RequestValidationError(told) from error


def written(message: Message) -> Response:
    """Return a message as an answer."""
    return Response(message.model_dump_json(), media_type="application/json")


def described(kind: type[Message]) -> dict[str, Any]:
    """Return what OpenAPI says of a body that is read as a message."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
