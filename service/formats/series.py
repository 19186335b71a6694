"""A series: the runs of one cell and metric in the order in which their stacks were built."""

from datetime import date
from uuid import UUID

from pydantic import AwareDatetime, NonNegativeInt

from service.domain.metric import Better, Unit
from service.domain.stack import SwapScope
from service.domain.stack_difference import ComponentChange
from service.formats.events import ChangePoint, SeriesScreen
from service.formats.identities import Key
from service.formats.matrix_view import ConditionFields
from service.formats.messages import Message
from service.formats.runs import RunState


class SeriesStack(Message):
    """A stack of the series, and how its components differ from those of the one before it.

    changes: versions alone; what stood in the series before is called the baseline there.
    scope: what must be restarted for all of them; None for the first stack and for no change.
    """

    key: Key
    name: str
    built_at: date
    changes: tuple[ComponentChange, ...]
    scope: SwapScope | None


class SeriesPoint(Message):
    """One run. stack: its place among the stacks of the answer. repeats: in the base unit.

    median, min, max and repeats are of this metric, and None or empty for a run without it: one
    that broke. judged: whether anything may be concluded from it.
    """

    run_id: UUID
    launch_id: UUID
    session_id: UUID | None
    stack: NonNegativeInt
    host: str
    state: RunState
    judged: bool
    drifted: bool
    imported: bool
    withdrawn: bool
    is_baseline: bool
    measured_at: AwareDatetime
    median: float | None
    min: float | None
    max: float | None
    repeats: tuple[float, ...]


class BaselineBand(Message):
    """What the pinned baseline's judged runs gave, on the host asked for or on all of them.

    level: the median of their medians; low, high: the least and the greatest of them.
    """

    stack_key: Key
    stack_name: str
    pinned_at: AwareDatetime
    pinned_by: str
    why: str
    runs: NonNegativeInt
    level: float | None
    low: float | None
    high: float | None


class SeriesRead(Message):
    """The newest points of a series, in order; cursor asks for those before them.

    tolerance: the largest worsening accepted, as a ratio. total: runs in the whole series.
    hosts: all that measured it. screens: what the screen says of it, on the host asked for or on
    each; change_points: where it saw the level change, the newest seen first.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    fields: ConditionFields
    metric: str
    unit: Unit
    better: Better
    tolerance: float
    channel: str
    baseline: BaselineBand | None
    hosts: tuple[str, ...]
    stacks: tuple[SeriesStack, ...]
    points: tuple[SeriesPoint, ...]
    total: NonNegativeInt
    cursor: str | None
    screens: tuple[SeriesScreen, ...] = ()
    change_points: tuple[ChangePoint, ...] = ()


class SeriesOutline(Message):
    """A whole series in columns, drawn from far away: one entry a run, in the order of the series.

    measured_at: seconds since 1970, UTC. stack: the place in stacks. host: the place in hosts.
    median, min, max: null for a run that may not be judged or has no value of the metric.
    total: how many runs there are; where they are more than were asked for, neighbours of one
    stack are put together, and each entry has the median of their medians, the least of their
    minima, the greatest of their maxima, the first of their ids, and how many they are in runs.
    """

    condition_key: Key
    protocol_key: Key
    metric: str
    unit: Unit
    better: Better
    stacks: tuple[SeriesStack, ...]
    hosts: tuple[str, ...]
    total: NonNegativeInt
    run_id: tuple[UUID, ...]
    measured_at: tuple[float, ...]
    stack: tuple[int, ...]
    host: tuple[int, ...]
    runs: tuple[int, ...]
    median: tuple[float | None, ...]
    min: tuple[float | None, ...]
    max: tuple[float | None, ...]
