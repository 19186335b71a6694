"""Sessions: what a person asks to be measured, and how far it is."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from service.formats.identities import Key, KeyedCondition, KeyedProtocol, Name, StackOrder
from service.formats.messages import Message
from service.formats.orders import ClientOrder, LaunchOrder, Limits, ModelOrder, Progress
from service.formats.reports import Broken

LAUNCHES_MAX = 2000


class PolicyOrder(Message):
    """The tolerances and the least repeats that verdicts of a session are held to.

    tolerances: largest worsening accepted, as a ratio, by metric name.
    """

    tolerances: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]]
    min_repeats: PositiveInt = 5
    confidence: float = Field(default=0.95, gt=0.5, lt=1)


class SessionOrder(Message):
    """An ordered list of launches of one or more stacks on one leased host.

    baseline_stack_key: the stack the others are compared with, or None for the pinned baseline.
    host: the one that is to measure it; None for whichever of the pool comes first.
    """

    version: Literal[1] = 1
    plan: Name
    pool: Name
    chip: Name
    stacks: tuple[StackOrder, ...] = Field(min_length=1, max_length=20)
    models: tuple[ModelOrder, ...] = Field(min_length=1, max_length=20)
    clients: tuple[ClientOrder, ...] = Field(min_length=1, max_length=5)
    conditions: tuple[KeyedCondition, ...] = Field(min_length=1, max_length=2000)
    protocols: tuple[KeyedProtocol, ...] = Field(min_length=1, max_length=20)
    launches: tuple[LaunchOrder, ...] = Field(min_length=1, max_length=LAUNCHES_MAX)
    policy: PolicyOrder
    limits: Limits = Limits()
    baseline_stack_key: Key | None = None
    host: Name | None = None

    @model_validator(mode="after")
    def _names_only_what_it_holds(self) -> Self:
        stacks = {stack.key for stack in self.stacks}
        models = {model.id for model in self.models}
        clients = {client.name for client in self.clients}
        conditions = {keyed.key for keyed in self.conditions}
        protocols = {keyed.key for keyed in self.protocols}
        for position, launch in enumerate(self.launches):
            known = launch.stack_key in stacks and launch.model_id in models
            cells_known = all(
                cell.condition_key in conditions and cell.protocol_key in protocols
                for cell in launch.cells
            )
            if not (known and launch.client in clients and cells_known):
                raise ValueError(f"launches.{position} names what the session does not hold")
        if self.baseline_stack_key not in {None, *stacks}:
            raise ValueError("baseline_stack_key names a stack the session does not hold")
        return self


JobState = Literal["queued", "claimed", "lost", "reported", "given up", "cancelled"]


class JobRead(Message):
    """One job of a session: its state, who holds it, how far it is."""

    id: UUID
    ordinal: NonNegativeInt
    state: JobState
    stack_key: Key
    stack_name: str
    attempt: NonNegativeInt
    cells: PositiveInt
    cells_reported: NonNegativeInt
    repeats: PositiveInt
    runner: str | None
    host: str | None
    progress: Progress | None
    broken: Broken | None


class SessionRead(Message):
    """One session: its jobs in order and whether anything is left to do."""

    id: UUID
    plan: str
    pool: str
    state: Literal["queued", "running", "finished", "cancelled"]
    host: str | None
    created_at: AwareDatetime
    finished_at: AwareDatetime | None
    baseline_stack_key: Key | None
    jobs: tuple[JobRead, ...]
