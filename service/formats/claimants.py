"""Who may take a session's launches, and what keeps each runner of the pool from it."""

from pydantic import AwareDatetime, PositiveInt

from service.domain.claimant import Obstacle
from service.formats.identities import Name
from service.formats.messages import Message


class ClaimantRead(Message):
    """One runner of the pool. obstacle: what keeps it, or null. window: when it begins jobs."""

    runner: Name
    host: Name
    chips: tuple[Name, ...]
    cards: PositiveInt
    obstacle: Obstacle | None
    window: str | None
    seen_at: AwareDatetime


class ClaimantsRead(Message):
    """What is asked of a runner, and every runner of the pool.

    cards: the most that a launch takes. host: where the launches have to run, or null. waits:
    whether a launch is queued, and none of the session's is at work.
    """

    pool: Name
    chip: Name
    cards: PositiveInt
    host: Name | None
    waits: bool
    runners: tuple[ClaimantRead, ...]
