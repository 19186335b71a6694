"""Runs of several seeds, paired: what a seed does by itself is taken out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median

# A seed's effect is the mean over its runs, of at most so many: it may drift.
MEMORY = 50


@dataclass(frozen=True, slots=True)
class SeedEffects:
    """What each seed adds to the logarithm of a run, and how many runs that comes from."""

    effects: Mapping[str, float] = field(default_factory=dict)
    runs: Mapping[str, int] = field(default_factory=dict)


def paired(known: SeedEffects, run: Mapping[str, float]) -> tuple[float, SeedEffects]:
    """Return one logarithm for a run, its seeds' effects taken out, and the effects known after.

    Where seeds differ from run to run, their plain mean moves though nothing else does. Seeds
    seen before are held to their effects; a new seed counts for nothing until its second run,
    unless all are new. The run's value is the median over its seeds: one wild repeat is no run.

    run: logarithms by seed, at least one.
    """
    told = {seed: value - known.effects[seed] for seed, value in run.items() if seed in known.runs}
    value = median(told.values()) if told else fmean(run.values())
    effects, runs = dict(known.effects), dict(known.runs)
    for seed, logarithm in run.items():
        count = min(runs.get(seed, 0) + 1, MEMORY)
        before = effects.get(seed, 0.0)
        effects[seed] = before + (logarithm - value - before) / count
        runs[seed] = count
    return value, SeedEffects(effects, runs)
