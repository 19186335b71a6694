"""`kunline incident attribute` against a real service: what it asks, keeps and refuses."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.incident import incidents as commands
from service.cli.incident_attribute import cells_to_measure, sides
from service.domain.attribution import State
from service.domain.cell import Cell
from service.domain.incident import Direction, Incident, IncidentCell
from service.domain.plan import Cell as PlannedCell
from service.formats.attributions import AttributionAnswer
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.incidents import IncidentDetail
from service.formats.matrix_files import read_matrix
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import session_of, session_upload
from service.store import incidents
from service.store.database import reading, writing
from service.usecases.read_incidents import read_incident
from tests.integration import path
from tests.integration.builders import NOW
from tests.integration.serving import application, served
from tests.matrix_directory import FILES, matrix_directory

BAD = (
    FILES["stacks/cpu-0.5.18.yaml"]
    .replace("name: cpu-0.5.18", "name: cpu-bad")
    .replace('{OMP_NUM_THREADS: "1"}', '{OMP_NUM_THREADS: "2", A_A: "1", B_B: "1", C_C: "1"}')
)


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: the other has nothing to do with a command."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    root = matrix_directory(tmp_path, **{"stacks__cpu-bad": BAD})
    (root / "stacks" / "cpu-bad.lock").write_text(FILES["stacks/cpu-0.5.18.lock"])
    return root


@pytest.fixture
def address(engine: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(engine, tmp_path)) as url:
        yield url


def stacks_of(matrix: Path) -> tuple[ChosenStack, ChosenStack]:
    read = read_matrix(matrix)
    return chosen(read, "cpu-0.5.18"), chosen(read, "cpu-bad")


def cells_of(matrix: Path) -> tuple[PlannedCell, ...]:
    read = read_matrix(matrix)
    return tuple(planned_cells(read, read.plans.named("small")))


def opened(
    engine: Engine,
    matrix: Path,
    *,
    direction: Direction = Direction.WORSE,
    host: str | None = None,
) -> UUID:
    """Open an incident of two stacks, in all cells of the plan: the later moved more."""
    read = read_matrix(matrix)
    good, bad = stacks_of(matrix)
    cells = cells_of(matrix)
    planned = session_of(read, read.plans.named("small"), arms=(good, bad), cells=cells)
    path.submit(engine, session_upload(planned).order, "session", now=NOW)
    incident = Incident(
        id=uuid4(),
        title="slower",
        direction=direction,
        baseline_stack_key=good.stack.key,
        candidate_stack_key=bad.stack.key,
        opened_at=NOW,
        opened_by="ann",
        seen_at=NOW,
        host=host,
    )
    listed = [
        IncidentCell(
            Cell(cell.condition.key, cell.protocol.key), "output_throughput", 0.1 * (place + 1)
        )
        for place, cell in enumerate(cells)
    ]
    with writing(engine) as session:
        incidents.keep(session, incident, listed)
    return incident.id


def detail_of(engine: Engine, incident_id: UUID) -> IncidentDetail:
    with reading(engine) as session:
        return read_incident(session, incident_id)


def run(address: str, matrix: Path, *words: str) -> tuple[int, str, str]:
    asked = ("attribute", *words, "--matrix", str(matrix), "--url", address)
    done = CliRunner().invoke(commands, asked)
    return done.exit_code, done.stdout, done.stderr


def test_a_dry_run_says_what_would_be_measured_next_and_keeps_nothing(
    engine: Engine, matrix: Path, address: str
) -> None:
    incident_id = opened(engine, matrix)

    words = (str(incident_id), "--plan", "small", "--dry-run", "--json")
    code, out, _ = run(address, matrix, *words)

    answer = AttributionAnswer.model_validate_json(out)
    assert code == 4
    assert (answer.good, answer.bad, len(answer.steps)) == ("cpu-0.5.18", "cpu-bad", 4)
    assert "next would be cpu-0.5.18 and cpu-bad" in answer.stopped
    assert detail_of(engine, incident_id).attributions == ()


def test_what_a_budget_allowed_is_kept_with_the_incident_and_shown(
    engine: Engine, matrix: Path, address: str
) -> None:
    incident_id = opened(engine, matrix)

    code, out, _ = run(address, matrix, str(incident_id), "--plan", "small", "--budget", "0.0001")

    (kept,) = detail_of(engine, incident_id).attributions
    assert code == 4
    assert "stopped: next would be" in out
    assert (kept.state, kept.incident_id, kept.launches) == (State.STOPPED, incident_id, 0)
    assert kept.budget_card_s == pytest.approx(0.36)
    assert [act.act for act in detail_of(engine, incident_id).history] == ["attribute"]
    shown = CliRunner().invoke(commands, ["show", str(incident_id), "--url", address])
    assert "4 steps between the stacks, 3 combos at most" in shown.stdout


@pytest.mark.parametrize(
    ("host", "words", "said"),
    [
        pytest.param("h1", ("--plan", "small"), "look at the host", id="the host moved"),
        pytest.param(None, (), "name one with --plan", id="no plan is known"),
        pytest.param(
            None, ("--plan", "small", "--good", "cpu-0.5.23"), "as it was then", id="other stack"
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_with_what_to_do(
    engine: Engine, matrix: Path, address: str, host: str | None, words: tuple[str, ...], said: str
) -> None:
    incident_id = opened(engine, matrix, host=host)

    code, _, err = run(address, matrix, str(incident_id), *words)

    assert code == 2
    assert said in err


def test_a_stack_that_the_plan_cannot_measure_is_named_before_anything_is_measured(
    engine: Engine, matrix: Path, address: str
) -> None:
    incident_id = opened(engine, matrix)
    file = matrix / "stacks" / "cpu-bad.yaml"
    file.write_text(file.read_text().replace("chip: cpu", "chip: kunlun"))

    code, _, err = run(address, matrix, str(incident_id), "--plan", "small")

    assert code == 2
    assert "the stack cpu-bad is for chip kunlun, and the plan's cards are cpu" in err
    assert detail_of(engine, incident_id).attributions == ()


def test_the_cells_that_moved_most_are_measured_and_a_better_stack_is_searched_turned(
    engine: Engine, matrix: Path
) -> None:
    incident = detail_of(engine, opened(engine, matrix, direction=Direction.BETTER)).incident
    planned = cells_of(matrix)

    measured = cells_to_measure(planned, incident.cells)

    assert measured[0].condition.key == planned[-1].condition.key
    assert cells_to_measure(planned, ()) == ()
    confirmed = incident.cells[-1].model_copy(update={"session_id": uuid4()})
    (alone,) = cells_to_measure(planned, (*incident.cells[:-1], confirmed))
    assert alone.condition.key == confirmed.condition_key
    assert sides(incident) == (incident.candidate_stack_key, incident.baseline_stack_key)
