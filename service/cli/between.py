"""Two stacks measured in turn on one host, or found measured so before: what others search with."""

import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self
from uuid import UUID

from service.cli.answers.words import Language
from service.cli.plain import complain
from service.cli.run import followed, ordered, submitted
from service.cli.session_words import CATALOGUES
from service.client import Client, RefusedError
from service.domain.plan import Cell
from service.formats.chosen_stacks import ChosenStack
from service.formats.comparisons import CellComparison, SessionVerdicts
from service.formats.matrix_files import Matrix
from service.formats.plan_files import PlanFile
from service.formats.planned_sessions import PlannedSession, session_of
from service.formats.sessions import SessionRead
from service.formats.yaml_file import YamlFile

# Sessions that are looked through for one that measured the same.
SESSIONS_LOOKED_AT = 100


class BudgetSpentError(RuntimeError):
    """What is left of a budget does not pay for the session that comes next."""

    def __init__(self, names: str, launches: int, *, card_s: float, left_s: float) -> None:
        super().__init__(
            f"next would be {names}: {launches} launches, about {card_s / 3600:.2f} card-hours, "
            f"and {left_s / 3600:.2f} are left. Ask again with a larger --budget: what was "
            "measured is not measured again"
        )


@dataclass(slots=True)
class Meter:
    """What sessions cost, as planned, and what they may. limit_s: None for no limit."""

    limit_s: float | None = None
    card_s: float = 0.0
    launches: int = 0

    def pay(self, planned: PlannedSession, names: str) -> None:
        """Count a session that is about to be ordered. Raises BudgetSpentError."""
        card_s, launches = planned.expected.card_s, len(planned.launches)
        if self.limit_s is not None and self.card_s + card_s > self.limit_s:
            left_s = max(self.limit_s - self.card_s, 0.0)
            raise BudgetSpentError(names, launches, card_s=card_s, left_s=left_s)
        self.card_s += card_s
        self.launches += launches


@dataclass(frozen=True, slots=True)
class Measured:
    """A session of two stacks or more, its verdicts, and whether it was there before."""

    session: SessionRead
    verdicts: SessionVerdicts
    cached: bool

    @property
    def broken(self) -> str | None:
        """Where a launch broke, in words."""
        found = next((job.broken for job in self.session.jobs if job.broken), None)
        return f"broken at {found.layer}: {found.finding}" if found else None


@dataclass(frozen=True, slots=True)
class Bench:
    """What measures: the service, the matrix and the plan that says how.

    known: sessions that may have measured it before, of any plan and with as few launches as told
    whoever asked for them, such as confirms. meter: what it costs. language: that people read.
    """

    client: Client
    matrix: Matrix
    file: YamlFile[PlanFile]
    known: tuple[UUID, ...] = ()
    meter: Meter = field(default_factory=Meter)
    language: Language = Language.EN

    def measured(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> Measured:
        """Return arms measured in turn, the first as the one the others are held to.

        A finished session of this plan and these stacks that has the cells is taken as it is, for
        its arms were measured in turn as well. Raises BudgetSpentError.
        """
        if before := self.before(arms, cells):
            return before
        planned = self.planned(arms, cells)
        upload = ordered(planned, language=self.language)
        names = " and ".join(arm.stack.name for arm in arms)
        self.meter.pay(planned, names)
        self.announce(arms, planned)
        session = submitted(self.client, upload, idempotency_key=secrets.token_hex(16))
        finished = followed(self.client, session.id, language=self.language)
        return Measured(finished, self.client.verdicts(session.id), cached=False)

    def planned(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> PlannedSession:
        """Return the session that measures arms in turn, held to no pinned baseline."""
        shape = self.file.shape.model_copy(update={"baseline": None})
        return session_of(self.matrix, replace(self.file, shape=shape), arms=arms, cells=cells)

    def with_launches(self, launches: int) -> Self:
        """Return a bench that launches each arm so many times."""
        shape = self.file.shape.model_copy(update={"launches": launches})
        return replace(self, file=replace(self.file, shape=shape))

    def stored(self, good: ChosenStack, bad: ChosenStack) -> tuple[CellComparison, ...]:
        """Return what stored launches of two stacks say of each other, at no cost of cards."""
        try:
            return self.client.compare(good.stack.key, bad.stack.key, min_repeats=1).cells
        except RefusedError:
            return ()

    def before(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> Measured | None:
        """Return a finished session of these arms in which nothing broke, or None."""
        keys = {arm.stack.key for arm in arms}
        wanted = {cell.condition.key for cell in cells}
        for session in self._sessions():
            if not self._is_alike(session, arms[0].stack.key, keys):
                continue
            verdicts = self.client.verdicts(session.id)
            if wanted <= {cell.condition_key for cell in verdicts.cells}:
                return Measured(session, verdicts, cached=True)
        return None

    def announce(self, arms: Sequence[ChosenStack], planned: PlannedSession) -> None:
        """Say on stderr what is about to be measured, and how long that takes."""
        words = CATALOGUES[self.language]
        names = words["and"].join(arm.stack.name for arm in arms)
        minutes = f"{planned.expected.wall_s / 60:.0f}"
        complain(words["measuring"].format(names=names, minutes=minutes))

    def _sessions(self) -> Iterator[SessionRead]:
        yield from map(self.client.session, self.known)
        yield from self.client.sessions(limit=SESSIONS_LOOKED_AT)

    def _is_alike(self, session: SessionRead, control: str, keys: Collection[str]) -> bool:
        is_known = session.id in self.known
        # A confirm that needs no more launches to tell cancels those that are left.
        jobs = [job for job in session.jobs if not (is_known and job.state == "cancelled")]
        enough = len(keys) * self.file.shape.launches
        as_planned = session.plan == self.file.shape.name and len(jobs) >= enough
        return (
            (as_planned or is_known)
            and session.state == "finished"
            and session.baseline_stack_key == control
            and {job.stack_key for job in jobs} == set(keys)
            and all(job.state == "reported" and not job.broken for job in jobs)
        )


def cell_of(measured: Measured, stack_key: str, condition_key: str) -> CellComparison | None:
    """Return one stack's comparison in one cell, or None where it has none."""
    return next(
        (
            cell
            for cell in measured.verdicts.cells
            if cell.candidate_stack_key == stack_key and cell.condition_key == condition_key
        ),
        None,
    )
