"""Routes of artefacts: bytes by their digest."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Response

from service.api.access import MayRead, MayRun
from service.api.door import Opened
from service.formats.artefacts import ArtefactStored
from service.usecases.keep_artefact import keep_artefact, read_artefact

router = APIRouter(prefix="/artefacts", tags=["artefacts"])

BYTES = "application/octet-stream"
Digest = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the content.")]


@router.put("/{digest}")
def put(
    door: Opened, _: MayRun, digest: Digest, content: Annotated[bytes, Body(media_type=BYTES)]
) -> ArtefactStored:
    """Store bytes under their digest."""
    with door.writing() as session:
        stored = keep_artefact(session, door.files, digest=digest, content=content, now=door.now())
    return ArtefactStored(digest=digest, stored=stored)


@router.get("/{digest}", response_class=Response, responses={200: {"content": {BYTES: {}}}})
def read(door: Opened, _: MayRead, digest: Digest) -> Response:
    """Return the bytes of a digest; they never change, and are never shown as a page."""
    with door.reading() as session:
        content = read_artefact(session, door.files, digest=digest)
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Disposition": f'attachment; filename="{digest[:12]}"',
    }
    return Response(content, headers=headers, media_type=BYTES)
