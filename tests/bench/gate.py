"""How often a gate is wrong, right, and early: `python -m tests.bench.gate`, `./dev bench gate`.

Simulated gates of one cell and metric, residual spread 5 %, shares of a launch 0, .3 and .6. Each
plan has the rounds that the power statement asks for, and looks at them as a gate does; then how
long a gate takes beyond its measurement. Exit code 1 beyond the limits. --real N measures N gates
of a stack against itself on this machine's CPU, --local each in a service of its own.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from service.domain.ci_gate import Looks, is_certain, looks_of, planned_chances
from service.domain.metric import METRICS
from service.domain.verdict import Outcome, judge
from service.stats.change import change_of
from service.stats.squares import squares_of
from service.stats.variance import Components, Expected, pooled, shrunk
from tests.bench import gate_latency, real_gates

SPREAD, SLOWDOWN, TOLERANCE = 0.05, 0.10, 0.05
SHARES = (0.0, 0.3, 0.6)
REPEATS = 3
# What history a gate has: sessions of so many launches of one stack.
SESSIONS, SESSION_LAUNCHES = 8, 4
WANTED_POWER, CONFIDENCE = 0.8, 0.95
METRIC = METRICS["tpot_p50"]
FALSE_MAX, SEEN_MIN, APART_MAX, SAVED_MIN = 0.02, 0.80, 0.05, 0.30

Arm = list[list[float]]


@dataclass(frozen=True, slots=True)
class Gate:
    """What became of one simulated gate: its word, and how many rounds it took."""

    outcome: Outcome
    rounds: int


@dataclass(frozen=True, slots=True)
class Row:
    """One share: what the plan asked for and said, and what was seen."""

    share: float
    rounds: int
    fixed: int
    stated: float
    unchanged: float
    false: float
    seen: float
    saved_equal: float
    saved_slower: float

    @property
    def saved(self) -> float:
        """Card time saved against fixed repeats, where every other candidate is slower."""
        return (self.saved_equal + self.saved_slower) / 2

    @property
    def is_good(self) -> bool:
        """Whether it is within the limits."""
        return (
            self.false <= FALSE_MAX
            and self.seen >= SEEN_MIN
            and abs(self.stated - self.unchanged) <= APART_MAX
            and self.saved >= SAVED_MIN
        )


def main() -> int:
    """Print what was seen and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=int, default=0, metavar="N")
    parser.add_argument("--local", action="store_true")
    asked = parser.parse_args()
    if asked.real:
        return real_gates.measured(asked.real, locally=asked.local)
    random = np.random.default_rng(asked.seed)
    _say(
        f"spread {SPREAD:.0%}, tolerance {TOLERANCE:.0%}, slowdown {SLOWDOWN:.0%}, "
        f"{asked.trials} gates a line and kind\n"
        "share  rounds (fixed)  power stated  equal unchanged  equal regressed  slower regressed"
        "  saved: equal  slower  mean"
    )
    rows = [row(random, share, asked.trials) for share in SHARES]
    for each in rows:
        _say(
            f"{each.share:5.1f}  {each.rounds:6} ({each.fixed:5})  {each.stated:12.1%}  "
            f"{each.unchanged:15.1%}  {each.false:15.1%}  {each.seen:16.1%}  "
            f"{each.saved_equal:12.0%}  {each.saved_slower:6.0%}  {each.saved:4.0%}"
        )
    slow = gate_latency.told(gate_latency.latencies(gate_latency.GATES))
    return slow or (0 if all(each.is_good for each in rows) else 1)


def row(random: np.random.Generator, share: float, trials: int) -> Row:
    """Return what became of many gates at one share of the launch."""
    parts = Components(share * SPREAD**2, 0.0, (1 - share) * SPREAD**2)
    known = Expected(parts, 10.0)
    rounds = _rounds(known, looks_of)
    fixed = _rounds(known, lambda count: Looks((count,)))
    looks = looks_of(rounds)
    equal = [gate(random, looks, parts, 1.0) for _ in range(trials)]
    slower = [gate(random, looks, parts, 1 + SLOWDOWN) for _ in range(trials)]
    return Row(
        share=share,
        rounds=rounds,
        fixed=fixed,
        stated=_power(known, looks),
        unchanged=_share(equal, Outcome.UNCHANGED),
        false=_share(equal, Outcome.REGRESSED),
        seen=_share(slower, Outcome.REGRESSED),
        saved_equal=1 - fmean(each.rounds for each in equal) / fixed,
        saved_slower=1 - fmean(each.rounds for each in slower) / fixed,
    )


def gate(random: np.random.Generator, looks: Looks, parts: Components, slower: float) -> Gate:
    """Return what becomes of one gate whose candidate is slower by a factor."""
    expected = _history(random, parts)
    base = _arm(random, parts, looks.planned)
    candidate = [
        [slower * value for value in launch] for launch in _arm(random, parts, looks.planned)
    ]
    outcome = Outcome.INCONCLUSIVE
    for rounds in looks.rounds:
        change = change_of(
            base[:rounds],
            candidate[:rounds],
            confidence=looks.confidence(rounds, whole=CONFIDENCE),
            expected=expected,
        )
        outcome = judge(METRIC, change.interval, tolerance=TOLERANCE).outcome
        if is_certain([outcome]):
            return Gate(outcome, rounds)
    return Gate(outcome, looks.planned)


def _rounds(known: Expected, looks: Callable[[int], Looks]) -> int:
    """Return the fewest rounds whose power is the wanted one."""
    return next(count for count in range(2, 200) if _power(known, looks(count)) >= WANTED_POWER)


def _power(known: Expected, looks: Looks) -> float:
    """Return what a plan states: how often an equal candidate is called unchanged."""
    found = planned_chances(
        known, looks, repeats=REPEATS, tolerance=TOLERANCE, worsening=0.0, confidence=CONFIDENCE
    )
    return found.unchanged


def _history(random: np.random.Generator, parts: Components) -> Expected:
    told = [
        squares_of([[dict(enumerate(launch)) for launch in _arm(random, parts, SESSION_LAUNCHES)]])
        for _ in range(SESSIONS)
    ]
    return shrunk(pooled(told), parts)


def _arm(random: np.random.Generator, parts: Components, launches: int) -> Arm:
    lucks = random.normal(0, math.sqrt(parts.launch), launches)
    each = random.normal(0, math.sqrt(parts.residual), (launches, REPEATS))
    return [
        [math.exp(luck + value) for value in launch]
        for luck, launch in zip(lucks, each, strict=True)
    ]


def _share(gates: Sequence[Gate], outcome: Outcome) -> float:
    return fmean(each.outcome is outcome for each in gates)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
