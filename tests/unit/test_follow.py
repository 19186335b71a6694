"""Following a session: the bar never runs backwards, and the line says what happens."""

from uuid import UUID

import pytest

from service.cli.follow import BESIDE, clipped, done, present_fraction, present_line
from service.formats.orders import Progress
from service.formats.sessions import JobRead, JobState, SessionRead

KEY = "a" * 64


def _job(
    ordinal: int, state: JobState, progress: Progress | None = None, reported: int = 0
) -> JobRead:
    return JobRead(
        id=UUID(int=ordinal + 1),
        ordinal=ordinal,
        state=state,
        stack_key=KEY,
        stack_name="older",
        attempt=1,
        cells=4,
        cells_reported=reported,
        repeats=8,
        runner="runner-1",
        host="host-1",
        progress=progress,
        broken=None,
    )


def _session(*jobs: JobRead) -> SessionRead:
    return SessionRead.model_validate(
        {
            "id": UUID(int=9),
            "plan": "demo",
            "pool": "default",
            "state": "running",
            "host": "host-1",
            "created_at": "2026-11-29T00:00:00Z",
            "finished_at": None,
            "baseline_stack_key": None,
            "jobs": jobs,
        }
    )


STEPS = [
    _job(0, "queued"),
    _job(0, "claimed", Progress(phase="build", fraction=0.5)),
    _job(0, "claimed", Progress(phase="start", fraction=0.1)),
    _job(0, "claimed", Progress(phase="measure", fraction=0.25)),
    _job(0, "claimed", Progress(phase="measure", fraction=0.9), reported=2),
    _job(0, "reported", reported=4),
]


def test_the_bar_runs_forward_through_a_launch_and_ends_at_one() -> None:
    shares = [done(_session(step)) for step in STEPS]

    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("job", "line"),
    [
        pytest.param(_job(0, "queued"), "waiting for a runner", id="nobody took it"),
        pytest.param(_job(0, "reported"), "1 measured", id="over"),
        pytest.param(_job(0, "cancelled"), "1 left out", id="not needed"),
        pytest.param(_job(0, "given up"), "1 given up", id="lost too often"),
        pytest.param(_job(1, "claimed"), "launch 2, older: claimed by runner-1", id="just claimed"),
        pytest.param(
            _job(1, "claimed", Progress(phase="start", text="31 s")),
            "launch 2, older: start (31 s)",
            id="under way",
        ),
    ],
)
def test_the_line_says_what_happens_now(job: JobRead, line: str) -> None:
    assert present_line(_session(job)) == line


def test_what_was_cancelled_is_not_told_as_measured() -> None:
    whole = _session(_job(0, "reported"), *(_job(each, "cancelled") for each in (1, 2, 3)))

    ended = whole.model_copy(update={"state": "cancelled"})

    assert present_line(ended) == "1 measured, 3 cancelled"
    assert present_line(whole) == "1 measured, 3 left out"


def test_a_bar_of_two_stacks_has_room_whatever_they_are_called() -> None:
    name = "cpu-sglang-0.5.23+kunline-sglang-cpu-0.2.0+whl.0123abcd"
    job = _job(1, "claimed", Progress(phase="measure", text="chat c=128, repeat 3 of 5"))
    session = _session(job.model_copy(update={"stack_name": name}))
    held = session.model_copy(update={"baseline_stack_key": "b" * 64})

    line = present_line(held, by_role=True)

    assert line == "launch 2, candidate: measure (chat c=128, repeat 3 of 5)"
    assert len(clipped(line, 100 - BESIDE)) == 100 - BESIDE
    assert name in present_line(held), "away from a terminal there is room for its name"


def test_an_unknown_fraction_stays_unknown() -> None:
    assert present_fraction(_session(_job(0, "claimed", Progress(phase="start")))) is None
