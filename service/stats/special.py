"""Functions of scipy that statistics needs, loaded when the first of them is called.

Loading them takes as long as all else together, and most commands and processes never come to
judge anything.
"""

from functools import cache
from importlib import import_module
from typing import Any


def stdtrit(freedom: Any, share: Any) -> Any:
    """Return quantiles of Student's t distribution."""
    return _loaded("scipy.special").stdtrit(freedom, share)


def ndtr(quantile: Any) -> Any:
    """Return the share of the standard normal distribution that lies below."""
    return _loaded("scipy.special").ndtr(quantile)


def ndtri(share: Any) -> Any:
    """Return quantiles of the standard normal distribution."""
    return _loaded("scipy.special").ndtri(share)


def gammaincinv(shape: Any, share: Any) -> Any:
    """Return quantiles of the gamma distribution of scale one."""
    return _loaded("scipy.special").gammaincinv(shape, share)


def brentq(function: Any, low: float, high: float) -> float:
    """Return where a function of one number is zero between two at which its signs differ."""
    return float(_loaded("scipy.optimize").brentq(function, low, high))


@cache
def _loaded(name: str) -> Any:
    return import_module(name)
