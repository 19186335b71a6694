"""Experiment: one parameter, several values, all else equal, and which value to take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from service.domain.verdict import Outcome
from service.stats.interval import Interval

# Values of one parameter; each is held to the first, and each costs launches.
VALUES_MIN, VALUES_MAX = 2, 8


class ExperimentError(ValueError):
    """What is asked is no experiment: one parameter with two or more values."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """The one thing that is changed. values: as a person writes them; the first is the control."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one cell says of one value: each metric's outcome, and its worsening where estimated."""

    cell: str
    outcomes: Mapping[str, Outcome]
    worsenings: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The value to take, what it gains, and why.

    gain: of the metric that is improved, averaged over cells; its interval spans those of all
    cells. A ratio, positive is better. None where the first value is kept.
    regressed: metric and cell that get worse with it all the same.
    """

    value: str
    gain: Interval | None
    reason: str
    regressed: tuple[str, ...] = ()


def one_parameter(texts: Sequence[str]) -> Parameter:
    """Return the parameter of an experiment. texts: 'NAME=value,value,…', one of them.

    Raises ExperimentError; a second parameter is refused by name, for nobody could tell which of
    the two did it.
    """
    named = [text.partition("=") for text in texts]
    if not named:
        raise ExperimentError("say what is tried: --set NAME=VALUE,VALUE")
    if len(named) > 1:
        others = ", ".join(dict.fromkeys(name for name, _, _ in named[1:]))
        raise ExperimentError(
            f"an experiment changes one parameter, {named[0][0]}, and {others} is another: "
            "try one after the other"
        )
    ((name, _, listed),) = named
    values = tuple(listed.split(",")) if listed else ()
    if not name or len(values) < VALUES_MIN or not all(values):
        raise ExperimentError(f"an experiment needs two values or more: --set {name}=VALUE,VALUE")
    if len(set(values)) < len(values):
        raise ExperimentError(f"{name} is to have one value twice: {listed}")
    if len(values) > VALUES_MAX:
        raise ExperimentError(f"{name} has {len(values)} values, and {VALUES_MAX} are the most")
    return Parameter(name, values)


def confidence_of_each(whole: float, values: int) -> float:
    """Return the confidence of each value's intervals, so that all values together keep `whole`.

    The best of several equal values looks better than it is; each is held to its share of the
    error (Bonferroni). values: two or more, the control among them.
    """
    return 1 - (1 - whole) / (values - 1)


def recommended(
    parameter: Parameter, seen: Mapping[str, Sequence[Seen]], *, metric: str
) -> Recommendation:
    """Return which value to take, by the verdicts on a metric.

    A value is taken where the metric is improved in some cell and regressed in none, and every
    cell could be judged; of several, the one that gains most on average. Otherwise the control
    stays. seen: by value, its cells; the control is not among them.
    """
    control = parameter.values[0]
    able = {value: cells for value, cells in seen.items() if _is_better(cells, metric)}
    if not able:
        why = f"no other value improves {metric} in a cell without a cell in which it is worse"
        return Recommendation(control, None, why)
    value = max(able, key=lambda each: _gain(able[each], metric).center)
    return Recommendation(
        value,
        _gain(able[value], metric),
        f"{metric} is improved in a cell and regressed in none",
        tuple(
            f"{name} of {cell.cell}"
            for cell in able[value]
            for name, outcome in cell.outcomes.items()
            if outcome is Outcome.REGRESSED
        ),
    )


def _is_better(cells: Sequence[Seen], metric: str) -> bool:
    outcomes = [cell.outcomes.get(metric) for cell in cells]
    judged = {Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.INCONCLUSIVE}
    return Outcome.IMPROVED in outcomes and all(outcome in judged for outcome in outcomes)


def _gain(cells: Sequence[Seen], metric: str) -> Interval:
    found = [cell.worsenings[metric] for cell in cells if metric in cell.worsenings]
    return Interval(
        -max(each.high for each in found),
        -fmean(each.center for each in found),
        -min(each.low for each in found),
    )
