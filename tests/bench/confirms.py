"""How often a confirm is wrong, and how often it sees: `python -m tests.bench.confirms`.

Each confirm is designed, looked at and ended by the real rules, on launches whose spread the judge
has to estimate: residual 1 to 5 %, launch shares of 0, .3 and .6, one launch in thirty bad. Equal
stacks tell the error, slower ones the power. Figures have exact 95 % bounds. Exit code 1 where a
limit is missed.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from service.domain.cell import Cell
from service.domain.confirm import (
    CELLS_MAX,
    CONFIDENCE,
    EACH,
    TOLD,
    Design,
    Suspect,
    conclusion,
    design,
    settled,
)
from service.domain.metric import metric_named
from service.domain.noise import prior_of
from service.domain.regime import tolerance_of
from service.domain.verdict import Launches, Outcome, judge
from service.stats.change import TooFewValuesError, change_of
from service.stats.sequential import Looks
from service.stats.variance import Components, Estimate, Expected, shrunk
from tests.bench.attribution import Noise, Random, bounds, noise_of, say, told

METRICS = ("ttft_p50", "tpot_p50")
# How much worse the candidate is, in tolerances; 0 for equal stacks.
SIZES = (0.0, 1.5, 2.0, 3.0)
# Degrees of freedom behind the variances that a few nights with duplicates tell.
YOUNG_LAUNCHES, YOUNG_REPEATS = 3, 8
START_S, MEASURE_S = 300.0, 60.0
# What a confirm of equal stacks may say of a change, and a slow one has to find.
ERROR, POWER = 1 - CONFIDENCE, {3.0: 0.90}


class History(StrEnum):
    """What history knows of the spread of launches."""

    LONG = "a long history"
    YOUNG = "a young history, drawn to the prior"
    NONE = "no history"


@dataclass
class Ended:
    """How confirms of one size ended."""

    words: dict[Outcome, int] = field(default_factory=dict)
    launches: int = 0

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.words.values())

    def of(self, *words: Outcome) -> int:
        """Return how many ended with one of some words."""
        return sum(self.words.get(word, 0) for word in words)


def main() -> int:
    """Print a table for each kind of history and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--confirms", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = [
        print_confirms(asked.confirms, np.random.default_rng(asked.seed), history)
        for history in History
    ]
    return 0 if all(held) else 1


def print_confirms(count: int, random: Random, history: History) -> bool:
    """Print how so many confirms of each size ended, and return whether all is within limits."""
    say(f"confirms with {history}: {count} of each size")
    held = True
    for size in SIZES:
        ended = Ended()
        for _ in range(count):
            confirm(random, ended, size, history)
        held &= _print(size, ended)
    return held


def _print(size: float, ended: Ended) -> bool:
    wrong = bounds(ended.of(Outcome.REGRESSED, Outcome.IMPROVED), ended.count)
    found = bounds(ended.of(Outcome.REGRESSED), ended.count)
    same = bounds(ended.of(Outcome.UNCHANGED), ended.count)
    launches = ended.launches / ended.count
    if size == 0:
        say(f"  equal stacks: called changed      {told(wrong)}  at most {ERROR:.1%}")
    else:
        limit = f"  at least {POWER[size]:.0%}" if size in POWER else ""
        say(f"  worse by {size} tolerances: regressed {told(found)}{limit}")
    say(f"    unchanged {told(same)}, {launches:.1f} launches each")
    return wrong.center <= ERROR if size == 0 else found.center >= POWER.get(size, 0.0)


def confirm(random: Random, ended: Ended, size: float, history: History) -> None:
    """Run one confirm of one to four cells, all of them worse by so many tolerances."""
    cells = int(random.integers(1, CELLS_MAX + 1))
    noises = {_suspect(place): noise_of(random) for place in range(cells)}
    planned = design(list(noises), left=EACH, cold_caches=False)
    arms = {
        suspect: _arms(random, noises[suspect], planned, size * tolerance_of(suspect.metric))
        for suspect in planned.suspects
    }
    known = {
        suspect: _known(random, noises[suspect], suspect, history) for suspect in planned.suspects
    }
    looks = Looks(planned.counts, planned.confidence)
    outcomes: dict[Suspect, Outcome] = {}
    for count in planned.counts:
        for suspect in planned.suspects:
            if outcomes.get(suspect) not in TOLD:
                arms_of = arms[suspect]
                outcomes[suspect] = outcome_at(suspect, arms_of, count, known[suspect], looks)
        word = conclusion(outcomes, is_last=count == planned.counts[-1])
        if word is not None:
            ended.words[word] = ended.words.get(word, 0) + 1
            ended.launches += 2 * count
            return


def _known(random: Random, noise: Noise, suspect: Suspect, history: History) -> Expected | None:
    """Return the spread that a history of so many launches would tell."""
    if history is not History.YOUNG:
        return noise.expected if history is History.LONG else None
    launch, residual = (
        sigma**2 * random.chisquare(freedom) / freedom
        for sigma, freedom in ((noise.launch, YOUNG_LAUNCHES), (noise.residual, YOUNG_REPEATS))
    )
    told_so_far = Estimate(
        Components(launch, 0.0, residual), YOUNG_LAUNCHES, YOUNG_REPEATS, YOUNG_REPEATS
    )
    return shrunk(told_so_far, prior_of(metric_named(suspect.metric)).components)


def _arms(
    random: Random, noise: Noise, planned: Design, worse: float
) -> tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]:
    most = planned.counts[-1]
    return noise.arm(random, most, 1.0), noise.arm(random, most, 1.0 + worse)


def outcome_at(
    suspect: Suspect,
    arms: Sequence[Launches],
    count: int,
    expected: Expected | None,
    looks: Looks,
) -> Outcome:
    """Return what a look says of a cell, by the rule alone: levels and power nobody asks for."""
    metric, tolerance = metric_named(suspect.metric), tolerance_of(suspect.metric)
    first, second = (arm[:count] for arm in arms)
    try:
        confidence = looks.confidence_at(count)
        change = change_of(first, second, confidence=confidence, expected=expected)
    except TooFewValuesError:
        return Outcome.INCONCLUSIVE
    found = judge(metric, change.interval, tolerance=tolerance).outcome
    return settled(metric, found, first, second, expected=expected)


def _suspect(place: int) -> Suspect:
    metric = METRICS[place % len(METRICS)]
    return Suspect(Cell(str(place), ""), metric, 5.0, "one", START_S, MEASURE_S, 1, 0.1)


if __name__ == "__main__":
    sys.exit(main())
