"""The overview: the state of everything at a glance, nothing in it that was not measured."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, NonNegativeFloat, NonNegativeInt

from service.domain.verdict import Outcome
from service.formats.events import AnswersTold
from service.formats.messages import Message
from service.formats.runners import RunnerRead
from service.formats.stack_differences import StackNamed


class CellsTold(Message):
    """How many cells of candidate stacks there are, and what was said of them.

    outcomes: the number of cells with each outcome that occurs. no_alarm: those that were judged
    and did not get worse: improved, unchanged or inconclusive. creeping: those that are worse than
    the baseline by many steps, none of which is beyond the tolerance.
    """

    cells: NonNegativeInt
    no_alarm: NonNegativeInt
    outcomes: dict[Outcome, int]
    creeping: NonNegativeInt = 0


class RunnerSeen(Message):
    """A runner and how long ago it was heard of. fresh: not longer ago than a lease lasts."""

    runner: RunnerRead
    quiet_s: NonNegativeFloat
    fresh: bool


class PoolRead(Message):
    """A pool: its runners, and what it has to do. newest_run_at: of any of its sessions."""

    name: str
    runners: tuple[RunnerSeen, ...]
    queued_jobs: NonNegativeInt
    running_jobs: NonNegativeInt
    newest_run_at: AwareDatetime | None


class SessionTold(Message):
    """A session in one line. told: None while it has not ended, or is not judged yet.

    Ended sessions are judged a few an answer, the newest first: ask again.
    """

    id: UUID
    plan: str
    pool: str
    host: str | None
    state: Literal["queued", "running", "finished", "cancelled"]
    created_at: AwareDatetime
    finished_at: AwareDatetime | None
    candidates: tuple[StackNamed, ...]
    jobs: NonNegativeInt
    jobs_ended: NonNegativeInt
    told: CellsTold | None


class NightRead(Message):
    """The sessions that ended within a day of the newest that did, in one sentence's numbers.

    untold: how many of them are not judged yet, and so not in told. screen: what the screen says
    of the series that were measured last in one of them.
    """

    since: AwareDatetime
    until: AwareDatetime
    sessions: NonNegativeInt
    untold: NonNegativeInt
    told: CellsTold
    screen: AnswersTold | None = None


class ChannelRead(Message):
    """A channel and the pins in force there."""

    name: str
    baselines: NonNegativeInt
    newest_pin_at: AwareDatetime


class Totals(Message):
    """How much there is; states that nothing is in are 0."""

    runs: dict[str, NonNegativeInt]
    jobs: dict[str, NonNegativeInt]
    sessions: NonNegativeInt
    stacks: NonNegativeInt
    conditions: NonNegativeInt


class OverviewRead(Message):
    """Everything at a glance. last_night: None where no session has ended.

    newest_run_at: when the last run arrived here.
    """

    at: AwareDatetime
    pools: tuple[PoolRead, ...]
    last_night: NightRead | None
    sessions: tuple[SessionTold, ...]
    channels: tuple[ChannelRead, ...]
    totals: Totals
    newest_run_at: AwareDatetime | None
