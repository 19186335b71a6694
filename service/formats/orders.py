"""What the service asks of a runner: one launch of one stack, and the cells measured in it."""

from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveFloat, PositiveInt

from service.domain.condition import Condition
from service.domain.server_arguments import Argument
from service.formats.identities import (
    BuildOrder,
    Key,
    KeyedCondition,
    KeyedProtocol,
    Name,
    Seeds,
    StackOrder,
)
from service.formats.messages import Message

# Endless would come back as null, and no runner could read the order it is in.
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ModelOrder(Message):
    """Where weights come from: a path on the host, or the maker of a small seeded model."""

    id: str
    weights_digest: Key
    tokenizer_digest: Key
    path: str | None = None
    maker: dict[str, bool | int | float | str] | None = None


class ClientOrder(Message):
    """The benchmark client: its tool, its release and the environment it runs in."""

    name: Name
    tool: str
    version: str
    build: BuildOrder


class CellOrder(Message):
    """One cell of a launch: what to measure, and the seed of each repeat."""

    condition_key: Key
    protocol_key: Key
    seeds: Seeds


class LaunchOrder(Message):
    """One server process from start to stop, and the cells measured in it.

    server_arguments, server_environment: complete, from condition and stack together, without
    what is local to a host (address, port, paths, random seed). profile: each cell is not measured
    but passes once under the server's profiler; a run of it is never judged.
    """

    stack_key: Key
    model_id: str
    client: Name
    server_arguments: dict[str, Argument]
    server_environment: dict[str, str]
    cards: PositiveInt
    cells: tuple[CellOrder, ...] = Field(min_length=1, max_length=500)
    profile: bool = False


class Limits(Message):
    """How long each step of a job may take, in seconds."""

    build_s: Seconds = 3600.0
    start_s: Seconds = 600.0
    repeat_s: Seconds = 900.0
    stop_s: Seconds = 60.0


class JobOrder(Message):
    """One job as a runner receives it with a claim; only its missing cells are in it."""

    job_id: UUID
    session_id: UUID
    attempt: PositiveInt
    fencing_token: PositiveInt
    lease_s: PositiveFloat
    ordinal: NonNegativeInt
    stack: StackOrder
    model: ModelOrder
    client: ClientOrder
    launch: LaunchOrder
    conditions: tuple[KeyedCondition, ...]
    protocols: tuple[KeyedProtocol, ...]
    limits: Limits = Limits()

    def condition_of(self, cell: CellOrder) -> Condition:
        """Return the condition a cell is measured under. Raises KeyError for another order's."""
        return {keyed.key: keyed.condition for keyed in self.conditions}[cell.condition_key]


class Claim(Message):
    """A runner's request for work.

    incarnation: new with each start of the runner's process, so the service knows that whatever
    an earlier life of it held is lost. chips: what it can serve on. cards: how many it owns.
    held: their names, the same for whoever looks from this host; no two runners name one card.
    asked_at: now, by the runner's clock, which is the one that its measurements are dated by.
    window: the hours in which it begins jobs, as in 22:00-06:00 Asia/Shanghai; None for always.
    """

    runner: Name
    incarnation: UUID
    host: Name
    pool: Name
    chips: tuple[Name, ...]
    cards: PositiveInt
    version: str
    held: tuple[Name, ...] = Field(default=(), max_length=1024)
    asked_at: AwareDatetime | None = None
    window: str | None = Field(default=None, min_length=1, max_length=80)


class Progress(Message):
    """How far a job is, for a person who waits: what happens now, and how much of it is done.

    phase: one of build, preflight, start, measure, stop. fraction: 0 to 1, or None where unknown.
    """

    phase: str = Field(max_length=40)
    text: str = Field(default="", max_length=400)
    fraction: float | None = Field(default=None, ge=0, le=1)


class Renewal(Message):
    """A sign of life: the lease is renewed if the fencing token is still the job's."""

    fencing_token: PositiveInt
    progress: Progress | None = None


class Finish(Message):
    """A runner is done with a job.

    handed_back: the runner was told to end, so the try was cut short by a person and is not
    counted among the attempts a job has.
    """

    fencing_token: PositiveInt
    handed_back: bool = False


class Renewed(Message):
    """The answer to a sign of life; a cancelled job is to be stopped."""

    cancelled: bool
    lease_s: PositiveFloat
