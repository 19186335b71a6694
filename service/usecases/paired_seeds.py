"""Pair two arms by seed: only the seeds that both of them measured are compared."""

from collections.abc import Iterable, Sequence

from service.store.runs import StoredRun

NO_SEED_SHARED = "no seed was measured on both sides: what a seed adds does not cancel"


def seeds_of_both(baseline: Iterable[StoredRun], candidate: Iterable[StoredRun]) -> frozenset[int]:
    """Return the seeds that some run of each arm has; none where the arms share none."""
    return _seeds(baseline) & _seeds(candidate)


def of_seeds(run: StoredRun, sample: Sequence[float], seeds: frozenset[int]) -> Sequence[float]:
    """Return a run's values of some seeds; all of them where no seed is named or told."""
    if not seeds or len(run.seeds) != len(sample):
        return sample
    return [value for seed, value in zip(run.seeds, sample, strict=True) if seed in seeds]


def unpaired(baseline: Sequence[StoredRun], candidate: Sequence[StoredRun]) -> Sequence[str]:
    """Say it where the arms share no seed, or where seeds of one alone are left out."""
    before, after = _seeds(baseline), _seeds(candidate)
    if not (before and after):
        return []
    if not before & after:
        return [NO_SEED_SHARED]
    lonely = sorted(before ^ after)
    named = ", ".join(map(str, lonely))
    return [f"seeds of one side alone are left out: {named}"] if lonely else []


def _seeds(found: Iterable[StoredRun]) -> frozenset[int]:
    return frozenset(seed for run in found if run.may_be_judged for seed in run.seeds)
