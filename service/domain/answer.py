"""Whether two stacks still answer alike: log-probabilities of fixed prompts, kept beside speed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

# The mean log-probability of each prompt of the fixed set, in nats a token.
Answer = Sequence[float]

# Launches of one stack often answer alike to the last bit; a legitimate change of a kernel's
# rounding does not, and stays far below this.
FLOOR = 0.01
# Two launches seen say little of the next two.
MARGIN = 2.0


@dataclass(frozen=True, slots=True)
class Shift:
    """How far answers moved, and what launches of one stack differ by; nats a token."""

    distance: float
    tolerance: float

    @property
    def is_beyond(self) -> bool:
        """Whether the answers moved by more than launches of one stack do."""
        return self.distance > self.tolerance

    def __str__(self) -> str:
        return (
            f"answers moved by {self.distance:.3g} nats a token, and launches of one stack differ "
            f"by at most {self.tolerance:.3g}: look at the quality before the speed"
        )


@dataclass(frozen=True, slots=True)
class LaunchAnswer:
    """What the fixed prompts gave in one launch: of an idle server, and in a full batch.

    loaded: asked among other requests, so many in flight as concurrency says; empty and None
    where nobody asked.
    """

    idle: Answer
    loaded: Answer = ()
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How far answers moved on an idle server and under load; None where nobody looked.

    concurrency: the requests in flight of the load, the most that both sides were asked under.
    """

    idle: Shift | None = None
    loaded: Shift | None = None
    concurrency: int | None = None

    @property
    def is_beyond(self) -> bool:
        """Whether answers moved by more than launches of one stack do, idle or under load."""
        return any(each is not None and each.is_beyond for each in (self.idle, self.loaded))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where answers moved, in sentences; nothing where they did not."""
        idle = [str(self.idle)] if self.idle and self.idle.is_beyond else []
        load = f"with {self.concurrency} requests in flight, {self.loaded}"
        return (*idle, *([load] if self.loaded and self.loaded.is_beyond else []))


def quality(baseline: Iterable[LaunchAnswer], candidate: Iterable[LaunchAnswer]) -> Quality:
    """Return how far a candidate's answers lie from a baseline's, idle and at saturation.

    Answers under load are compared with those under as much load only.
    """
    before, after = list(baseline), list(candidate)
    loaded_before, loaded_after = _by_load(before), _by_load(after)
    most = max(loaded_before.keys() & loaded_after.keys(), default=None)
    return Quality(
        idle=shift(_idle(before), _idle(after)),
        loaded=None if most is None else shift(loaded_before[most], loaded_after[most]),
        concurrency=most,
    )


def _idle(found: Iterable[LaunchAnswer]) -> Sequence[Answer]:
    return [each.idle for each in found if each.idle]


def _by_load(found: Iterable[LaunchAnswer]) -> Mapping[int, Sequence[Answer]]:
    by_load: dict[int, list[Answer]] = defaultdict(list)
    for each in found:
        if each.concurrency is not None and each.loaded:
            by_load[each.concurrency].append(each.loaded)
    return by_load


def shift(baseline: Sequence[Answer], candidate: Sequence[Answer]) -> Shift | None:
    """Return how far a candidate's answers lie from a baseline's, or None where nobody looked.

    baseline, candidate: one answer a launch, each with one number a prompt. The distance is that
    of the prompt that moved most, between the means of both sides. The tolerance is learned from
    A/A: twice the largest distance of two launches of one side, and never below FLOOR.
    """
    sizes = {len(answer) for answer in (*baseline, *candidate)}
    if not baseline or not candidate or len(sizes) != 1 or 0 in sizes:
        return None
    seen = [
        _distance(one, other)
        for side in (baseline, candidate)
        for one, other in combinations(side, 2)
    ]
    tolerance = max(FLOOR, MARGIN * max(seen, default=0.0))
    return Shift(_distance(_middle(baseline), _middle(candidate)), tolerance)


def _distance(one: Answer, other: Answer) -> float:
    return max(abs(left - right) for left, right in zip(one, other, strict=True))


def _middle(answers: Sequence[Answer]) -> Answer:
    return [fmean(prompt) for prompt in zip(*answers, strict=True)]
