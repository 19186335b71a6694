"""The change on one machine across a step, less what another machine did meanwhile."""

import math
from collections.abc import Sequence
from statistics import fmean

from service.stats.change import Change, TooFewValuesError, Unit, ValueNotPositiveError
from service.stats.interval import Interval
from service.stats.special import stdtrit

# Fewer launches of an arm say nothing of how much launches differ.
LEAST_LAUNCHES = 3
ARMS = 4

Launches = Sequence[Sequence[float]]


def crossover(
    canary: tuple[Launches, Launches],
    control: tuple[Launches, Launches],
    *,
    confidence: float = 0.95,
) -> Change:
    """Return the change of the canary from before a step to after it, less the control's.

    What cannot be swapped between two launches, a driver say, cannot be interleaved: time passes
    between before and after, and whatever it did to both machines cancels here. The launch is the
    unit; the spread is pooled over the four arms, each around its own mean of logarithms:

        d = (canary after - canary before) - (control after - control before)
        standard error = s sqrt(1/k1 + 1/k2 + 1/k3 + 1/k4)

    with k1 + k2 + k3 + k4 - 4 degrees of freedom.

    What happened to the canary alone beside the step, a cooler room for one rack say, is in d.

    canary, control: before and after, one sequence of repeats a launch, all above zero.
    Raises TooFewValuesError for an arm of fewer than LEAST_LAUNCHES, and ValueNotPositiveError.
    """
    before, after, held_before, held_after = (_levels(arm) for arm in (*canary, *control))
    arms = (before, after, held_before, held_after)
    if min(map(len, arms)) < LEAST_LAUNCHES:
        raise TooFewValuesError(
            min(len(before), len(held_before)), min(len(after), len(held_after))
        )
    freedom = sum(map(len, arms)) - ARMS
    squares = sum((level - fmean(arm)) ** 2 for arm in arms for level in arm)
    spread = math.sqrt(squares / freedom * sum(1 / len(arm) for arm in arms))
    center = fmean(after) - fmean(before) - (fmean(held_after) - fmean(held_before))
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * spread
    return Change(
        interval=Interval(*(math.expm1(each) for each in (center - reach, center, center + reach))),
        unit=Unit.LAUNCH,
        counts=(len(before) + len(held_before), len(after) + len(held_after)),
        spread=spread,
        freedom=float(freedom),
        confidence=confidence,
    )


def _levels(launches: Launches) -> Sequence[float]:
    """Return the mean of the logarithms of each launch that has values."""
    for value in (value for launch in launches for value in launch):
        if not (math.isfinite(value) and value > 0):
            raise ValueNotPositiveError(value)
    return [fmean(map(math.log, launch)) for launch in launches if launch]
