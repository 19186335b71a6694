"""Answers with a tag: a page that asks again is told that nothing changed, and loads nothing."""

from hashlib import blake2b

from fastapi import Request, Response

from service.formats.messages import Message

TAG_BYTES = 16


def tagged(request: Request, message: Message | str) -> Response:
    """Return a message, or its JSON, with its tag; or 304 where the caller has it already."""
    text = message if isinstance(message, str) else message.model_dump_json()
    content = text.encode()
    tag = f'"{blake2b(content, digest_size=TAG_BYTES).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    known = request.headers.get("if-none-match", "").removeprefix("W/")
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")
