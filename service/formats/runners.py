"""Runners as people see them: what each owns, whether it may work, when it was last heard of."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, PositiveInt

from service.formats.messages import Message

RunnerState = Literal["active", "paused", "draining"]


class RunnerStateOrder(Message):
    """What a person wants of a runner: work, a pause, or an end once its job is done."""

    state: RunnerState


class RunnerRead(Message):
    """One runner. job_id: what it holds now."""

    name: str
    host: str
    pool: str
    chips: tuple[str, ...]
    cards: PositiveInt
    version: str
    incarnation: UUID
    state: RunnerState
    seen_at: AwareDatetime
    job_id: UUID | None
