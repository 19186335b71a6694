"""How much of a core the client used while its load ran: near 1.0, it set the pace itself."""

from collections.abc import Sequence

from runners.benchmarks.client import Pass

# Samples lie a quarter of a second apart; of a shorter load they say too little.
LEAST_SAMPLED_LOAD_S = 1.0
# Without samples only the whole pass is known, and of a shorter load too large a part of it is
# what the client does before and after.
LEAST_LOAD_S = 5.0


def cpu_share(ended: Pass, *, load_s: float, load_ended: float | None) -> float | None:
    """Return the client's CPU time over the time of its load, 1.0 for one whole core.

    load_ended: when the tool wrote its result, in seconds since the epoch: right after its load.
    A client that is one process with one thread cannot have more than 1.0. None is not known.
    """
    if len(ended.cpu_samples) > 1 and load_ended is not None and load_s >= LEAST_SAMPLED_LOAD_S:
        curve = [*ended.cpu_samples, (ended.ended, ended.cpu_s)]
        return (_used(curve, load_ended) - _used(curve, load_ended - load_s)) / load_s
    return ended.cpu_s / load_s if load_s >= LEAST_LOAD_S else None


def _used(curve: Sequence[tuple[float, float]], moment: float) -> float:
    """Return the CPU seconds used by a moment, between two samples in proportion."""
    before, used = curve[0]
    for after, by_then in curve[1:]:
        if after >= moment:
            part = (moment - before) / (after - before) if after > before else 1.0
            return used + (by_then - used) * min(1.0, max(0.0, part))
        before, used = after, by_then
    return used
