"""What `kunline plan --power` says: what each cell needs, what that rests on, and what it costs."""

import json
from pathlib import Path
from uuid import UUID

import pytest
import typer
from typer.testing import CliRunner

from service.cli import plan as plan_command
from service.cli.power_table import needs_of, noisiest, power_document, power_page
from service.client import ServiceAwayError
from service.domain.power import Known
from service.formats.matrix_files import read_matrix
from service.formats.noise import NoiseRead, Spread
from service.formats.planned_sessions import PlannedSession, plan_session
from tests.golden_file import assert_golden
from tests.matrix_directory import matrix_directory

app = typer.Typer()
app.command()(plan_command.plan)


@pytest.fixture
def planned(tmp_path: Path) -> PlannedSession:
    matrix = read_matrix(matrix_directory(tmp_path / "matrix"))
    return plan_session(matrix, matrix.plans.named("small"))


def told(
    planned: PlannedSession,
    *,
    cell: int = 0,
    launch: float = 0.02,
    freedom: float = 12,
    host: str = "h1",
) -> NoiseRead:
    measured = planned.cells[cell]
    return NoiseRead(
        condition_key=measured.condition.key,
        protocol_key=measured.protocol.key,
        title="a cell",
        metric="output_throughput",
        host=host,
        launch=Spread(spread=launch, freedom=freedom),
        seed=Spread(spread=0.01, freedom=2),
        residual=Spread(spread=0.03, freedom=30),
        launches=int(freedom) + 2,
        sessions=(UUID(int=1), UUID(int=2)),
        run_ids=(UUID(int=3),),
    )


def known(planned: PlannedSession) -> Known:
    return noisiest([told(planned), told(planned, cell=1, launch=0.08, freedom=3)])


def test_power_is_shown_as_a_page(planned: PlannedSession) -> None:
    found = needs_of(planned, known(planned), wanted=0.8)

    assert_golden("plan_power.txt", power_page(planned, found, wanted=0.8) + "\n")


def test_power_is_a_part_of_the_json_document(planned: PlannedSession) -> None:
    found = needs_of(planned, known(planned), wanted=0.8)

    document = json.loads(json.dumps(power_document(planned, found, wanted=0.8)))

    needs = {(need["cell"], need["metric"]): need for need in document["needs"]}
    assert len(needs) == 6 * 3
    assert needs[1, "output_throughput"]["known_from_launches"] == 14
    assert needs[1, "output_throughput"]["prior"] is None
    assert needs[2, "output_throughput"]["prior"] == {"launch": 0.015, "residual": 0.015}
    assert needs[1, "ttft_p50"]["known_from_launches"] == 0


def test_of_several_hosts_the_noisiest_counts(planned: PlannedSession) -> None:
    found = noisiest(
        [
            told(planned, launch=0.01, host="quiet"),
            told(planned, launch=0.05, host="noisy"),
            told(planned, launch=0.02, host="middling"),
        ]
    )

    assert [noise.host for noise in found.values()] == ["noisy"]


def test_without_a_service_the_priors_are_used_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ServiceAwayError("the service is away")

    monkeypatch.setattr(plan_command, "connected", away)
    matrix = matrix_directory(tmp_path / "matrix")

    answer = CliRunner().invoke(app, ["small", "--matrix", str(matrix), "--power", "0.8"])

    assert answer.exit_code == 0
    assert "So no noise is known, and every spread below is the prior." in answer.stderr
    assert "prior of ttft_p50: launch 3.0 %, residual 3.0 %" in answer.stdout


@pytest.mark.parametrize("power", ["0", "1", "80"])
def test_a_power_that_is_no_probability_is_wrong_usage(tmp_path: Path, power: str) -> None:
    matrix = matrix_directory(tmp_path / "matrix")

    answer = CliRunner().invoke(app, ["small", "--matrix", str(matrix), "--power", power])

    assert answer.exit_code == 2
