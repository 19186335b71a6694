"""Routes of jobs: a runner claims one, gives signs of life, and says when it is done."""

from uuid import UUID

from fastapi import APIRouter, Response

from service.api.access import MayIngest
from service.api.door import Opened
from service.formats.orders import Claim, Finish, JobOrder, Renewal, Renewed
from service.formats.sessions import JobRead
from service.usecases.announce import announce_following
from service.usecases.claim_job import claim_job
from service.usecases.finish_job import finish_job
from service.usecases.read_sessions import read_job
from service.usecases.renew_lease import renew_lease

router = APIRouter(prefix="/jobs", tags=["jobs"])


@router.post("/claim", responses={204: {"description": "There is nothing to do."}})
def claim(door: Opened, _: MayIngest, wanted: Claim, response: Response) -> JobOrder | None:
    """Hand a runner the oldest job that fits it, or answer 204."""
    with door.writing() as session:
        order = claim_job(session, wanted, leasing=door.settings.leasing, now=door.now())
    if order is None:
        response.status_code = 204
    return order


@router.post("/{job_id}/renew")
def renew(door: Opened, _: MayIngest, job_id: UUID, renewal: Renewal) -> Renewed:
    """Lengthen a job's lease and keep how far it is."""
    leasing = door.settings.leasing
    with door.writing() as session:
        return renew_lease(session, job_id, renewal, leasing=leasing, now=door.now())


@router.post("/{job_id}/finish")
def finish(door: Opened, _: MayIngest, job_id: UUID, done: Finish) -> JobRead:
    """Say that a job is done; one with cells missing goes back to its queue."""
    with door.writing() as session:
        finish_job(
            session,
            job_id,
            done,
            leasing=door.settings.leasing,
            now=door.now(),
        )
        answer = read_job(session, job_id)
        nudges = announce_following(session, job_id)
    door.announce(nudges)
    return answer
