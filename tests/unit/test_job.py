"""The job's states: the only ways between them, and when it is given up."""

from datetime import UTC, datetime, timedelta

import pytest

from service.domain.job import (
    ENDED,
    JobState,
    Leasing,
    StaleTokenError,
    TransitionError,
    after_loss,
    require_token,
    require_transition,
)

ALLOWED = {
    (JobState.QUEUED, JobState.CLAIMED),
    (JobState.QUEUED, JobState.REPORTED),
    (JobState.QUEUED, JobState.CANCELLED),
    (JobState.CLAIMED, JobState.REPORTED),
    (JobState.CLAIMED, JobState.LOST),
    (JobState.CLAIMED, JobState.CANCELLED),
    (JobState.LOST, JobState.QUEUED),
    (JobState.LOST, JobState.GIVEN_UP),
    (JobState.LOST, JobState.REPORTED),
}
EVERY = [(before, after) for before in JobState for after in JobState]


@pytest.mark.parametrize(("before", "after"), sorted(ALLOWED))
def test_a_job_goes_the_ways_there_are(before: JobState, after: JobState) -> None:
    require_transition(before, after)


@pytest.mark.parametrize(("before", "after"), [way for way in EVERY if way not in ALLOWED])
def test_a_job_goes_no_other_way(before: JobState, after: JobState) -> None:
    with pytest.raises(TransitionError, match=f"{before} cannot become {after}"):
        require_transition(before, after)


def test_nothing_follows_an_end() -> None:
    assert {JobState.REPORTED, JobState.GIVEN_UP, JobState.CANCELLED} == ENDED


@pytest.mark.parametrize(
    ("attempt", "state"),
    [(1, JobState.QUEUED), (2, JobState.QUEUED), (3, JobState.GIVEN_UP), (4, JobState.GIVEN_UP)],
)
def test_a_lost_job_is_tried_so_often_and_then_given_up(attempt: int, state: JobState) -> None:
    assert after_loss(attempt=attempt, attempts_max=3) is state


def test_a_lease_ends_after_its_time() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)

    assert Leasing(timedelta(seconds=45), 3).until(now) == datetime(
        2026, 11, 1, 0, 0, 45, tzinfo=UTC
    )


@pytest.mark.parametrize("given", [1, 3])
def test_a_token_that_is_not_the_newest_is_refused(given: int) -> None:
    with pytest.raises(StaleTokenError):
        require_token(given=given, current=2)
