"""Bodies that are read straight into a message: reports are large, and a detour costs more."""

from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from service.formats.messages import Message

Read = TypeVar("Read", bound=Message)


async def _raw(request: Request) -> bytes:
    return await request.body()


RawBody = Annotated[bytes, Depends(_raw)]


def read_body(kind: type[Read], body: bytes) -> Read:
    """Return a body as a message. Raises RequestValidationError, as FastAPI's own reading does."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = [{**each, "loc": ("body", *each["loc"])} for each in found]
        raise RequestValidationError(told) from error


def written(message: Message) -> Response:
    """Return a message as an answer; FastAPI's own way takes a second thread for it."""
    return Response(message.model_dump_json(), media_type="application/json")


def described(kind: type[Message]) -> dict[str, Any]:
    """Return what OpenAPI says of a body that is read as a message."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
