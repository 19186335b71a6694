"""Sides made of readings, where only what the files tell of a condition is known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from service.domain.comparison import Comparison, Obstacle, Side, compare
from service.domain.difference import Difference, differences
from service.domain.metric import METRICS, Metric
from service.domain.policy import Policy
from service.domain.reading import Reading
from service.domain.resolution import Fact, changed
from service.domain.validity import Finding, Gate, Severity
from service.domain.verdict import Outcome

# The readings of an arm, one inner sequence a launch.
Arm = Sequence[Sequence[Reading]]


class NoReadingsError(ValueError):
    """A side has no reading at all."""

    def __init__(self, side: str) -> None:
        super().__init__(f"the {side} has no readable result")


def compare_readings(
    baseline: Arm, candidate: Arm, *, policy: Policy, metrics: Sequence[Metric] | None = None
) -> Comparison:
    """Return the comparison of two arms of readings.

    Readings are repeats: all of one arm must tell one and the same condition and tool. Between
    the arms, what both tell must be equal; what only one tells is not known to differ, and a
    warning names it. Raises NoReadingsError.
    """
    left, right = _flat(baseline, "baseline"), _flat(candidate, "candidate")
    if found := (*_mixed(left, "baseline"), *_mixed(right, "candidate")):
        return Comparison(comparable=False, outcome=Outcome.NOT_COMPARABLE, differences=found)
    known = left[0].condition.keys() & right[0].condition.keys()
    comparison = compare(
        _side(baseline, known), _side(candidate, known), policy=policy, metrics=metrics
    )
    return replace(comparison, warnings=_warnings(left, right))


def _flat(arm: Arm, side: str) -> list[Reading]:
    readings = list(chain.from_iterable(arm))
    if not readings:
        raise NoReadingsError(side)
    return readings


def _side(arm: Arm, known: set[str]) -> Side:
    readings = list(chain.from_iterable(arm))
    return Side(
        condition={name: readings[0].condition[name] for name in known},
        protocol=_protocol(readings[0]),
        samples={
            name: [
                [reading.metrics[name] for reading in launch if name in reading.metrics]
                for launch in arm
            ]
            for name in METRICS
            if any(name in reading.metrics for reading in readings)
        },
        obstacles=_failed(readings),
    )


def _failed(readings: Sequence[Reading]) -> tuple[Obstacle, ...]:
    """Return one obstacle a failed gate, with how many readings fail it and the first of them."""
    failing: dict[Gate, list[tuple[Reading, Finding]]] = {}
    for reading in readings:
        for finding in reading.findings:
            if finding.severity is Severity.FAILURE:
                failing.setdefault(finding.gate, []).append((reading, finding))
    return tuple(
        Obstacle(
            Outcome.INVALID,
            f"{gate} in {len(found)} of {len(readings)} results, "
            f"first in {found[0][0].file}:{found[0][0].line}: {found[0][1].message}",
        )
        for gate, found in failing.items()
    )


def _protocol(reading: Reading) -> dict[str, Fact]:
    return {
        "tool": reading.tool,
        "tool_version": reading.tool_version,
        "definition": reading.definition,
    }


def _mixed(readings: Sequence[Reading], side: str) -> tuple[Difference, ...]:
    """Return what the readings of one side tell differently, each field once."""
    first = readings[0]
    found: dict[str, Difference] = {}
    for other in readings[1:]:
        for difference in _between(first, other):
            found.setdefault(
                difference.field,
                Difference(
                    f"{difference.field} within the {side}",
                    f"{difference.baseline} in line {first.line} of {first.file}",
                    f"{difference.candidate} in line {other.line} of {other.file}",
                ),
            )
    return tuple(found.values())


def _between(first: Reading, other: Reading) -> tuple[Difference, ...]:
    return differences(first.condition, other.condition) + differences(
        {"protocol": _protocol(first)}, {"protocol": _protocol(other)}
    )


def _warnings(baseline: Sequence[Reading], candidate: Sequence[Reading]) -> tuple[str, ...]:
    one_sided = sorted(baseline[0].condition.keys() ^ candidate[0].condition.keys())
    settled = changed(baseline[0].resolution, candidate[0].resolution)
    return (
        *([f"only one side tells {', '.join(one_sided)}"] if one_sided else []),
        *(f"the servers settled differently: {difference}" for difference in settled),
        *_of_gates(baseline, "baseline"),
        *_of_gates(candidate, "candidate"),
    )


def _of_gates(readings: Sequence[Reading], side: str) -> list[str]:
    seen = Counter(
        finding.code
        for reading in readings
        for finding in reading.findings
        if finding.severity is Severity.WARNING
    )
    return [f"{side}: {code} in {count} of {len(readings)} results" for code, count in seen.items()]
