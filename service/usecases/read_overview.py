"""Read the overview: pools, the last sessions and what was said of them, and how much there is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from service.domain.job import ENDED, JobState, Leasing
from service.domain.verdict import Outcome
from service.formats.overview import (
    CellsTold,
    ChannelRead,
    NightRead,
    OverviewRead,
    PoolRead,
    RunnerSeen,
    SessionTold,
    Totals,
)
from service.formats.runners import RunnerRead
from service.formats.stack_differences import StackNamed
from service.store import judged, overview, sessions, stacks
from service.store.database import ReadSession
from service.store.judged import Judged
from service.store.overview import ChannelPins, EndedSession, JobCount
from service.store.sessions import StoredSession
from service.usecases.count import count
from service.usecases.judge_session import judge_session
from service.usecases.judge_squares import digest
from service.usecases.know_runner import list_runners
from service.usecases.read_screens import answers_of

SESSIONS = 10
NIGHT = timedelta(hours=24)
NIGHT_SESSIONS = 50
# A session of more cells takes seconds to judge: whoever looks does not wait for it.
CELLS_AT_ONCE = 50
# What was kept of a session before creep was looked for is told anew.
WITH_CREEP = "with creep"
JUDGED_WELL = (Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.INCONCLUSIVE)
AT_WORK = (JobState.CLAIMED.value, JobState.LOST.value)


@dataclass(frozen=True, slots=True)
class View:
    """How the overview is looked at. rule: what kept answers must have been judged by."""

    channel: str
    rule: str
    leasing: Leasing
    now: datetime


@dataclass(frozen=True, slots=True)
class Telling:
    """What was said of sessions, by id, and what of it had to be judged now.

    later: the newest session that nobody judged yet and that is too large to be waited for.
    """

    told: Mapping[UUID, CellsTold]
    fresh: Sequence[Judged]
    later: EndedSession | None

    @classmethod
    def of(cls, session: ReadSession, ended: Iterable[EndedSession], view: View) -> Self:
        """Return what is said of some sessions; of those that nobody judged yet, a small one is."""
        by_subject = {digest("session", str(each.id), view.channel): each for each in ended}
        wanted = _rests_on(session, by_subject, view)
        answers = dict(judged.known(session, wanted))
        unknown = [each for subject, each in by_subject.items() if subject not in answers]
        cells = overview.cells(session, [each.id for each in unknown])
        small = [each for each in unknown if cells[each.id] <= CELLS_AT_ONCE]
        fresh = [judge_ended(session, each, view) for each in small[:1]]
        large = [each for each in unknown if cells[each.id] > CELLS_AT_ONCE]
        answers |= {each.subject: each.answer for each in fresh}
        told = {
            by_subject[key].id: _told(answer["outcomes"], answer["creeping"])
            for key, answer in answers.items()
        }
        return cls(told, fresh, large[0] if large else None)


def judge_ended(session: ReadSession, ended: EndedSession, view: View) -> Judged:
    """Return what is said of one session, to be kept."""
    subject = digest("session", str(ended.id), view.channel)
    rests_on = _rests_on(session, {subject: ended}, view)[subject]
    return Judged(subject, rests_on, _judged(session, ended.id, view))


def read_overview(session: ReadSession, view: View) -> tuple[OverviewRead, Telling]:
    """Return the overview, and what was told for it: some of it may be kept, some is to come."""
    shown = sessions.newest(session, limit=SESSIONS)
    night = overview.ended_within(session, NIGHT, limit=NIGHT_SESSIONS)
    among = {each.id: each for each in (*night, *_ended(shown))}
    telling = Telling.of(session, among.values(), view)
    counted = count(session)
    read = OverviewRead(
        at=view.now,
        pools=_pools(session, view),
        last_night=_night(session, night, telling.told),
        sessions=_sessions(session, shown, telling.told),
        channels=tuple(_channel(found) for found in overview.channels(session)),
        totals=Totals.model_validate(
            {**overview.totals(session), "runs": dict(counted.runs), "jobs": dict(counted.jobs)}
        ),
        newest_run_at=overview.newest_run(session),
    )
    return read, telling


def _ended(shown: Sequence[StoredSession]) -> list[EndedSession]:
    return [
        EndedSession(stored.id, stored.finished_at, stored.baseline_stack_key)
        for stored in shown
        if stored.finished_at is not None
    ]


def _rests_on(
    session: ReadSession, by_subject: Mapping[str, EndedSession], view: View
) -> dict[str, str]:
    """Return what an answer on each session rests on: its end, withdrawals, and maybe the pins."""
    taken = overview.withdrawals(session, [each.id for each in by_subject.values()])
    pins = [found for found in overview.channels(session) if found.channel == view.channel]
    return {
        subject: digest(
            view.rule,
            WITH_CREEP,
            str(each.finished_at),
            str(taken.get(each.id)),
            str(pins) if each.baseline_stack_key is None else None,
        )
        for subject, each in by_subject.items()
    }


def _judged(session: ReadSession, session_id: UUID, view: View) -> dict[str, Any]:
    verdicts = judge_session(
        session, session_id, baseline=None, channel=view.channel, looking_back=True
    )
    return {
        "outcomes": Counter(cell.comparison.outcome.value for cell in verdicts.cells),
        "creeping": sum(bool(cell.creep) for cell in verdicts.cells),
    }


def _told(outcomes: Mapping[str, int], creeping: int) -> CellsTold:
    found = {Outcome(name): cells for name, cells in outcomes.items()}
    return CellsTold(
        cells=sum(found.values()),
        no_alarm=sum(found.get(outcome, 0) for outcome in JUDGED_WELL),
        outcomes=found,
        creeping=creeping,
    )


def _night(
    session: ReadSession, night: Sequence[EndedSession], told: Mapping[UUID, CellsTold]
) -> NightRead | None:
    if not night:
        return None
    known = [told[each.id] for each in night if each.id in told]
    outcomes: Counter[str] = Counter()
    for each in known:
        outcomes.update({outcome.value: cells for outcome, cells in each.outcomes.items()})
    return NightRead(
        since=min(each.finished_at for each in night),
        until=max(each.finished_at for each in night),
        sessions=len(night),
        untold=len(night) - len(known),
        told=_told(outcomes, sum(each.creeping for each in known)),
        screen=answers_of(session, [each.id for each in night]),
    )


def _sessions(
    session: ReadSession, shown: Sequence[StoredSession], told: Mapping[UUID, CellsTold]
) -> tuple[SessionTold, ...]:
    jobs: dict[UUID, list[JobCount]] = defaultdict(list)
    for found in overview.job_counts(session, [stored.id for stored in shown]):
        jobs[found.session_id].append(found)
    names = stacks.names(session, {each.stack_key for of in jobs.values() for each in of})
    return tuple(_session(stored, jobs[stored.id], names, told.get(stored.id)) for stored in shown)


def _session(
    stored: StoredSession,
    jobs: Sequence[JobCount],
    names: Mapping[str, str],
    told: CellsTold | None,
) -> SessionTold:
    keys = dict.fromkeys(
        each.stack_key for each in jobs if each.stack_key != stored.baseline_stack_key
    )
    return SessionTold.model_validate(
        {
            "id": stored.id,
            "plan": stored.plan,
            "pool": stored.pool,
            "host": stored.host,
            "state": stored.state,
            "created_at": stored.created_at,
            "finished_at": stored.finished_at,
            "candidates": tuple(StackNamed(name=names[key], key=key) for key in keys),
            "jobs": sum(each.jobs for each in jobs),
            "jobs_ended": sum(each.jobs for each in jobs if each.state in ENDED),
            "told": told,
        }
    )


def _pools(session: ReadSession, view: View) -> tuple[PoolRead, ...]:
    by_pool: dict[str, list[RunnerRead]] = defaultdict(list)
    for runner in list_runners(session):
        by_pool[runner.pool].append(runner)
    queued = JobState.QUEUED.value
    jobs = overview.jobs_by_pool(session, (queued, *AT_WORK))
    newest = overview.newest_runs(session)
    names = sorted({*by_pool, *newest, *(pool for pool, _ in jobs)})
    return tuple(
        PoolRead(
            name=name,
            runners=tuple(_seen(runner, view) for runner in by_pool[name]),
            queued_jobs=jobs.get((name, queued), 0),
            running_jobs=sum(jobs.get((name, state), 0) for state in AT_WORK),
            newest_run_at=newest.get(name),
        )
        for name in names
    )


def _seen(runner: RunnerRead, view: View) -> RunnerSeen:
    # Clocks of two processes of the service may stand a little apart.
    quiet = max(view.now - runner.seen_at, timedelta())
    return RunnerSeen(
        runner=runner, quiet_s=quiet.total_seconds(), fresh=quiet <= view.leasing.lease
    )


def _channel(found: ChannelPins) -> ChannelRead:
    return ChannelRead(name=found.channel, baselines=found.pins, newest_pin_at=found.pinned_at)
