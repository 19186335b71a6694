"""The job: one launch and its cells, the states it goes through, and the only ways between them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID, uuid5


class JobState(StrEnum):
    """Where a job stands; reported, given up and cancelled are ends."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    LOST = "lost"
    REPORTED = "reported"
    GIVEN_UP = "given up"
    CANCELLED = "cancelled"


# queued ─▶ claimed ─▶ reported
#   ▲          │
#   └── lost ◀─┘  (bounded, then given up); a person may cancel what has not ended.
# A queued job may be reported as well: a requeued one whose cells all arrived in the meantime.
TRANSITIONS = MappingProxyType(
    {
        JobState.QUEUED: frozenset({JobState.CLAIMED, JobState.REPORTED, JobState.CANCELLED}),
        JobState.CLAIMED: frozenset({JobState.REPORTED, JobState.LOST, JobState.CANCELLED}),
        JobState.LOST: frozenset({JobState.QUEUED, JobState.GIVEN_UP, JobState.REPORTED}),
        JobState.REPORTED: frozenset[JobState](),
        JobState.GIVEN_UP: frozenset[JobState](),
        JobState.CANCELLED: frozenset[JobState](),
    }
)

ENDED = frozenset(state for state, following in TRANSITIONS.items() if not following)


class TransitionError(ValueError):
    """A job cannot go from one state to the other."""

    def __init__(self, before: JobState, after: JobState) -> None:
        super().__init__(f"a job that is {before} cannot become {after}")


class StaleTokenError(PermissionError):
    """A fencing token is not the job's any more: somebody claimed it since, or nobody has."""

    def __init__(self, *, given: int, current: int) -> None:
        super().__init__(
            f"the fencing token {given} is not the job's, which is {current}: it was claimed again"
        )


def require_token(*, given: int, current: int) -> None:
    """Raise StaleTokenError unless a fencing token is that of the job's newest claim."""
    if given != current:
        raise StaleTokenError(given=given, current=current)


def require_transition(before: JobState, after: JobState) -> None:
    """Raise TransitionError unless a job may go from one state straight to the other."""
    if after not in TRANSITIONS[before]:
        raise TransitionError(before, after)


def launch_id(job_id: UUID, fencing_token: int) -> UUID:
    """Return the id of the launch that one claim of a job makes: whoever tells of it, it is one."""
    return uuid5(job_id, f"launch {fencing_token}")


def after_loss(*, attempt: int, attempts_max: int) -> JobState:
    """Return where a lost job goes: back to the queue, or given up after its last attempt."""
    return JobState.QUEUED if attempt < attempts_max else JobState.GIVEN_UP


@dataclass(frozen=True, slots=True)
class Leasing:
    """How long a claim lasts without a sign of life, and how often a job is tried at all."""

    lease: timedelta
    attempts_max: int

    def until(self, now: datetime) -> datetime:
        """Return when a lease given or renewed now ends."""
        return now + self.lease


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a runner brings: where it stands, what its cards are and how many it owns."""

    runner: str
    incarnation: str
    host: str
    pool: str
    chips: tuple[str, ...]
    cards: int
    version: str
