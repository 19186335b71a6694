"""How an error is spent over several looks at growing evidence, so that they keep it together."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from service.stats.special import brentq, ndtr, ndtri

# The error that is spent until a share t of the evidence is in goes with t to this power: between
# Pocock's looks, which are all alike, and O'Brien and Fleming's, of which the first hardly counts.
POWER = 1.5
GRID = 401
FARTHEST = 12.0

Values = NDArray[np.float64]


def confidences(counts: Sequence[int], *, whole: float) -> tuple[float, ...]:
    """Return the confidence of the interval at each look, so that all together keep `whole`.

    A difference of growing means is Brownian motion at the shares of the evidence. Each bound lets
    as much of the paths that stayed within the earlier ones go beyond it as may be spent since,
    which is solved by integrating over the density of those that stayed (P. Armitage,
    C. K. McPherson, B. C. Rowe, JRSS A 132, 1969; K. Kim, D. L. DeMets, Biometrika 74, 1987).

    counts: how much evidence each look has, rising. whole: between 0 and 1.
    """
    return _confidences(tuple(counts), whole)


@lru_cache(maxsize=256)
def _confidences(counts: tuple[int, ...], whole: float) -> tuple[float, ...]:
    shares = [count / counts[-1] for count in counts]
    spent = [(1 - whole) * share**POWER for share in shares]
    bound = float(ndtri(1 - spent[0] / 2)) * math.sqrt(shares[0])
    found = [bound / math.sqrt(shares[0])]
    at = np.linspace(-bound, bound, GRID)
    density = np.exp(-(at**2) / (2 * shares[0])) / math.sqrt(2 * math.pi * shares[0])
    for place in range(1, len(counts)):
        step = math.sqrt(shares[place] - shares[place - 1])
        bound = _bound(at, density, step, spent[place] - spent[place - 1])
        found.append(bound / math.sqrt(shares[place]))
        at, density = _stayed(at, density, step, bound)
    return tuple(2 * float(ndtr(each)) - 1 for each in found)


def _bound(at: Values, density: Values, step: float, to_spend: float) -> float:
    """Return the bound beyond which so much of the paths that stayed go in the next step."""

    def beyond(bound: float) -> float:
        out = ndtr((at - bound) / step) + ndtr((-bound - at) / step)
        return float(np.trapezoid(density * out, at)) - to_spend

    return float(brentq(beyond, 0.0, FARTHEST))


def _stayed(at: Values, density: Values, step: float, bound: float) -> tuple[Values, Values]:
    """Return the density of the paths that stay within a bound after the next step."""
    then = np.linspace(-bound, bound, GRID)
    kernel = np.exp(-((then[:, None] - at[None, :]) ** 2) / (2 * step**2))
    kernel /= step * math.sqrt(2 * math.pi)
    stayed: Values = np.asarray(np.trapezoid(kernel * density[None, :], at, axis=1))
    return then, stayed
