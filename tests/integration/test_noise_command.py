"""`kunline noise` from its order to its table, with a runner that says what a real one would."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
import typer
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.noise import noise
from service.client import Client, connected
from tests.integration import builders
from tests.integration.serving import application, served
from tests.matrix_directory import matrix_directory

POLL_S = 0.05

app = typer.Typer()
app.command()(noise)


@pytest.fixture
def address(engine: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(engine, tmp_path)) as at:
        yield at


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return matrix_directory(tmp_path / "matrix")


@contextmanager
def runner_at(url: str) -> Iterator[None]:
    """Do whatever jobs there are, each launch a little slower than the one before."""
    over = Event()

    def work() -> None:
        with connected(url) as client:
            while not over.wait(POLL_S):
                do_one(client)

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            yield
        finally:
            over.set()
            working.result()


def do_one(client: Client) -> None:
    wanted = builders.claim(pool="local", cards=4)
    if (order := client.claim(wanted)) is None:
        return
    client.report_launch(builders.launch_report(order, launch_id=order.job_id))
    for cell in range(len(order.launch.cells)):
        scale = 1 + order.ordinal % 4 / 100
        client.report_run(
            builders.run_report(order, cell=cell, launch_id=order.job_id, scale=scale)
        )
    client.finish(order.job_id, order.fencing_token)


def run(address: str, matrix: Path, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(app, ["small", "--matrix", str(matrix), "--url", address, *words])
    return answer.exit_code, answer.stdout


def test_one_stack_is_measured_against_itself_and_its_noise_is_kept(
    address: str, matrix: Path
) -> None:
    with runner_at(address):
        code, out = run(address, matrix, "--launches", "4", "--json")

    told = json.loads(out)
    assert code == 0
    assert len(told) == 6 * 3
    assert {each["launches"] for each in told} == {4}
    assert {each["launch"]["freedom"] for each in told} == {3.0}
    with connected(address) as client:
        session = client.sessions()[0]
        assert {job.stack_name for job in session.jobs} == {"cpu-0.5.18"}
        assert len(session.jobs) == 2 * 4
        assert len(client.noise(condition_keys=[each["condition_key"] for each in told])) == 18


def test_noise_is_a_table_of_spreads_and_what_is_behind_them(address: str, matrix: Path) -> None:
    with runner_at(address):
        code, out = run(address, matrix, "--stack", "cpu-0.5.23", "--launches", "2")

    assert code == 0
    assert "2 launches of 1 session on h1" in " ".join(out.split())


def test_a_stack_can_be_left_to_the_runners(address: str, matrix: Path) -> None:
    code, out = run(address, matrix, "--detach")

    with connected(address) as client:
        assert (code, out.strip()) == (0, str(client.sessions()[0].id))
        assert len(client.sessions()[0].jobs) == 2 * 6


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--stack", "cpu-0.5.19"], id="an unknown stack"),
        pytest.param(["--launches", "1"], id="one launch, which tells nothing"),
    ],
)
def test_wrong_usage_asks_for_nothing(address: str, matrix: Path, words: list[str]) -> None:
    code, _ = run(address, matrix, *words)

    with connected(address) as client:
        assert (code, client.sessions()) == (2, ())
