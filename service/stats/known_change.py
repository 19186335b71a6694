"""A test for a change at one known run: the newest row of many series against those before it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.stats.levels import (
    CENTER,
    NARROW_CLIP,
    SCALE,
    WIDE_CLIP,
    Floats,
    clipped,
    levels_of,
)
from service.stats.pool import QUIETEST, Pool
from service.stats.screen import FEWEST_RUNS, KEPT, WIDE_FACTOR, WINDOW

# Fewer rows than this say too little of how much a row's luck is.
FEWEST_ROWS = 12
# So many series of a group that moved are listed at least.
FEWEST_LISTED = 4


@dataclass(frozen=True, slots=True)
class Newest:
    """What the newest row shows, held to the rows of the present level before it.

    groups: each group's evidence, signed, in standard normal deviates. cells: each series', in
    standard errors, at most what two bad runs say. residuals and past: of the newest row and of
    those before it, in scales. shifts and scales: of the logarithm.
    """

    groups: Floats
    cells: Floats
    residuals: Floats
    past: Floats
    shifts: Floats
    scales: Floats


def newest_of(pool: Pool, *, rows: int, changes: Collection[int] = ()) -> Newest | None:
    """Return the evidence that the newest row begins a new level, or None with too few rows.

    Where the run of a change is known, one row is enough, and it is held to no other runs that it
    could have been. A row's sum is that of its series' clipped residuals, weighed by 1 / scale. Its
    variance is that of the sums of all rows before, each about the level it was part of, so
    whatever luck series share is in it; with n rows of k levels behind it the ratio is Student's t
    on n - k degrees of freedom. The level before the row is known from the m rows since the last
    change, so the variance grows by 1 + 1 / m; the spread is kept from before it: a screen that has
    just seen a change, or several, is not blind to the next.

    pool: with the newest row in it. rows: all that were seen, the newest included. changes: how
    many rows ago, that one and the newest included, each earlier change began.
    """
    count = min(rows - 1, KEPT - 1, WINDOW)
    since = min(pool.age - 1, count)
    if count < FEWEST_ROWS or since < 1:
        return None
    past = pool.recent[:, KEPT - 1 - count : KEPT - 1]
    last = count - since
    begins = {count + 1 - back for back in changes}
    levels = np.split(
        past, sorted({begin for begin in (*begins, last) if 0 < begin <= last}), axis=1
    )
    freedom = count - len(levels)
    if freedom < FEWEST_ROWS - 2:
        return None
    centers = [_center(level) for level in levels]
    centered = [level - center[:, None] for level, center in zip(levels, centers, strict=True)]
    scale = _scale(centered)
    residual = np.hstack(centered) / scale[:, None]
    newest = (pool.recent[:, -1] - centers[-1]) / scale
    weights = pool.groups / np.maximum(scale, QUIETEST)
    sums = weights @ clipped(residual, NARROW_CLIP)
    variance = np.vecdot(sums, sums) / freedom * (1 + 1 / since)
    ratio = weights @ clipped(newest, NARROW_CLIP) / np.sqrt(variance)
    return Newest(
        groups=_normal(ratio, freedom),
        cells=clipped(newest, WIDE_CLIP) / (WIDE_FACTOR * np.sqrt(1 + 1 / since)),
        residuals=newest / np.sqrt(1 + 1 / since),
        past=residual,
        shifts=newest * scale,
        scales=scale,
    )


def moved_with(
    newest: Newest, members: NDArray[np.bool_], *, sign: int, false_share: float
) -> NDArray[np.bool_]:
    """Return the series of a group that moved with it, of which at most that share is false.

    One run of a series may be bad by itself, so it is not held to a normal tail but to what all
    rows before show: as many of a group's series lie that far out in a row on average. Where no
    list of that few false ones is to be had, the one with the fewest is returned: the group as a
    whole did move.

    members: which series are of the group; those not measured in this row are not.
    """
    rows = newest.past.shape[1]
    listed = np.zeros(len(members), dtype=np.bool_)
    places = np.flatnonzero(members & (sign * newest.residuals > 0))
    if len(places) == 0:
        return listed
    ordered = places[np.argsort(-sign * newest.residuals[places], kind="stable")]
    past = np.sort((sign * newest.past[members]).ravel())
    beyond = len(past) - np.searchsorted(past, sign * newest.residuals[ordered])
    share = (beyond + 1) / rows / np.arange(1, len(ordered) + 1)
    held = np.flatnonzero(share <= false_share)
    fewest = min(FEWEST_LISTED, len(ordered)) - 1
    last = held[-1] if len(held) > fewest else fewest + int(np.argmin(share[fewest:]))
    listed[ordered[: last + 1]] = True
    return listed


def _center(level: Floats) -> Floats:
    """Return where the rows of one level lie, series by series."""
    if level.shape[1] >= FEWEST_RUNS:
        found: Floats = levels_of(level)[CENTER]
        return found
    return np.median(level, axis=1)


def _scale(centered: Sequence[Floats]) -> Floats:
    """Return each series' scale about its levels; of a short level hardly anything is left."""
    longest = max(level.shape[1] for level in centered)
    told = [level for level in centered if level.shape[1] >= min(FEWEST_RUNS, longest)]
    found: Floats = levels_of(np.hstack(told))[SCALE]
    return found


def _normal(ratio: Floats, freedom: int) -> Floats:
    """Return Student's t as the normal deviate of about the same tail.

    D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square distributions",
    Annals of Mathematical Statistics 30, 1959.
    """
    shrunk = (8 * freedom + 1) / (8 * freedom + 3)
    found: Floats = np.sign(ratio) * shrunk * np.sqrt(freedom * np.log1p(ratio**2 / freedom))
    return found
