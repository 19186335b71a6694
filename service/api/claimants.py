"""Routes of claimants: which runners may take a session's launches, and what keeps the others."""

from uuid import UUID

from fastapi import APIRouter

from service.api.access import MayRead
from service.api.door import Opened
from service.formats.claimants import ClaimantsRead
from service.usecases.find_claimants import find_claimants

router = APIRouter(prefix="/sessions/{session_id}/claimants", tags=["sessions"])


@router.get("")
def read(door: Opened, _: MayRead, session_id: UUID) -> ClaimantsRead:
    """Return every runner of the session's pool, and what keeps each from its launches."""
    with door.reading() as session:
        return find_claimants(session, session_id, files=door.files, now=door.now())
