"""How gates end that do not go straight through, each as a pipeline sees it from the command."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, insert
from typer.testing import CliRunner, Result

from service.cli.main import main
from service.domain.layer import Layer
from service.formats.gate_answers import GateAnswer
from service.formats.reports import Broken
from service.store.database import writing
from service.store.tables import IncidentCellRow, IncidentRow
from tests.e2e.production import Stage, service_client
from tests.integration.databases import free_port
from tests.integration.gate_cli import break_next, command, environment, measure
from tests.integration.serving import Clock, application, served
from tests.made_wheel import made_wheel

PLUGIN = "kunline-sglang-cpu"
BASE = "cpu-sglang-0.5.23"
WITH = ("--with", f"{PLUGIN}=./*.whl")
ASKED = ("--plan", "pr-cpu", "--base", f"stack:{BASE}", *WITH)


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: the other has nothing to do with a command."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


@dataclass(frozen=True, slots=True)
class World:
    """A service, its database and its clock, and a folder with a pull request's wheel."""

    url: str
    engine: Engine
    clock: Clock
    folder: Path

    def kunline(self, *words: str) -> Result:
        """Run a command in this process, which is what most of its time would be spent on."""
        return CliRunner().invoke(main, [*words, "--url", self.url])

    def gate(self, *words: str) -> Result:
        """Run a command about gates."""
        return self.kunline("gate", *words)

    def asked(self, *words: str) -> str:
        """Ask for a gate, leave it, and return its id."""
        left = self.gate(*words, "--detach")
        assert left.exit_code == 0, left.stderr
        return left.stdout.strip()

    def ended(self, gate_id: str) -> tuple[int, GateAnswer]:
        """Wait for a gate as another machine would, and return exit code and answer."""
        done = self.gate("--attach", gate_id, "--json")
        return done.exit_code, GateAnswer.model_validate(json.loads(done.stdout))


@pytest.fixture
def world(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    made_wheel(tmp_path, PLUGIN, "0.2.0")
    clock = Clock(datetime.now(UTC))
    with served(application(engine, tmp_path, clock=clock)) as url:
        yield World(url, engine, clock, tmp_path)


def test_a_candidate_that_breaks_ends_with_5_and_names_layer_and_remedy(world: World) -> None:
    gate_id = world.asked(*ASKED)
    broken = Broken(layer=Layer.PLUGIN, finding="no platform", remedy="install the plugin")

    stack = break_next(world.engine, broken)
    code, answer = world.ended(gate_id)

    assert "whl." in stack, "the first launch is the candidate's"
    assert measure(world.engine, 1.0) == 0
    assert code == 5
    assert answer.cells[0].broken is not None
    assert (answer.cells[0].broken.side, answer.cells[0].broken.remedy) == (
        "candidate",
        "install the plugin",
    )


def test_a_budget_plans_fewer_rounds_and_ends_a_gate_that_takes_longer(world: World) -> None:
    # Two rounds are planned at 54 seconds a launch, and launches then take a minute.
    gate_id = world.asked(*ASKED, "--budget", "230s")

    launches = measure(world.engine, 1.1, unsteady=(1.0, 1.2, 0.9))
    code, answer = world.ended(gate_id)

    assert launches == 3
    assert (answer.time.budget_card_s, answer.time.spent_card_s) == (230, 180)
    assert [cell.stopped and cell.stopped.word for cell in answer.cells] == ["budget"]
    assert answer.outcome == "inconclusive"
    assert code == 0, "this plan lets what is inconclusive pass, and says so"
    assert any("the budget of card time allows" in note for note in answer.notes)


def test_a_budget_below_one_round_is_refused_before_anything_is_measured(world: World) -> None:
    refused = world.gate(*ASKED, "--budget", "5s")

    assert refused.exit_code == 2
    assert "raise it to at least --budget 4m" in refused.stderr
    assert measure(world.engine, 1.0) == 0


def test_a_waiver_turns_3_into_4_for_as_long_as_it_is_in_force(world: World) -> None:
    gate_id = world.asked(*ASKED)
    measure(world.engine, 1.4)
    before, _ = world.ended(gate_id)
    words = ("--plan", "pr-cpu", "--for", "1d", "--why", "known, fixed by the next release")
    added = world.kunline("waiver", "add", *words)
    assert added.exit_code == 0, added.stderr
    waived, answer = world.ended(gate_id)
    world.clock.now += timedelta(days=2)
    after, _ = world.ended(gate_id)

    # Where all is waived nothing is counted: the plan lets that pass, and the answer says so.
    assert (before, waived, after) == (3, 0, 3)
    assert answer.outcome == "inconclusive"
    assert {each.counts for each in answer.cells[0].verdicts} == {"waived", "informs"}


def test_a_pull_request_is_not_blamed_for_an_open_incident_of_main(world: World) -> None:
    gate_id = world.asked(*ASKED)
    measure(world.engine, 1.4)
    before, answer = world.ended(gate_id)
    open_incident(world.engine, answer)

    after, told = world.ended(gate_id)

    assert (before, after) == (3, 0)
    assert told.cells[0].incident is not None
    assert {each.counts for each in told.cells[0].verdicts} == {"known", "informs"}


def open_incident(engine: Engine, answer: GateAnswer) -> None:
    """Open an incident in the gate's cell between its base and an older stack."""
    cell = answer.cells[0]
    incident = {
        "id": UUID(int=7),
        "title": "TPOT up since the last release",
        "direction": "worse",
        "baseline_stack_key": answer.candidate.stack_key,
        "candidate_stack_key": answer.base.stack_key,
        "opened_at": answer.asked_at,
        "opened_by": "ada",
        "seen_at": answer.asked_at,
        "triage": "open",
        "comment": "",
        "links": [],
    }
    listed = {
        "incident_id": UUID(int=7),
        "condition_key": cell.condition_key,
        "protocol_key": cell.protocol_key,
        "metric": "tpot_p50",
        "change": 0.3,
        "run_ids": [],
    }
    with writing(engine) as session:
        session.execute(insert(IncidentRow).values(incident))
        session.execute(insert(IncidentCellRow).values(listed))


def test_a_branch_is_held_to_the_stack_of_its_merge_base_and_not_of_todays_tip(
    world: World,
) -> None:
    left, tip = two_commits(world.folder)
    stacks = {commit: pinned(world, commit) for commit in (left, tip)}
    git(world.folder, "switch", "--quiet", "--detach", left)

    found = world.gate("--plan", "pr-cpu", *WITH, "--target", "main", "--detach", "--json")

    base = json.loads(found.stdout)["answer"]["base"]
    assert base["how"] == "merge base", base["found"]
    assert (base["stack_key"], base["merge_base"]) == (stacks[left], left)
    assert base["channel"] == "main"


def pinned(world: World, commit: str) -> str:
    """Measure a stack whose plugin was built from a commit, pin it, and return its key."""
    wheels = world.folder / commit
    wheels.mkdir()
    made_wheel(wheels, PLUGIN, f"0.1.0+{commit[:12]}")
    words = ("--plan", "pr-cpu", "--base", f"stack:{BASE}", "--with", f"{PLUGIN}={wheels}/*.whl")
    gate_id = world.asked(*words)
    measure(world.engine, 1.0)
    _, answer = world.ended(gate_id)
    done = world.kunline("baseline", "pin", answer.candidate.stack_key, "--why", "merged into main")
    assert done.exit_code == 0, done.stderr
    return answer.candidate.stack_key


def two_commits(folder: Path) -> Sequence[str]:
    """Make a repository with two commits on main and return them, the older first."""
    git(folder, "init", "--quiet", "--initial-branch", "main")
    named = ("-c", "user.name=ada", "-c", "user.email=ada@localhost")
    for number in range(2):
        words = ("commit", "--quiet", "--allow-empty", "--message", f"commit {number}")
        git(folder, *named, *words)
    return git(folder, "rev-list", "--reverse", "main").split()


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, timeout=30
    )
    return done.stdout


def test_a_service_that_goes_away_and_comes_back_is_waited_for(
    engine: Engine, tmp_path: Path
) -> None:
    made_wheel(tmp_path, PLUGIN, "0.2.0")
    port = free_port()
    stage = Stage(
        tmp_path,
        {
            "KUNLINE_DATABASE_URL": f"sqlite:///{tmp_path / 'kunline.db'}",
            "KUNLINE_DATA_DIR": str(tmp_path / "data"),
            "KUNLINE_PORT": str(port),
        },
    )
    url = f"http://127.0.0.1:{port}"
    try:
        stage.module("api", "service.api")
        with service_client(port):
            waiting = subprocess.Popen(
                [*command(url, "gate", *ASKED), "--json"],
                cwd=tmp_path,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert waiting.stderr is not None
            first = waiting.stderr.readline()
        stage.kill("api")
        said = next(line for line in waiting.stderr if "asking again" in line)
        stage.module("api", "service.api")
        with service_client(port):
            launches = measure(engine, 1.4)
            answer, _ = waiting.communicate(timeout=240)
    finally:
        stage.stop()

    assert "gate " in first
    assert "asking again in" in said
    assert launches == 4
    assert waiting.returncode == 3
    assert GateAnswer.model_validate(json.loads(answer)).exit_code == 3
