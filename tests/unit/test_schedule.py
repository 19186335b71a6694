"""Nights: when one is due, when it is not, and what has its turn."""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.schedule import (
    CATCH_UP,
    ClockTimeError,
    Timing,
    clock_time,
    next_begin,
    night_due,
    on_rotation,
)

SHANGHAI = ZoneInfo("Asia/Shanghai")
MADE = datetime(2026, 11, 1, tzinfo=UTC)
NIGHTLY = Timing(time(2), SHANGHAI, MADE)
NIGHT = date(2026, 11, 30)
BEGIN = datetime(2026, 11, 29, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "last", "due"),
    [
        pytest.param(BEGIN, None, NIGHT, id="at its time"),
        pytest.param(BEGIN + CATCH_UP, None, NIGHT, id="as late as it may be"),
        pytest.param(BEGIN - timedelta(seconds=1), None, None, id="a second early"),
        pytest.param(BEGIN + CATCH_UP + timedelta(seconds=1), None, None, id="too late"),
        pytest.param(BEGIN, NIGHT, None, id="begun already"),
        pytest.param(BEGIN, date(2026, 12, 3), None, id="a clock that went back"),
        pytest.param(BEGIN, date(2026, 11, 29), NIGHT, id="the one before was begun"),
    ],
)
def test_a_night_is_due_once_and_not_long_after_its_time(
    now: datetime, last: date | None, due: date | None
) -> None:
    assert night_due(NIGHTLY, last=last, now=now) == due


def test_a_night_before_the_schedule_was_made_is_not_made_up_for() -> None:
    made = BEGIN + timedelta(minutes=5)

    assert night_due(Timing(time(2), SHANGHAI, made), last=None, now=made) is None


def test_the_next_begin_is_the_next_time_of_day_that_was_not_begun() -> None:
    tomorrow = BEGIN + timedelta(days=1)

    assert next_begin(NIGHTLY, last=NIGHT, now=BEGIN) == tomorrow
    assert next_begin(NIGHTLY, last=None, now=BEGIN) == BEGIN
    assert next_begin(NIGHTLY, last=None, now=BEGIN + timedelta(hours=9)) == tomorrow


@given(
    st.integers(0, 235 * 24 * 60),
    st.times(),
)
def test_sweeps_every_hour_begin_each_night_once_over_changes_of_the_clock(
    minutes: int, at: time
) -> None:
    start = datetime(2026, 3, 20, tzinfo=UTC) + timedelta(minutes=minutes)
    timing = Timing(at.replace(second=0, microsecond=0), ZoneInfo("America/New_York"), start)
    begun: list[date] = []
    for hour in range(24 * 12):
        due = night_due(
            timing, last=begun[-1] if begun else None, now=start + timedelta(hours=hour)
        )
        if due is not None:
            begun.append(due)

    assert begun == [begun[0] + timedelta(days=place) for place in range(len(begun))]
    assert len(begun) >= 11


@pytest.mark.parametrize("text", ["2:00", "24:00", "02:60", "0200", "02:00:00", "02:00\n", ""])
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(ClockTimeError, match="02:30"):
        clock_time(text)


@given(st.integers(1, 40), st.integers(0, 50))
def test_everything_has_its_turn_as_often_as_everything_else(things: int, count: int) -> None:
    turns = Counter(
        place
        for day in range(things)
        for place in on_rotation(things, night=NIGHT + timedelta(days=day), count=count)
    )

    assert set(turns.values()) <= {min(count, things)}
    assert sum(turns.values()) == min(count, things) * things
