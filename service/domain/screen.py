"""The screen: what is watched, run by run, and what it answers: no alarm, or suspect."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from service.domain.event import Event, Moved, host_of, joined
from service.domain.metric import Better
from service.domain.regime import Regime, regime_of, tolerance_of
from service.stats import pool as rows
from service.stats import screen as scan
from service.stats.detectable import smallest_detectable
from service.stats.discoveries import discoveries
from service.stats.known_change import Newest, moved_with, newest_of
from service.stats.levels import CENTER, SCALE, Floats

# A change of a quarter of what is accepted of a metric is not worth anybody's time.
SHARE_OF_TOLERANCE = 0.25
# Of the cells listed in an event, so many may be there by chance.
FALSE_SHARE = 0.05
# Fewer series than this are not pooled.
FEWEST_POOLED = 3
# The group of all series.
EVERY = "all"
# The evidence that alarms for one group of series where the run of a change is known: about one
# night in a thousand is suspected by chance, all groups together.
AT_KNOWN_CHANGE = 3.3


class Answer(StrEnum):
    """All that the screen says. It never says unchanged: that takes a comparison."""

    NO_ALARM = "no alarm"
    SUSPECT = "suspect"


class ValuesError(ValueError):
    """A run has another number of values than there are series."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(f"a run has one value per series, {expected} in all, and this has {got}")


@dataclass(frozen=True, slots=True)
class Watched:
    """One series: one metric of one cell on one host. least: the smallest change that matters."""

    name: str
    metric: str
    better: Better
    least: float
    host: str | None = None

    @property
    def sign(self) -> int:
        """What turns a logarithm so that a rise is for the worse."""
        return 1 if self.better is Better.LOWER else -1


@dataclass(frozen=True, slots=True)
class Watch:
    """The state of the screen over series that are measured together, run by run.

    runs: how many there have been. events: those whose change lies in the runs that are kept.
    """

    series: tuple[Watched, ...]
    screen: scan.Screen
    pool: rows.Pool | None
    pooled: tuple[str, ...]
    runs: int = 0
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A change that some series, or some group of them, shows by itself.

    newest: where the run of the change is known, what each series shows in it.
    """

    trigger: str
    runs: int
    worse: bool
    strength: float
    step: scan.Step | None = None
    newest: Newest | None = None


def least_of(metric: str) -> float:
    """Return the smallest change of a metric that matters, as a ratio."""
    return SHARE_OF_TOLERANCE * tolerance_of(metric)


def watch(series: Iterable[Watched]) -> Watch:
    """Return the screen of these series before their first run.

    Each series is watched by itself. All together, and those of each regime, are watched as a
    sum as well, where there are enough of them.
    """
    watched = tuple(series)
    regimes = [regime_of(each.metric) for each in watched]
    groups = {EVERY: [True] * len(watched)}
    groups |= {one: [each is one for each in regimes] for one in Regime}
    kept = {
        name: members
        for name, members in groups.items()
        if sum(members) >= FEWEST_POOLED and (name == EVERY or not all(members))
    }
    pool = rows.begin(np.array([*kept.values()])) if kept else None
    return Watch(watched, scan.begin(len(watched)), pool, tuple(map(str, kept)))


def look(
    before: Watch, values: Sequence[float | None], *, changed: bool = False
) -> tuple[Watch, tuple[Event, ...]]:
    """Return the screen after one more run of all series, and the events first seen in it.

    values: one per series, above zero; None where a series was not measured. changed: whether this
    run is known to be the first of another stack, so that a change may begin right here.
    Raises ValuesError.
    """
    if len(values) != len(before.series):
        raise ValuesError(len(before.series), len(values))
    run = np.array(
        [
            math.nan if value is None else each.sign * math.log(value)
            for each, value in zip(before.series, values, strict=True)
        ]
    )
    after = replace(
        before,
        screen=scan.advance(before.screen, run),
        pool=rows.advance(before.pool, run) if before.pool else None,
        runs=before.runs + 1,
    )
    pooled = _pooled(after)
    if changed:
        pooled += _at_known_change(after)
    threshold = scan.threshold_for(len(after.series))
    if not pooled and not scan.within_reach(after.screen, threshold=threshold):
        return after, ()
    evidence = scan.evidence_of(after.screen)
    evidence[np.isnan(run)] = np.nan
    candidates = [*_cells(after, evidence, threshold), *pooled]
    if not candidates:
        return after, ()
    return _with_events(after, evidence, candidates, np.isnan(run))


def smallest_effects(watched: Watch) -> tuple[float, ...]:
    """Return for each series the smallest lasting change that would be seen, as a ratio."""
    levels = watched.screen.levels[:, :, 0]
    found = smallest_detectable(levels, threshold=scan.threshold_for(len(watched.series)))
    least = [each.least for each in watched.series]
    return tuple(np.maximum(found, least).tolist())


def _cells(watched: Watch, evidence: Floats, threshold: float) -> list[_Candidate]:
    steps = scan.steps_of(
        watched.screen,
        evidence,
        threshold=threshold,
        least=[each.least for each in watched.series],
    )
    return [
        _Candidate(
            watched.series[step.series].name,
            step.runs,
            step.shift > 0,
            abs(step.evidence),
            step,
        )
        for step in steps
    ]


def _pooled(watched: Watch) -> list[_Candidate]:
    if watched.pool is None:
        return []
    evidence = np.nan_to_num(rows.evidence_of(watched.pool))
    found = []
    for group, name in enumerate(watched.pooled):
        column = int(np.argmax(np.abs(evidence[group])))
        strength = float(abs(evidence[group, column]))
        if strength >= scan.threshold_for(len(watched.pooled)):
            worse = bool(evidence[group, column] > 0)
            found.append(_Candidate(name, column + 1, worse, strength))
    return found


def _at_known_change(watched: Watch) -> list[_Candidate]:
    """Return the groups that move with the newest run, which is the first of another stack.

    Where regimes do by themselves the sum of all series tells nothing more, and would list series
    of the others that had a bad run.
    """
    if watched.pool is None:
        return []
    changes = [watched.runs - event.change_run for event in watched.events]
    newest = newest_of(watched.pool, rows=watched.runs, changes=changes)
    if newest is None:
        return []
    least = math.sqrt(AT_KNOWN_CHANGE**2 + 2 * math.log(len(watched.pooled)))
    found = [
        _Candidate(name, 1, bool(strength > 0), abs(strength), newest=newest)
        for name, strength in zip(watched.pooled, newest.groups.tolist(), strict=True)
        if abs(strength) >= least
    ]
    return [each for each in found if each.trigger != EVERY] or found


def _with_events(
    watched: Watch, evidence: Floats, candidates: list[_Candidate], missing: np.ndarray
) -> tuple[Watch, tuple[Event, ...]]:
    events = tuple(e for e in watched.events if watched.runs - e.change_run < scan.KEPT)
    new: list[Event] = []
    steps: dict[int, scan.Step] = {}
    for candidate in sorted(candidates, key=lambda each: -each.strength):
        listed = (
            _listed(watched, evidence, candidate)
            if candidate.newest is None
            else _listed_now(watched, candidate, candidate.newest, ~missing)
        )
        for step in listed:
            steps.setdefault(step.series, step)
        event = _event(watched, candidate, listed, missing)
        known = joined([*new] if candidate.newest else [*events, *new], event)
        if known is None:
            new.append(event)
        elif candidate.newest:
            new[new.index(known)] = _with_more(known, event.moved)
    screen = scan.restarted(watched.screen, [*steps.values()])
    pool = watched.pool and rows.restarted(
        watched.pool, max(candidates, key=lambda each: each.strength).runs
    )
    return replace(watched, screen=screen, pool=pool, events=(*events, *new)), tuple(new)


def _listed(watched: Watch, evidence: Floats, candidate: _Candidate) -> list[scan.Step]:
    """Return the series that moved with a candidate, each with its own size."""
    column = min(candidate.runs, scan.LATEST) - 1
    sign = 1 if candidate.worse else -1
    held = discoveries(sign * evidence[:, column], false_share=FALSE_SHARE)
    found = [] if candidate.step is None else [candidate.step]
    for row in np.flatnonzero(held).tolist():
        if candidate.step is not None and candidate.step.series == row:
            continue
        level = watched.screen.levels[:, row, column]
        newest = watched.screen.recent[row, scan.KEPT - column - 1 :]
        shift = float(np.median(newest) - level[CENTER])
        if shift * sign >= watched.series[row].least:
            step = scan.Step(
                row, column + 1, shift, float(evidence[row, column]), float(level[SCALE])
            )
            found.append(step)
    return found


def _with_more(event: Event, moved: Sequence[Moved]) -> Event:
    """Return an event with what another group shows of the same change, strongest first."""
    listed = {each.series: each for each in (*moved, *event.moved)}
    return replace(event, moved=tuple(sorted(listed.values(), key=lambda each: -each.evidence)))


def _listed_now(
    watched: Watch, candidate: _Candidate, newest: Newest, members: np.ndarray
) -> list[scan.Step]:
    """Return the series that moved with the newest run, each with its own size."""
    sign = 1 if candidate.worse else -1
    if watched.pool is not None:
        members = members & watched.pool.groups[watched.pooled.index(candidate.trigger)]
    held = moved_with(newest, members, sign=sign, false_share=FALSE_SHARE)
    return [
        scan.Step(row, 1, shift, float(newest.cells[row]), float(newest.scales[row]))
        for row in np.flatnonzero(held).tolist()
        if (shift := float(newest.shifts[row])) * sign >= watched.series[row].least
    ]


def _event(
    watched: Watch, candidate: _Candidate, listed: list[scan.Step], missing: np.ndarray
) -> Event:
    moved = tuple(
        Moved(
            watched.series[step.series].name,
            math.expm1(watched.series[step.series].sign * step.shift),
            abs(step.evidence),
        )
        for step in sorted(listed, key=lambda each: -abs(each.evidence))
    )
    names = {each.series for each in moved}
    unseen = np.flatnonzero(missing).tolist()
    hosts = {each.name: each.host for each in watched.series}
    return Event(
        change_run=watched.runs - candidate.runs,
        seen=watched.runs,
        worse=candidate.worse,
        trigger=candidate.trigger,
        moved=moved,
        presumed=tuple(watched.series[row].name for row in unseen),
        host=host_of(names, {name: host for name, host in hosts.items() if host is not None}),
    )
