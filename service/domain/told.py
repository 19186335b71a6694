"""Sides made of readings, where only what the files tell of a condition is known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from service.domain.assumption import (
    ARGUMENTS,
    GATES,
    NOT_TOLD,
    NOTHING_ASSUMED,
    REQUESTS,
    Assumed,
    Assumptions,
    Settled,
    Told,
    settled,
)
from service.domain.comparison import Comparison, Obstacle, Side, compare
from service.domain.difference import WITHIN, Difference, differences
from service.domain.gates import check
from service.domain.metric import METRICS, Metric
from service.domain.policy import Policy
from service.domain.reading import Reading
from service.domain.resolution import Fact, changed, notes
from service.domain.validity import Finding, RunFacts, Severity
from service.domain.verdict import Outcome

# The readings of an arm, one inner sequence a launch.
Arm = Sequence[Sequence[Reading]]

_RANGE = frozenset("<>=!~")


class NoReadingsError(ValueError):
    """A side has no reading at all."""

    def __init__(self, side: str) -> None:
        super().__init__(f"the {side} has no readable result")


@dataclass(frozen=True, slots=True)
class _Checked:
    """A reading, and what the gates find in it once the assumptions are put in."""

    reading: Reading
    findings: tuple[Finding, ...]


def compare_readings(
    baseline: Arm,
    candidate: Arm,
    *,
    policy: Policy,
    metrics: Sequence[Metric] | None = None,
    assumptions: Assumptions = NOTHING_ASSUMED,
) -> Comparison:
    """Return the comparison of two arms of readings.

    Readings are repeats: all of one arm must tell one and the same condition and tool. Between
    the arms, what both tell must be equal, and what is needed and one of them does not tell must
    be assumed, or nobody knows whether they are comparable. An assumption never makes an invalid
    side valid. A result that stands in an arm twice is one measurement, and counts once. Raises
    NoReadingsError and OverruledError.
    """
    copies = _copies(baseline, candidate)
    baseline, candidate = _once(baseline), _once(candidate)
    left, right = _flat(baseline, "baseline"), _flat(candidate, "candidate")
    if found := (*_mixed(left, "baseline"), *_mixed(right, "candidate")):
        return Comparison(comparable=False, outcome=Outcome.NOT_COMPARABLE, differences=found)
    known = settled(_told(left[0]), _told(right[0]), assumptions)
    least = _least_requests((*left, *right), known)
    checked = _checked(left, known.baseline, least), _checked(right, known.candidate, least)
    gates = _gates(checked, assumptions)
    both = known.baseline.keys() & known.candidate.keys()
    comparison = compare(
        _side(baseline, {name: known.baseline[name] for name in both}, checked[0]),
        _side(candidate, {name: known.candidate[name] for name in both}, checked[1]),
        policy=policy,
        metrics=metrics,
        untold=(*known.untold, *gates.untold),
    )
    assumed = (*known.assumed, *gates.assumed) if comparison.comparable else ()
    warnings = (*copies, *_warnings(known, *checked))
    return replace(comparison, warnings=warnings, assumed=assumed)


def _once(arm: Arm) -> Arm:
    """Return an arm with each result once, where it stands first: a copy measures nothing anew."""
    seen: set[object] = set()
    launches: list[list[Reading]] = []
    for launch in arm:
        launches.append([])
        for each in launch:
            identity = each.identity
            if identity is None or identity not in seen:
                launches[-1].append(each)
            seen.add(identity)
    return [launch for launch in launches if launch]


def _copies(baseline: Arm, candidate: Arm) -> tuple[str, ...]:
    """Say which results stand twice in an arm, and which in both."""
    sides = [
        Counter(it for each in chain.from_iterable(arm) if (it := each.identity) is not None)
        for arm in (baseline, candidate)
    ]
    twice = [
        f"{name}: {copies} of {sum(map(len, arm))} results are copies of others, and not counted"
        for name, arm, side in zip(
            ("baseline", "candidate"), (baseline, candidate), sides, strict=True
        )
        if (copies := side.total() - len(side))
    ]
    both = len(sides[0].keys() & sides[1].keys())
    return (
        *twice,
        *(
            [f"{both} results stand on both sides: they are compared with themselves"]
            if both
            else []
        ),
    )


def _flat(arm: Arm, side: str) -> list[Reading]:
    readings = list(chain.from_iterable(arm))
    if not readings:
        raise NoReadingsError(side)
    return readings


def _told(reading: Reading) -> Told:
    """Return what a reading tells, the client's release too where its file tells it exactly."""
    version = reading.tool_version
    if version is None or _RANGE.intersection(version):
        return reading.condition
    return {"client_version": version, **reading.condition}


def _least_requests(readings: Sequence[Reading], known: Settled) -> int | None:
    """Return how many requests each reading was at least asked for, where they all had as many."""
    if REQUESTS not in {each.field for each in known.assumed} or REQUESTS in known.baseline:
        return None
    return max((each.facts.requests_completed or 0 for each in readings), default=0) or None


def _checked(readings: Sequence[Reading], told: Told, least: int | None) -> list[_Checked]:
    """Return the readings with what the gates find, told what is known of the whole side."""
    requests = told.get(REQUESTS)
    asked = requests if isinstance(requests, int) else least
    capacity = readings[0].facts.kv_capacity
    return [
        _Checked(each, check(_completed(each.facts, asked, None if number == 0 else capacity)))
        for number, each in enumerate(readings)
    ]


def _completed(facts: RunFacts, asked: int | None, capacity: int | None) -> RunFacts:
    known = facts.requests_asked
    before = None if facts.kv_capacity is None else capacity
    return replace(
        facts, requests_asked=asked if known is None else known, kv_capacity_before=before
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """The gates that the files leave open: assumed to hold, or still to be said."""

    assumed: tuple[Assumed, ...] = ()
    untold: tuple[Difference, ...] = ()


def _gates(sides: Sequence[Sequence[_Checked]], assumptions: Assumptions) -> _Open:
    unknown = [_of_severity(side, Severity.UNKNOWN) for side in sides]
    if not any(unknown):
        return _Open()
    if assumptions.cover(GATES):
        return _Open(assumed=(Assumed(GATES, ", ".join(dict.fromkeys(chain(*unknown)))),))
    shown = [NOT_TOLD if each else "hold" for each in unknown]
    return _Open(untold=(Difference(GATES, *shown),))


def _of_severity(side: Sequence[_Checked], severity: Severity) -> Counter[str]:
    """Return how many readings have a finding of a severity, by its code."""
    return Counter(
        finding.code for each in side for finding in each.findings if finding.severity is severity
    )


def _side(arm: Arm, condition: Told, checked: Sequence[_Checked]) -> Side:
    readings = [each.reading for each in checked]
    return Side(
        condition=condition,
        protocol=_protocol(readings[0]),
        samples={
            name: [
                [reading.metrics[name] for reading in launch if name in reading.metrics]
                for launch in arm
            ]
            for name in METRICS
            if any(name in reading.metrics for reading in readings)
        },
        obstacles=_failed(checked),
        withheld={
            name: f"{reason}, in {reading.file}:{reading.line}"
            for reading in reversed(readings)
            for name, reason in reading.withheld.items()
        },
    )


def _failed(checked: Sequence[_Checked]) -> tuple[Obstacle, ...]:
    """Return one obstacle a failed gate, with how many readings fail it and the first of them."""
    failing: dict[str, list[tuple[Reading, Finding]]] = {}
    for each in checked:
        for finding in each.findings:
            if finding.severity is Severity.FAILURE:
                failing.setdefault(finding.code, []).append((each.reading, finding))
    return tuple(
        Obstacle(
            Outcome.INVALID,
            f"{code} in {len(found)} of {len(checked)} results, "
            f"first in {found[0][0].file}:{found[0][0].line}: {found[0][1].message}",
        )
        for code, found in failing.items()
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
                    f"{difference.field} {WITHIN} {side}",
                    f"{difference.baseline} in line {first.line} of {first.file}",
                    f"{difference.candidate} in line {other.line} of {other.file}",
                ),
            )
    return tuple(found.values())


def _between(first: Reading, other: Reading) -> tuple[Difference, ...]:
    return differences(first.condition, other.condition) + differences(
        {"protocol": _protocol(first)}, {"protocol": _protocol(other)}
    )


def _warnings(
    known: Settled, baseline: Sequence[_Checked], candidate: Sequence[_Checked]
) -> tuple[str, ...]:
    needed = {each.field for each in known.untold}
    one_sided = sorted((known.baseline.keys() ^ known.candidate.keys()) - needed)
    differing = changed(baseline[0].reading.resolution, candidate[0].reading.resolution)
    return (
        *([f"only one side tells {', '.join(one_sided)}"] if one_sided else []),
        *notes(differing, asked=() if _asked_is_known(known) else None),
        *_warned(baseline, "baseline"),
        *_warned(candidate, "candidate"),
    )


def _asked_is_known(known: Settled) -> bool:
    """Return whether both servers were asked for the same: told, or said by whoever compares.

    What a file tells of a server is what it settled, whether somebody asked for that or not.
    """
    both = known.baseline.keys() & known.candidate.keys()
    return ARGUMENTS in both or ARGUMENTS in {each.field for each in known.assumed}


def _warned(side: Sequence[_Checked], name: str) -> list[str]:
    warned = _of_severity(side, Severity.WARNING)
    return [f"{name}: {code} in {count} of {len(side)} results" for code, count in warned.items()]
