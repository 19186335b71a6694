"""`kunline experiment` over variables of the collectives library, on a host that is emulated.

The runner says what a host would on which a buffer of 8 MiB takes seven tenths of the time; none of
it is a card's figure. What is seen: exactly one thing differs between arms, and it arrives.
"""

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

from service.cli.experiment import experiment
from service.client import Client, connected
from service.formats.orders import LaunchOrder
from tests.integration import builders
from tests.integration.serving import application, served
from tests.matrix_directory import FILES, matrix_directory

RING = "BKCL_RING_BUFFER_SIZE"
SMALL = FILES["plans/small.yaml"].partition("  - workload: arrivals")[0]
PLAN = SMALL.replace("concurrency: [1, 4]", "concurrency: [4]").replace(
    "  two-cards: {tp: 2}\n", ""
)
FASTER = 0.7

app = typer.Typer()
app.command()(experiment)


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: the other has nothing to do with a command."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


@pytest.fixture
def address(engine: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(engine, tmp_path)) as at:
        yield at


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return matrix_directory(tmp_path / "matrix", plans__small=PLAN)


@contextmanager
def emulated_host(url: str, seen: list[LaunchOrder]) -> Iterator[None]:
    over = Event()

    def work() -> None:
        with connected(url) as client:
            while not over.wait(0.02):
                do_one(client, seen)

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            yield
        finally:
            over.set()
            working.result()


def do_one(client: Client, seen: list[LaunchOrder]) -> None:
    order = client.claim(builders.claim(pool="local", cards=4))
    if order is None:
        return
    seen.append(order.launch)
    tuned = order.launch.server_environment.get(RING) == "8388608"
    scale = (FASTER if tuned else 1.0) * (1 + order.ordinal % 2 / 1000)
    client.report_launch(builders.launch_report(order, launch_id=order.job_id))
    for cell in range(len(order.launch.cells)):
        report = builders.run_report(order, cell=cell, launch_id=order.job_id, scale=scale)
        client.report_run(report)
    client.finish(order.job_id, order.fencing_token)


def tried(address: str, matrix: Path, *words: str) -> tuple[int, str, str]:
    asked = ["small", "--matrix", str(matrix), "--url", address, *words]
    answer = CliRunner().invoke(app, asked)
    return answer.exit_code, answer.stdout, answer.stderr


def test_only_the_variable_differs_between_arms_and_the_value_that_gains_is_taken(
    address: str, matrix: Path
) -> None:
    seen: list[LaunchOrder] = []
    with emulated_host(address, seen):
        code, out, _ = tried(address, matrix, "--set", f"{RING}=default,8388608", "--json")

    answer = json.loads(out)
    assert code == 0
    assert answer["recommendation"]["value"] == "8388608"
    values = {launch.server_environment.get(RING) for launch in seen}
    assert values == {None, "8388608"}
    others = [
        (
            launch.server_arguments,
            {name: text for name, text in launch.server_environment.items() if name != RING},
            [cell.condition_key for cell in launch.cells],
        )
        for launch in seen
    ]
    assert all(other == others[0] for other in others)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ("--set", f"{RING}=default,8388608", "--set", "BKCL_TIMEOUT=120,1000"),
            "BKCL_TIMEOUT is another",
            id="a second variable",
        ),
        pytest.param(
            ("--set", f"{RING}=default,8388608", "--set", "--disable-overlap-schedule=false,true"),
            "--disable-overlap-schedule is another",
            id="a flag beside a variable",
        ),
        pytest.param(("--set", "BKCL_RING_BUFER=1,2"), "did you mean", id="a misspelt variable"),
        pytest.param(
            ("--set", f"{RING}=default,8M"), "must be a whole number", id="a value nobody reads"
        ),
        pytest.param(
            ("--set", "--tp-size=1,2"), "is parallelism", id="what is no setting of a server"
        ),
    ],
)
def test_what_is_no_experiment_on_a_library_is_refused_before_anything_is_measured(
    address: str, matrix: Path, words: tuple[str, ...], said: str
) -> None:
    code, _, err = tried(address, matrix, *words)

    assert code == 2
    assert said in err


def test_what_may_go_wrong_is_said_first_and_an_unknown_variable_can_be_tried_on_purpose(
    address: str, matrix: Path
) -> None:
    seen: list[LaunchOrder] = []
    with emulated_host(address, seen):
        code, _, err = tried(address, matrix, "--set", "BKCL_TREE_THRESHOLD=0,1", "--json")
        again, _, _ = tried(address, matrix, "--set", "BKCL_NEW=0,1", "--undocumented", "--json")

    assert "disagree on which side" in err
    assert (code, again) == (0, 0)
    assert {"0", "1"} <= {launch.server_environment.get("BKCL_NEW") for launch in seen}
