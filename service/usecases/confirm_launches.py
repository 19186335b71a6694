"""The launches of a confirm: which may be used, which were spoiled, and what all of them cost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from service.domain.cell import Cell
from service.domain.confirm import Arm, Cost
from service.domain.job import ENDED, JobState
from service.store import jobs, launches, runs
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession
from service.store.jobs import StoredJob
from service.store.runs import StoredRun
from service.usecases.confirm_content import ConfirmContent, cell_of, content_of

# As many runs of a confirm's session as are looked at.
RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch of a confirm: its job, and its run of each cell, by cell.

    Whatever spoils one cell spoils the launch, so that both arms keep the same launches.
    """

    job: StoredJob
    arm: Arm
    runs: Mapping[Cell, StoredRun]
    cells: frozenset[Cell]

    @property
    def is_usable(self) -> bool:
        """Whether every cell has a run that anything may be concluded from."""
        usable = {cell for cell, run in self.runs.items() if run.may_be_judged}
        return self.cells <= usable

    @property
    def is_spoiled(self) -> bool:
        """Whether it is over without a usable run of every cell."""
        return self.job.state in ENDED - {JobState.CANCELLED} and not self.is_usable

    @property
    def broken(self) -> str | None:
        """Where it broke and what was found there, or None."""
        told = [run.broken for run in self.runs.values() if run.broken is not None]
        return f"{told[0]['layer']}: {told[0]['finding']}" if told else None

    @property
    def word(self) -> str:
        """Why it cannot be used."""
        if self.broken is not None:
            return f"broken at {self.broken}"
        if self.runs:
            return "a run that may not be judged"
        return str(self.job.state)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a confirm's session is.

    burn_in: launches that are thrown away. evidence: all others, in their order. spent: by all of
    them, and by those lost on the way.
    """

    content: ConfirmContent
    burn_in: Sequence[Launched]
    evidence: Sequence[Launched]
    spent: Cost
    is_claimed: bool

    def usable(self, arm: Arm) -> Sequence[Launched]:
        """Return the usable launches of one stack, in order."""
        return [each for each in self.evidence if each.arm is arm and each.is_usable]

    @property
    def both(self) -> int:
        """How many usable launches each stack has at least."""
        return min(len(self.usable(arm)) for arm in Arm)

    @property
    def queued(self) -> int:
        """How many launches are still to come."""
        every = (*self.burn_in, *self.evidence)
        return sum(each.job.state not in ENDED for each in every)

    @property
    def each(self) -> Cost:
        """What one more launch costs: as planned, or as much as those so far where that is more."""
        done = self.spent.launches
        so_far = self.spent.card_s / done if done else 0.0
        return Cost(1, max(self.content.each_card_s, so_far))


def progress_of(session: ReadSession, confirm: StoredConfirm, session_id: UUID) -> Progress:
    """Return how far the session of a confirm is."""
    content = content_of(confirm)
    under = jobs.of_session(session, session_id)
    by_job: dict[UUID, dict[Cell, StoredRun]] = defaultdict(dict)
    for run in runs.of_session(session, session_id, limit=RUNS):
        if run.job_id is not None:
            by_job[run.job_id][run.cell] = run
    cells = frozenset(map(cell_of, content.cells))
    launched = [Launched(job, _arm(job, confirm), by_job[job.id], cells) for job in under]
    spans = launches.spans(session, session_id)
    begins = 2 * content.burn_in
    return Progress(
        content=content,
        burn_in=launched[:begins],
        evidence=launched[begins:],
        spent=_spent(under, spans, content),
        is_claimed=any(job.state is JobState.CLAIMED for job in under),
    )


def _arm(job: StoredJob, confirm: StoredConfirm) -> Arm:
    is_baseline = job.stack_key == confirm.baseline_stack_key
    return Arm.BASELINE if is_baseline else Arm.CANDIDATE


def _spent(
    under: Sequence[StoredJob],
    spans: Mapping[UUID, Sequence[float | None]],
    content: ConfirmContent,
) -> Cost:
    """Return what launches have cost; one that nobody told the end of costs what is expected."""
    count, card_s = 0, 0.0
    for job in under:
        known = spans.get(job.id, ())
        tries = max(job.attempt, len(known))
        told = [seconds for seconds in known if seconds is not None]
        count += tries
        card_s += sum(told) * int(job.launch["cards"])
        card_s += (tries - len(told)) * content.each_card_s
    return Cost(count, card_s)
