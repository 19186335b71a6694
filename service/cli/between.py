"""Two stacks measured in turn on one host, or found measured so before: what others search with."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from service.cli.connection import complain
from service.cli.run import followed, ordered, submitted
from service.client import Client
from service.domain.plan import Cell
from service.formats.chosen_stacks import ChosenStack
from service.formats.comparisons import CellComparison, SessionVerdicts
from service.formats.matrix_files import Matrix
from service.formats.plan_files import PlanFile
from service.formats.planned_sessions import session_of
from service.formats.sessions import SessionRead
from service.formats.yaml_file import YamlFile

# Sessions that are looked through for one that measured the same.
SESSIONS_LOOKED_AT = 100


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
    """What measures: the service, the matrix and the plan that says how."""

    client: Client
    matrix: Matrix
    file: YamlFile[PlanFile]

    def measured(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> Measured:
        """Return arms measured in turn, the first as the one the others are held to.

        A finished session of this plan and these stacks that has the cells is taken as it is, for
        its arms were measured in turn as well.
        """
        if before := self.before(arms, cells):
            return before
        shape = self.file.shape.model_copy(update={"baseline": None})
        planned = session_of(self.matrix, replace(self.file, shape=shape), arms=arms, cells=cells)
        names = " and ".join(arm.stack.name for arm in arms)
        complain(f"measuring {names}: about {planned.expected.wall_s / 60:.0f} min")
        session = submitted(self.client, ordered(planned), idempotency_key=secrets.token_hex(16))
        finished = followed(self.client, session.id)
        return Measured(finished, self.client.verdicts(session.id), cached=False)

    def with_launches(self, launches: int) -> Self:
        """Return a bench that launches each arm so many times."""
        shape = self.file.shape.model_copy(update={"launches": launches})
        return replace(self, file=replace(self.file, shape=shape))

    def before(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> Measured | None:
        """Return a finished session of this plan and these arms in which nothing broke, or None."""
        keys = {arm.stack.key for arm in arms}
        wanted = {cell.condition.key for cell in cells}
        for session in self.client.sessions(limit=SESSIONS_LOOKED_AT):
            alike = (
                session.plan == self.file.shape.name
                and session.state == "finished"
                and session.baseline_stack_key == arms[0].stack.key
                and {job.stack_key for job in session.jobs} == keys
                and len(session.jobs) >= len(arms) * self.file.shape.launches
            )
            if not alike or any(job.state != "reported" or job.broken for job in session.jobs):
                continue
            verdicts = self.client.verdicts(session.id)
            if wanted <= {cell.condition_key for cell in verdicts.cells}:
                return Measured(session, verdicts, cached=True)
        return None


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
