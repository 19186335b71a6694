"""Sweep: requeue what went quiet, announce again what nobody came for, begin what is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from service.domain.job import JobState, Leasing
from service.formats.nudges import Nudge
from service.store import jobs
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.usecases.announce import nudges
from service.usecases.begin_nights import begin_nights
from service.usecases.lose_job import lose_job


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did: jobs by where they went, and the nudges to send once it is committed."""

    requeued: tuple[UUID, ...]
    given_up: tuple[UUID, ...]
    nudges: tuple[Nudge, ...]


def sweep(
    session: WriteSession, *, leasing: Leasing, resend_after: timedelta, now: datetime
) -> Swept:
    """Requeue or give up what has lost its lease, announce again what waits, begin nights."""
    moved = [
        (job, lose_job(session, job, leasing=leasing, now=now))
        for job in jobs.overdue(session, now=now)
    ]
    quiet = jobs.announce_again(session, before=now - resend_after, now=now)
    begun = (jobs.next_of(session, session_id) for session_id in begin_nights(session, now=now))
    waiting = [
        *quiet,
        *_next_jobs(session, [job for job, _ in moved]),
        *(job for job in begun if job is not None),
    ]
    return Swept(
        requeued=tuple(job.id for job, state in moved if state is JobState.QUEUED),
        given_up=tuple(job.id for job, state in moved if state is JobState.GIVEN_UP),
        nudges=nudges(session, waiting),
    )


def _next_jobs(session: WriteSession, moved: Sequence[StoredJob]) -> list[StoredJob]:
    following = (jobs.next_of(session, job.session_id) for job in moved)
    return [job for job in following if job is not None]
