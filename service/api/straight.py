"""Routes that take a request as it came: reports are large and many, and a detour costs more."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from uuid import UUID

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError

from service.formats.messages import Message

Read = TypeVar("Read", bound=Message)


class StraightRoute(APIRoute):
    """A route whose function is given the request itself, and the ids in its address.

    To have FastAPI find out what a function wants costs about as much as to store a run.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what calls the function."""

        async def handled(request: Request) -> Response:
            ids = {name: _id(name, text) for name, text in request.path_params.items()}
            answer: Response = await self.endpoint(request, **ids)
            return answer

        return handled


def _id(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        told = {"type": "uuid_parsing", "loc": ("path", name), "msg": "not a valid UUID"}
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
