"""Count what there is, for whoever watches the service."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.job import JobState
from service.store import jobs, runners, runs
from service.store.database import ReadSession

RUN_STATES = ("measured", "incomplete", "invalid", "broken")


@dataclass(frozen=True, slots=True)
class Counts:
    """Jobs by state, runs by state, and runners by state; a state without any reads 0."""

    jobs: Mapping[str, int]
    runs: Mapping[str, int]
    runners: Mapping[str, int]


def count(session: ReadSession) -> Counts:
    """Return how many jobs, runs and runners there are."""
    return Counts(
        jobs=dict.fromkeys((state.value for state in JobState), 0) | dict(jobs.counts(session)),
        runs=dict.fromkeys(RUN_STATES, 0) | dict(runs.counts(session)),
        runners=dict.fromkeys(("active", "paused", "draining"), 0) | dict(runners.counts(session)),
    )
