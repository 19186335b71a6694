"""Routes of noise: how much equal launches differ, in each cell and on each host."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from service.api.access import MayRead
from service.api.door import Opened
from service.formats.noise import NoiseRead
from service.usecases.read_noise import list_noise

router = APIRouter(prefix="/noise", tags=["noise"])

ConditionKey = Annotated[str, Query(pattern=r"^[0-9a-f]{64}$")]
# As many conditions as one call may ask for.
CONDITIONS_MAX = 100


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    condition_key: Annotated[list[ConditionKey] | None, Query(max_length=CONDITIONS_MAX)] = None,
    host: Annotated[str | None, Query(max_length=128)] = None,
    session_id: UUID | None = None,
) -> tuple[NoiseRead, ...]:
    """Return what is known of the noise under some conditions, or in the cells of a session."""
    with door.reading() as session:
        return list_noise(
            session, condition_keys=condition_key or (), host=host, session_id=session_id
        )
