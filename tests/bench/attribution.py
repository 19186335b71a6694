"""How often attribution is wrong: `python -m tests.bench.attribution` walks simulated stacks.

Of the two to eight components in which two stacks differ one is slow, or a pair is slow together.
The figures have exact 95 % bounds. Exit code 1 where a limit is missed.
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from service.domain.attribution import (
    LOOKS,
    Attribution,
    Cause,
    Combo,
    Level,
    Part,
    Search,
    Step,
    as_logarithm,
    is_told,
    launches_to_tell,
    level,
    most_combos,
    next_of,
)
from service.domain.metric import metric_named
from service.stats.change import change_of
from service.stats.interval import Interval
from service.stats.variance import Components, Expected

REPEATS = 3
SHARES = (0.0, 0.3, 0.6)
SPREADS = (0.01, 0.05)
BAD_RUNS = 0.03
# A bad run is so much slower or faster, as a ratio.
BAD_BY = (0.1, 0.5)
# Degrees of freedom behind the variances that history tells.
HISTORY_FREEDOM = 20
# How much worse the bad stack of a search is, as a ratio, and its first launches.
WORSE, FIRST_LAUNCHES = (0.10, 0.30), 4
# The same of a latency that more than doubles.
MUCH_WORSE = (1.0, 3.0)
LATENCY = metric_named("ttft_p50")
INTERACTING = 0.3

Random = np.random.Generator


def main() -> int:
    """Print how searches ended and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = []
    for worse in (WORSE, MUCH_WORSE):
        say(f"worse by {worse[0]:.0%} to {worse[1]:.0%}")
        found = searches(np.random.default_rng(asked.seed), asked.searches, worse)
        held.append(print_searches(found))
    return 0 if all(held) else 1


@dataclass(frozen=True, slots=True)
class Noise:
    """The variances behind one cell's values, and what history makes of them."""

    launch: float
    residual: float
    expected: Expected

    def arm(self, random: Random, launches: int, level_of_arm: float) -> list[list[float]]:
        """Return repeats by launch; one launch in thirty is bad."""
        luck = random.normal(0, self.launch, (launches, 1))
        values = luck + random.normal(0, self.residual, (launches, REPEATS))
        values += np.where(
            random.random((launches, 1)) < BAD_RUNS, bad_run(random, (launches, 1)), 0
        )
        found: list[list[float]] = (level_of_arm * np.exp(values)).tolist()
        return found


@dataclass
class Searched:
    """What became of simulated attributions."""

    single: int = 0
    single_right: int = 0
    single_wrong: int = 0
    interacting: int = 0
    interacting_right: int = 0
    interacting_wrong_single: int = 0
    combos_over: int = 0
    launches: int = 0


def searches(random: Random, count: int, sizes: tuple[float, float] = WORSE) -> Searched:
    """Return what became of so many attributions of 2 to 8 changed components.

    sizes: the least and the most that the bad stack is worse by, as ratios.
    """
    found = Searched()
    for _ in range(count):
        _search(random, found, sizes)
    return found


def _search(random: Random, found: Searched, sizes: tuple[float, float]) -> None:
    steps = int(random.integers(2, 9))
    interacts = bool(random.random() < INTERACTING)
    culprits = frozenset(random.choice(steps, 2 if interacts else 1, replace=False).tolist())
    noise, worse = noise_of(random), float(random.uniform(*sizes))
    whole = _worsening(random, noise, worse, FIRST_LAUNCHES)
    if whole.low <= 0:
        return  # not regressed, so nobody asks for its cause
    launches = launches_to_tell(whole, FIRST_LAUNCHES)
    search = Search(
        tuple(Step((Part(f"part-{place}", "1", "2"),)) for place in range(steps)), lambda _: True
    )
    seen: dict[Combo, Level] = {}
    while not isinstance(answer := next_of(search, seen), Attribution):
        size = worse if answer >= culprits else 0.0
        for doubled in range(LOOKS):
            seen[answer] = level(
                _worsening(random, noise, size, launches * 2**doubled), whole.center
            )
            found.launches += 2 * launches * 2**doubled
            if is_told(seen[answer]):
                break
    _count(found, answer, search, culprits, len(seen))


def _count(
    found: Searched, answer: Attribution, search: Search, culprits: Combo, combos: int
) -> None:
    right = answer.steps == tuple(search.steps[place] for place in sorted(culprits))
    if len(culprits) == 1:
        within = combos <= most_combos(len(search.steps))
        found.single += 1
        found.single_right += right and answer.cause is Cause.SINGLE and within
        found.single_wrong += answer.cause in {Cause.SINGLE, Cause.INTERACTION} and not right
        found.combos_over += not within
    else:
        found.interacting += 1
        found.interacting_right += right and answer.cause is Cause.INTERACTION
        found.interacting_wrong_single += answer.cause is Cause.SINGLE


def _worsening(random: Random, noise: Noise, size: float, launches: int) -> Interval:
    arms = (noise.arm(random, launches, 1.0), noise.arm(random, launches, 1.0 + size))
    return as_logarithm(LATENCY, change_of(*arms, expected=noise.expected).interval)


def print_searches(found: Searched) -> bool:
    """Print how attributions ended, and return whether they are within the limits."""
    right = bounds(found.single_right, found.single)
    wrong = bounds(found.interacting_wrong_single, found.interacting)
    asked = found.single + found.interacting
    say(f"attribution: {asked} searches, {found.launches / max(asked, 1):.0f} launches each")
    say(f"  right single culprit within its combos  {told(right)}  at least 95 %")
    other = bounds(found.single_wrong, found.single)
    both = bounds(found.interacting_right, found.interacting)
    say(f"  another one named for it                {told(other)}")
    say(f"  interaction named as such, both right   {told(both)}")
    say(f"  single culprit named for an interaction {told(wrong)}  at most 2 %")
    return right.center >= 0.95 and wrong.center <= 0.02


def noise_of(random: Random) -> Noise:
    """Return the noise of one cell, drawn from what stored histories show."""
    residual, share = random.uniform(*SPREADS), float(random.choice(SHARES))
    launch = residual * float(np.sqrt(share / (1 - share)))
    # History has estimated both; with a share of nothing its estimate is mostly a little above.
    guessed = [
        sigma**2 * random.chisquare(HISTORY_FREEDOM) / HISTORY_FREEDOM
        for sigma in (launch, residual)
    ]
    return Noise(
        launch, residual, Expected(Components(guessed[0], 0.0, guessed[1]), HISTORY_FREEDOM)
    )


def bad_run(random: Random, shape: tuple[int, int]) -> np.ndarray:
    """Return log changes of bad runs, faster or slower."""
    return random.choice([-1, 1], shape) * np.log1p(random.uniform(*BAD_BY, shape))


def bounds(successes: int, trials: int) -> Interval:
    """Return a share with its exact 95 % bounds (Clopper and Pearson)."""
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    low = float(beta.ppf(0.025, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.ppf(0.975, successes + 1, trials - successes)) if successes < trials else 1.0
    return Interval(low, successes / trials, high)


def told(share: Interval) -> str:
    """Return a share with its bounds for a line of a table."""
    return f"{share.center:6.1%} ({share.low:.1%} to {share.high:.1%})"


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
