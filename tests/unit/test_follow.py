"""Following a session: the bar never runs backwards, and the line says what happens."""

from uuid import UUID

import pytest

from service.cli.follow import done, present_fraction, present_line
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
        pytest.param(_job(0, "reported"), "all launches are over", id="over"),
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


def test_an_unknown_fraction_stays_unknown() -> None:
    assert present_fraction(_session(_job(0, "claimed", Progress(phase="start")))) is None
