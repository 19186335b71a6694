"""Routes of artefacts: bytes by their digest, and a text by its lines."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response

from service.api.access import MayRead, MayRun
from service.api.door import Opened
from service.formats.artefact_lines import LinesPage
from service.formats.artefacts import ArtefactStored
from service.usecases.keep_artefact import keep_artefact, read_artefact
from service.usecases.read_lines import read_lines

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


@router.get("/{digest}/lines")
def lines(
    door: Opened,
    _: MayRead,
    digest: Digest,
    begin: Annotated[int, Query(ge=1, le=2**31, description="Number of the first line.")] = 1,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
    search: Annotated[str | None, Query(max_length=200)] = None,
) -> LinesPage:
    """Return lines of a text, all or those that hold some words in any case."""
    with door.reading() as session:
        return read_lines(
            session, door.files, digest=digest, begin=begin, limit=limit, search=search
        )
