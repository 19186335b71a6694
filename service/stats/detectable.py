"""The smallest change that a scan could have seen."""

import numpy as np

from service.stats.levels import COUNT, NARROW, NARROW_CLIP, PERSISTENCE, SCALE, Floats
from service.stats.screen import LATEST, standard_error
from service.stats.special import ndtr, ndtri

# Shifts in scales, and what clipping leaves of their mean where runs are normal about them.
_SHIFTS = np.linspace(0.0, 4.0, 401)
_ROOT = float(np.sqrt(2 * np.pi))


def smallest_detectable(levels: Floats, *, threshold: float, power: float = 0.8) -> Floats:
    """Return the smallest lasting change that would be seen within LATEST runs with that power.

    The evidence LATEST = k runs after a shift d is normal about k m(d / scale) / error, m the
    mean of a clipped normal residual about d; it has to pass the threshold, so

        m(d / scale) = (threshold + z_power) error / k.

    levels: those of the present stretches, one column each. Returns ratios; infinite where the
    level is not known yet, or clipping hides every shift.
    """
    error = levels[NARROW] * standard_error(*levels[[PERSISTENCE, COUNT], :, None])[:, -1]
    needed = (threshold + float(ndtri(power))) * error / LATEST
    shift = np.interp(needed, _kept(_SHIFTS), _SHIFTS, right=np.inf) * levels[SCALE]
    return np.expm1(np.where(np.isnan(shift), np.inf, shift))


def _kept(shift: Floats) -> Floats:
    """Return the mean of a residual of that mean and variance 1, clipped to NARROW_CLIP."""
    low, high = -NARROW_CLIP - shift, NARROW_CLIP - shift
    inside = shift * (ndtr(high) - ndtr(low)) + _density(low) - _density(high)
    kept: Floats = inside + NARROW_CLIP * (ndtr(-high) - ndtr(low))
    return kept


def _density(value: Floats) -> Floats:
    density: Floats = np.exp(-value * value / 2) / _ROOT
    return density
