"""Advance a confirm after each launch: look where that is due, replace what was spoiled, end it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.confirm import (
    BROKEN_MAX,
    SPARES,
    Arm,
    Cost,
    Ending,
    State,
    due_look,
)
from service.domain.job import ENDED
from service.domain.verdict import Outcome
from service.domain.withdrawal import Withdrawal
from service.formats.confirms import ConfirmLook
from service.store import audits, confirms, jobs, sessions, withdrawals
from service.store.confirms import StoredConfirm
from service.store.database import WriteSession
from service.store.jobs import NewJob, StoredJob
from service.usecases.conclude_confirm import conclude_confirm
from service.usecases.confirm_budget import night_left
from service.usecases.confirm_launches import Progress, progress_of
from service.usecases.confirm_look import look_at_confirm
from service.usecases.verify_fixes import KUNLINE
from service.usecases.withdraw_run import entry_of

BURN_IN = "burn-in of confirm {id}: the first launch of each stack fills its caches"
WORDS: Mapping[Outcome, str] = {
    Outcome.REGRESSED: "at least one cell is worse by its tolerance or more, and surely worse",
    Outcome.IMPROVED: "at least one cell is better by its tolerance or more, and surely better",
    Outcome.UNCHANGED: "every cell measured again lies inside its tolerance: a false alarm",
    Outcome.INCONCLUSIVE: "the last look was taken, and its intervals are too wide to tell",
}


def advance_confirm(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Advance the confirm of a session by what it has measured; any other session is left alone.

    Looks are taken at planned numbers of launches of both stacks alone, so what they see does not
    depend on when it is asked. A launch that was lost or spoiled is measured once more at the end,
    within the budget. What ended keeps its word, and is told what was still spent.
    """
    confirm_id = confirms.of_session(session, session_id)
    if confirm_id is None:
        return
    confirm = confirms.locked(session, confirm_id)
    progress = progress_of(session, confirm, session_id)
    confirm = replace(confirm, changed_at=now).costing(progress.spent)
    if confirm.state is State.ENDED:
        confirms.change(session, confirm)
        return
    _throw_away(session, confirm, progress, now)
    if sessions.read(session, session_id).state == "cancelled":
        _end(session, confirm, Ending.CANCELLED, "its session was cancelled", now)
        return
    looked = _looked(session, confirm, progress, now)
    if looked.state is State.RUNNING:
        _go_on(session, looked, progress, now)


def _throw_away(
    session: WriteSession, confirm: StoredConfirm, progress: Progress, now: datetime
) -> None:
    """Withdraw what the burn-in measured: nobody is to conclude anything from a cold cache."""
    for run in (run for launched in progress.burn_in for run in launched.runs.values()):
        if run.withdrawal is None:
            wanted = Withdrawal(run.id, now, KUNLINE, BURN_IN.format(id=confirm.id))
            if withdrawals.keep(session, wanted):
                audits.keep(session, [entry_of(wanted, None)])


def _looked(
    session: WriteSession, confirm: StoredConfirm, progress: Progress, now: datetime
) -> StoredConfirm:
    """Take the looks that are due, in order, and return the confirm; one of them may end it."""
    seen = int(confirm.looks[-1]["launches"]) if confirm.looks else 0
    while (count := due_look(progress.content.counts, progress.both, seen=seen)) is not None:
        look = look_at_confirm(session, confirm, progress, count, now=now)
        confirm = replace(confirm, looks=[*confirm.looks, look.model_dump(mode="json")])
        if look.outcome is not None:
            reason = WORDS.get(look.outcome) or _unjudged(look)
            return conclude_confirm(
                session, confirm, look.outcome, by=Ending.LOOK, reason=reason, now=now
            )
        seen = count
    return confirm


def _unjudged(look: ConfirmLook) -> str:
    """Say why the rule had nothing to judge by."""
    verdicts = [cell.verdict for cell in look.cells if cell.verdict is not None]
    reasons = dict.fromkeys(f"{verdict.metric}: {verdict.reason}" for verdict in verdicts)
    return f"{look.outcome}: {'; '.join(reasons) or 'nothing was measured'}"


def _go_on(
    session: WriteSession, confirm: StoredConfirm, progress: Progress, now: datetime
) -> None:
    """Measure once more what was spoiled, or end where the next look is out of reach."""
    if reason := _breaks(progress):
        _end(session, confirm, Ending.BROKEN, reason, now)
        return
    confirm, replaced = _replaced(session, confirm, progress, now)
    needed = _needed(progress)
    cost = Cost(needed, needed * progress.each.card_s)
    left = _left(session, confirm, progress, now)
    if progress.is_claimed:
        confirms.change(session, confirm)
    elif not left.covers(cost):
        reason = (
            f"the budget ended it: the next look needs {cost.launches} launches and "
            f"{cost.card_s:.0f} card-seconds more, and {left.launches} and {left.card_s:.0f} "
            "are left"
        )
        _end(session, confirm, Ending.BUDGET, reason, now)
    elif progress.queued + replaced < needed:
        words = dict.fromkeys(each.word for each in progress.evidence if each.is_spoiled)
        reason = f"too many launches were lost or spoiled: {'; '.join(words)}"
        _end(session, confirm, Ending.LOST, reason, now)
    else:
        confirms.change(session, confirm)


def _breaks(progress: Progress) -> str:
    """Return which stack breaks again and again, and where; nothing where none does."""
    for arm in Arm:
        launched = [*progress.burn_in, *progress.evidence]
        broken = [each.broken for each in launched if each.arm is arm and each.broken]
        if len(broken) >= BROKEN_MAX:
            return f"the {arm} broke in {len(broken)} launches, at {broken[-1]}"
    return ""


def _replaced(
    session: WriteSession, confirm: StoredConfirm, progress: Progress, now: datetime
) -> tuple[StoredConfirm, int]:
    """Queue spoiled launches once more, at the end; return the confirm and how many there are."""
    before = progress.content.replaced
    fresh = [
        each.job for each in progress.evidence if each.is_spoiled and each.job.id not in before
    ][: max(SPARES - len(before), 0)]
    if not fresh:
        return confirm, 0
    ends = 1 + max(each.job.ordinal for each in progress.evidence)
    chip = sessions.read(session, fresh[0].session_id).chip
    jobs.queue(session, [_again(job, ends + at, chip) for at, job in enumerate(fresh)], now=now)
    replaced = (*before, *(job.id for job in fresh))
    content = progress.content.model_copy(update={"replaced": replaced})
    more = replace(
        confirm,
        content=content.model_dump(mode="json"),
        planned_launches=confirm.planned_launches + len(fresh),
        planned_card_s=confirm.planned_card_s + len(fresh) * content.each_card_s,
    )
    return more, len(fresh)


def _again(job: StoredJob, ordinal: int, chip: str) -> NewJob:
    return NewJob(
        id=uuid4(),
        session_id=job.session_id,
        ordinal=ordinal,
        pool=job.pool,
        chip=chip,
        cards=int(job.launch["cards"]),
        occupancy=job.occupancy,
        stack_key=job.stack_key,
        launch=dict(job.launch),
        cells=job.cells,
        repeats=sum(len(cell["seeds"]) for cell in job.launch["cells"]),
    )


def _needed(progress: Progress) -> int:
    """Return how many launches the next look still needs, the burn-in before it included."""
    following = next(count for count in progress.content.counts if count > progress.both)
    cold = sum(each.job.state not in ENDED for each in progress.burn_in)
    return cold + sum(max(following - len(progress.usable(arm)), 0) for arm in Arm)


def _left(session: WriteSession, confirm: StoredConfirm, progress: Progress, now: datetime) -> Cost:
    """Return what is left for this confirm, of its own budget and of the one that all share."""
    content = progress.content
    night = night_left(session, content.night.cost, now=now, without=confirm.id)
    return content.limit.cost.least(night).less(progress.spent)


def _end(
    session: WriteSession, confirm: StoredConfirm, by: Ending, reason: str, now: datetime
) -> None:
    conclude_confirm(session, confirm, Outcome.INCONCLUSIVE, by=by, reason=reason, now=now)
