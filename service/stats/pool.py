"""A scan for changes that many series share: the series of a group are summed, row by row."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from service.stats.levels import (
    CENTER,
    NARROW,
    NARROW_CLIP,
    SCALE,
    Floats,
    clipped,
    levels_of,
    persistence,
)
from service.stats.screen import FEWEST_RUNS, KEPT, LATEST, NEWEST, WINDOW, standard_error

# A quiet series says more, and is weighed by 1 / its scale; no scale below this is believed here.
QUIETEST = 0.004
# Series of one row share its luck. Until rows have shown how much, their correlation is this, as
# if so many rows had shown it (correlations of LLM cells in one run: facts in docs/comparison.md).
PRIOR_CORRELATION = 0.4
PRIOR_ROWS = 25
# Rows of `spreads`.
SPREAD, PERSISTENCE, COUNT = range(3)


@dataclass(frozen=True, slots=True)
class Pool:
    """All that is remembered of the rows of some groups of series.

    groups: which series (columns) are in which group (rows). recent: the newest KEPT values of
    each series. age: rows since the last change. levels: per series and column k - 1, CENTER and
    SCALE before the newest k rows. weights: per group, series and column. spreads: per group and
    column, the standard deviation of a row's sum, its lag-1 correlation, and the rows behind it.
    """

    groups: NDArray[np.bool_]
    recent: Floats
    age: int
    levels: Floats
    weights: Floats
    spreads: Floats


def begin(groups: NDArray[np.bool_]) -> Pool:
    """Return the pool of these groups (one row each) of series (one column each), with no rows."""
    group_count, count = groups.shape
    return Pool(
        groups=groups,
        recent=np.zeros((count, KEPT)),
        age=0,
        levels=np.full((2, count, LATEST), np.nan),
        weights=np.full((group_count, count, LATEST), np.nan),
        spreads=np.full((3, group_count, LATEST), np.nan),
    )


def advance(pool: Pool, row: Floats) -> Pool:
    """Return the pool with one more row: a logarithm of each series, a rise of it for the worse.

    A series that was not measured (not a number) adds nothing: its center stands in.
    """
    shifted = replace(
        pool,
        levels=_shifted(pool.levels),
        weights=_shifted(pool.weights),
        spreads=_shifted(pool.spreads),
    )
    _describe(shifted, back=0, column=0)
    stand_in = np.where(np.isnan(shifted.levels[0, :, 0]), 0.0, shifted.levels[0, :, 0])
    filled = np.where(np.isnan(row), stand_in, row)
    recent = np.concatenate((pool.recent[:, 1:], filled[:, None]), axis=1)
    return replace(shifted, recent=recent, age=min(pool.age + 1, KEPT))


def evidence_of(pool: Pool) -> Floats:
    """Return each group's evidence for a change k rows ago in column k - 1, signed.

    A row's sum is that of its series' clipped residuals, weighed by 1 / scale. Its variance is
    taken from the sums of the rows before the change, so whatever the series of one launch have
    in common is in it: it is what drawing whole rows anew again and again would give. Treating
    the series as independent would be wrong more often than right.
    """
    center, scale = pool.levels
    residual = (pool.recent[:, None, -LATEST:] - center[:, :, None]) / scale[:, :, None]
    since = np.vecdot(clipped(residual, NARROW_CLIP), NEWEST)
    spread, correlation, count = pool.spreads
    summed = np.einsum("grk,rk->gk", pool.weights, since)
    evidence: Floats = summed / (spread * standard_error(correlation, count))
    # One run is never a change.
    evidence[:, 0] = 0.0
    return evidence


def restarted(pool: Pool, rows: int) -> Pool:
    """Return the pool with its present level starting so many rows ago."""
    fresh = replace(
        begin(pool.groups),
        recent=pool.recent,
        age=rows,
    )
    for back in range(1, LATEST + 1):
        _describe(fresh, back=back, column=back - 1)
    return fresh


def _shifted(array: Floats) -> Floats:
    shifted = np.full_like(array, np.nan)
    shifted[..., 1:] = array[..., :-1]
    return shifted


def _describe(pool: Pool, *, back: int, column: int) -> None:
    """Fill one column of a pool that nobody else holds yet, from all but its newest rows."""
    count = min(pool.age - back, WINDOW)
    if count < FEWEST_RUNS:
        return
    stretches = pool.recent[:, KEPT - back - count : KEPT - back]
    described = levels_of(stretches)
    center, scale = described[CENTER], described[SCALE]
    weights = pool.groups / np.maximum(scale, QUIETEST)
    residual = clipped((stretches - center[:, None]) / scale[:, None], NARROW_CLIP)
    sums = weights @ residual
    squares = np.vecdot(sums, sums)
    together = np.vecdot(sums[:, 1:], sums[:, :-1])
    apart = (weights**2) @ described[NARROW] ** 2
    alike = (weights @ described[NARROW]) ** 2
    prior = (1 - PRIOR_CORRELATION) * apart + PRIOR_CORRELATION * alike
    shrunk = (squares + PRIOR_ROWS * prior) / (count + PRIOR_ROWS)
    pool.levels[:, :, column] = center, scale
    pool.weights[:, :, column] = weights
    pool.spreads[SPREAD, :, column] = np.sqrt(np.maximum(shrunk, apart))
    pool.spreads[PERSISTENCE, :, column] = persistence(squares, together, count)
    pool.spreads[COUNT, :, column] = count
