"""The incident: one cause over cells and metrics, what people say of it, and when it is over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from statistics import median
from uuid import UUID

from service.domain.cell import Cell
from service.domain.verdict import Outcome


class Triage(StrEnum):
    """A person's answer to an incident; open until there is one."""

    OPEN = "open"
    FIX = "fix"
    ACCEPT = "accept"
    NOISE = "noise"
    HOST = "host"


# What leaves a baseline as it is and still ends the incident, or moves it by somebody's word.
SETTLED = frozenset({Triage.ACCEPT, Triage.NOISE, Triage.HOST})
INSIDE = frozenset({Outcome.UNCHANGED, Outcome.IMPROVED})


class Direction(StrEnum):
    """Which way an incident moved what it lists."""

    WORSE = "worse"
    BETTER = "better"


class IncidentStateError(ValueError):
    """An incident cannot be merged, split or opened again as it stands."""


@dataclass(frozen=True, slots=True)
class IncidentCell:
    """A metric of a cell that an incident lists, and the runs that its numbers came from.

    change: a ratio signed so that positive is worse; low, high: bounds of its interval, None where
    only the screen saw it. session_id: of the confirm session, None for history.
    """

    cell: Cell
    metric: str
    change: float
    low: float | None = None
    high: float | None = None
    session_id: UUID | None = None
    run_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What people say of an incident: triage, who looks after it, until when, and where to read."""

    triage: Triage = Triage.OPEN
    owner: str | None = None
    due: date | None = None
    comment: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """Deviations with one cause: since which stack, on which host, and what was said of it.

    host: the host where the host itself is what moved; None otherwise. seen_at: when its first
    event was seen. triaged_at: of the first answer, None until then. verified_at: when a later
    stack was seen back inside the baseline. merged_into: the incident that this is part of.
    """

    id: UUID
    title: str
    direction: Direction
    baseline_stack_key: str
    candidate_stack_key: str
    opened_at: datetime
    opened_by: str
    seen_at: datetime
    host: str | None = None
    event_id: UUID | None = None
    answer: Answer = field(default_factory=Answer)
    triaged_at: datetime | None = None
    verified_at: datetime | None = None
    verified_stack_key: str | None = None
    merged_into: UUID | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do about it: answered and done, or part of another."""
        settled = self.answer.triage in SETTLED or self.verified_at is not None
        return settled or self.merged_into is not None

    @property
    def holds_baseline(self) -> bool:
        """Whether the baselines of its cells are frozen: as long as it, or its whole, is open.

        One that was merged holds nothing by itself: its cells are then listed by its whole.
        """
        return not self.is_over


def is_of_change(
    incident: Incident, direction: Direction, *, baseline_stack_key: str, candidate_stack_key: str
) -> bool:
    """Return whether an incident is of this change of stack: same way, same stack before or after.

    One change is seen by several events, as the first night shows prefill and the next decode.
    """
    begins = incident.baseline_stack_key == baseline_stack_key
    ends = incident.candidate_stack_key == candidate_stack_key
    return incident.direction is direction and incident.host is None and (begins or ends)


def require_mergeable(part: Incident, whole: Incident) -> None:
    """Raise IncidentStateError unless one incident may become part of another."""
    if part.id == whole.id:
        raise IncidentStateError("an incident cannot be merged into itself: name two")
    for each in (part, whole):
        if each.merged_into is not None:
            raise IncidentStateError(
                f"incident {each.id} is part of {each.merged_into} already: name that one, "
                "or take it out with `kunline incident reopen`"
            )
    if part.direction is not whole.direction:
        raise IncidentStateError("one incident is for the worse and the other for the better")


def require_splittable(cells: Sequence[Cell], apart: Sequence[Cell]) -> None:
    """Raise IncidentStateError unless some cells of an incident can become one of their own."""
    unknown = [cell for cell in apart if cell not in cells]
    if unknown or not apart:
        raise IncidentStateError("name cells that the incident lists, by their condition keys")
    if set(apart) == set(cells):
        raise IncidentStateError("these are all its cells: one has to stay")


def is_back_inside(outcomes: Sequence[Outcome]) -> bool:
    """Return whether a later stack's verdicts, one for each metric listed, end an incident.

    Every one has to be seen inside: what nobody measured, or cannot tell, verifies nothing.
    """
    return bool(outcomes) and all(outcome in INSIDE for outcome in outcomes)


@dataclass(frozen=True, slots=True)
class Record:
    """How right Kunline was, as people's answers tell, and how fast they were given.

    noise, answered: incidents; the false-alarm rate is their ratio, None where nobody answered.
    to_verdict: the median from the first sight of a deviation to the incident that confirms it,
    to_triage: from there to the first answer.
    """

    opened: int
    answered: int
    noise: int
    to_verdict: timedelta | None
    to_triage: timedelta | None

    @property
    def false_alarm_rate(self) -> float | None:
        """Return how many of those answered were noise, a ratio."""
        return self.noise / self.answered if self.answered else None


def record_of(incidents: Iterable[Incident]) -> Record:
    """Return the record of some incidents; one that is part of another counts with its whole."""
    whole = [each for each in incidents if each.merged_into is None]
    answered = [each for each in whole if each.answer.triage is not Triage.OPEN]
    to_triage = [each.triaged_at - each.opened_at for each in whole if each.triaged_at is not None]
    return Record(
        opened=len(whole),
        answered=len(answered),
        noise=sum(each.answer.triage is Triage.NOISE for each in answered),
        to_verdict=_median([each.opened_at - each.seen_at for each in whole]),
        to_triage=_median(to_triage),
    )


def _median(spans: Sequence[timedelta]) -> timedelta | None:
    if not spans:
        return None
    return timedelta(seconds=median(span.total_seconds() for span in spans))
