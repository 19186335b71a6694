"""Whether two stacks still answer alike: log-probabilities of fixed prompts, kept beside speed."""

from collections.abc import Sequence
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
