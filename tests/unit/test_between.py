"""What a search takes for measured: sessions of its plan, and confirms that ended early."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast
from uuid import UUID

import pytest

from service.cli.between import Bench
from service.client import Client
from service.domain.verdict import Outcome
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.comparisons import SessionVerdicts
from service.formats.matrix_files import read_matrix
from service.formats.sessions import JobRead, SessionRead
from tests.matrix_directory import FILES, matrix_directory

CONFIRM = UUID(int=5)
BAD = FILES["stacks/cpu-0.5.18.yaml"].replace("name: cpu-0.5.18", "name: cpu-bad")
State = Literal["reported", "cancelled", "given up"]


@dataclass(frozen=True)
class OneSession:
    """Stands in for the client of a service that has one session, which a confirm asked for."""

    session_read: SessionRead

    def session(self, session_id: UUID) -> SessionRead:
        return self.session_read

    def sessions(self, *, limit: int) -> tuple[SessionRead, ...]:
        return (self.session_read,)

    def verdicts(self, session_id: UUID) -> SessionVerdicts:
        return SessionVerdicts(
            session_id=session_id, finished=True, outcome=Outcome.REGRESSED, cells=()
        )


@pytest.fixture
def stacks(tmp_path: Path) -> tuple[Path, ChosenStack, ChosenStack]:
    slow = BAD.replace('{OMP_NUM_THREADS: "1"}', '{OMP_NUM_THREADS: "2"}')
    root = matrix_directory(tmp_path, **{"stacks__cpu-bad": slow})
    (root / "stacks" / "cpu-bad.lock").write_text(FILES["stacks/cpu-0.5.18.lock"])
    read = read_matrix(root)
    return root, chosen(read, "cpu-0.5.18"), chosen(read, "cpu-bad")


def session_of(good: ChosenStack, bad: ChosenStack, states: Sequence[State]) -> SessionRead:
    """Build a confirm's session: launches in turn, of which some had nothing left to tell."""
    jobs = tuple(
        JobRead(
            id=UUID(int=place + 1),
            ordinal=place,
            state=state,
            stack_key=(good, bad)[place % 2].stack.key,
            stack_name=(good, bad)[place % 2].stack.name,
            attempt=1,
            cells=1,
            cells_reported=1,
            repeats=3,
            runner=None,
            host=None,
            progress=None,
            broken=None,
        )
        for place, state in enumerate(states)
    )
    return SessionRead(
        id=CONFIRM,
        plan="confirm",
        pool="local",
        state="finished",
        host="h",
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
        finished_at=None,
        baseline_stack_key=good.stack.key,
        jobs=jobs,
    )


@pytest.mark.parametrize(
    ("states", "known", "is_taken"),
    [
        pytest.param(["reported"] * 4, [CONFIRM], True, id="a confirm of all its launches"),
        pytest.param(
            ["reported"] * 4 + ["cancelled"] * 8, [CONFIRM], True, id="one that was told early"
        ),
        pytest.param(["reported"] * 4, [], False, id="a session of another plan"),
        pytest.param(
            ["reported"] * 3 + ["given up"], [CONFIRM], False, id="one with a launch that was lost"
        ),
        pytest.param(
            ["reported", "cancelled"], [CONFIRM], False, id="one that measured the good stack alone"
        ),
    ],
)
def test_what_an_incident_names_is_taken_for_measured_where_both_stacks_were(
    states: list[State],
    known: list[UUID],
    *,
    is_taken: bool,
    stacks: tuple[Path, ChosenStack, ChosenStack],
) -> None:
    root, good, bad = stacks
    read = read_matrix(root)
    client = cast("Client", OneSession(session_of(good, bad, states)))
    bench = Bench(client, read, read.plans.named("small"), tuple(known))

    found = bench.before([good, bad], [])

    assert (found is not None) is is_taken
