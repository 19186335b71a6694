"""Runs as they are read: a line in a list, and one with every repeat."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, NonNegativeInt

from service.domain.resolution import Fact
from service.formats.artefacts import ArtefactRead
from service.formats.identities import Key
from service.formats.imports import Imported
from service.formats.messages import Message
from service.formats.reports import Broken, GateFinding
from service.formats.verdicts import DifferenceRead
from service.formats.withdrawals import WithdrawalRead

RunState = Literal["measured", "incomplete", "invalid", "broken"]


class RunRead(Message):
    """One run in a list. medians: of its repeats, by metric name, in base units.

    drifted: the launch was seen to run another stack than it declared; it is never judged.
    imported: it was measured elsewhere, and its host is as somebody said. withdrawn: a person took
    it out of every judgement.
    """

    id: UUID
    session_id: UUID | None
    job_id: UUID | None
    launch_id: UUID
    condition_key: Key
    protocol_key: Key
    title: str
    stack_key: Key
    stack_name: str
    host: str
    state: RunState
    drifted: bool
    imported: bool = False
    withdrawn: bool = False
    measured_at: AwareDatetime
    finished_at: AwareDatetime
    stored_at: AwareDatetime
    repeats: NonNegativeInt
    medians: dict[str, float]


class RunPage(Message):
    """Runs, newest first; cursor asks for the next page and is None at the end."""

    runs: tuple[RunRead, ...]
    cursor: str | None


class RunDetail(Message):
    """One run with its raw repeats, in base units and in the order of its seeds.

    seeds: empty for an imported run, whose file does not tell them.
    """

    run: RunRead
    seeds: tuple[int, ...]
    values: dict[str, tuple[float, ...]]
    overhead_s: tuple[float, ...]
    findings: tuple[GateFinding, ...]
    broken: Broken | None
    drift: tuple[DifferenceRead, ...]
    resolution: dict[str, Fact]
    artefacts: tuple[ArtefactRead, ...]
    imported: Imported | None = None
    withdrawal: WithdrawalRead | None = None
