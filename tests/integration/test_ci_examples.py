"""The examples of docs/ci and action.yml: read as their servers read them, and run.

Their own command lines run, with a recorded answer instead of a measurement, and with a stand-in
instead of the forge. What only the forge can do (fetch an action, keep an artefact) is left out.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gate_answers import passes, regressed
from tests.integration.forges import HEAD, REPOSITORY, GiteeStandIn, GitHubStandIn, standing_in
from tests.integration.recorded_gate import stub
from tests.tracked_files import ROOT

CI = ROOT / "docs/ci"
ACTION = ROOT / "action.yml"
WORKFLOWS = (CI / "github-gate.yml", CI / "github-report.yml")
PIPELINES = (CI / "Jenkinsfile", CI / "Jenkinsfile.gitee")
TOKEN = "a-token-of-the-test"
EXPRESSION = re.compile(r"\$\{\{")
# As GitHub runs a step with `shell: bash`, and as others run a script.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
SH = ("sh", "-xe", "-c")
# What a step leaves to the machine: building a wheel needs a network, so it only leaves a file.
PYTHON = """#!/bin/sh
case "$*" in
  "-m pip wheel --no-deps --wheel-dir dist .") mkdir -p dist; : > dist/a-1-py3-none-any.whl ;;
  *) echo "python3 $*" >&2; exit 97 ;;
esac
"""


def yaml_of(path: Path) -> dict[Any, Any]:
    """Return a YAML document."""
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def write_program(folder: Path, name: str, text: str) -> None:
    """Write a program that is found on the PATH."""
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return the path of a recorded answer that says regressed."""
    path = tmp_path / "recorded.json"
    path.write_text(regressed().model_dump_json())
    return path


@pytest.fixture
def programs(tmp_path: Path, recorded: Path) -> Path:
    """Return a folder with the programs that the examples run."""
    folder = tmp_path / "bin"
    write_program(folder, "python3", PYTHON)
    stub(folder, recorded)
    return folder


def run(
    lines: str, place: Path, programs: Path, *, shell: tuple[str, ...], **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the lines of a step in a folder, with nothing of our own environment but the PATH."""
    place.mkdir(exist_ok=True)
    whole = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(place), **environ}
    return subprocess.run(
        [*shell, lines],
        cwd=place,
        env=whole,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    forge = GitHubStandIn(tokens={TOKEN: None}, apps={TOKEN})
    with standing_in(forge):
        yield forge
    assert forge.odd == []


def action_step(name: str) -> dict[str, Any]:
    """Return one step of the action."""
    (step,) = (each for each in yaml_of(ACTION)["runs"]["steps"] if each["name"] == name)
    found: dict[str, Any] = step
    return found


def action_environment(tmp_path: Path, forge: GitHubStandIn, **inputs: str) -> dict[str, str]:
    """Return what GitHub sets for the action's step, expressions filled in, and its own variables.

    inputs: by their names with underscores; the others have their defaults.
    """
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    values = {
        f"inputs.{name}": given.get(name, str(told["default"]))
        for name, told in yaml_of(ACTION)["inputs"].items()
    }
    values |= {"inputs.github-token": TOKEN, "github.job": "gate"}
    values |= {"github.run_id": "12", "github.run_attempt": "1"}
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": HEAD}}}))
    return {
        **{name: filled(text, values) for name, text in action_step("Gate")["env"].items()},
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_API_URL": forge.url,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "RUNNER_TEMP": str(tmp_path / "runner"),
    }


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its expressions replaced by their values."""
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: values[found[1]], text)


@pytest.fixture
def installed(tmp_path: Path, recorded: Path) -> Path:
    """Return where the action's first step has installed kunline, with a recorded answer."""
    folder = tmp_path / "runner/kunline/bin"
    folder.mkdir(parents=True)
    stub(folder, recorded)
    write_program(folder, "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    return folder


def test_the_action_installs_what_is_locked_and_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "pip.log"
    pip = f'#!/bin/sh\necho "$@" >> {log}\n'
    venv = (
        f'#!/bin/sh\nmkdir -p "$3/bin"\nprintf %s \'{pip}\' > "$3/bin/pip"\nchmod +x "$3/bin/pip"\n'
    )
    write_program(tmp_path / "bin", "python3", venv)
    environ = {"PYTHON": "python3", "GITHUB_ACTION_PATH": "/action", "RUNNER_TEMP": str(tmp_path)}
    done = run(
        action_step("Install kunline")["run"], tmp_path, tmp_path / "bin", shell=BASH, **environ
    )
    first, second = log.read_text().splitlines()

    assert done.returncode == 0, done.stderr
    assert "--require-hashes" in first
    assert first.endswith("-r /action/requirements.lock")
    assert "--no-deps --no-build-isolation /action" in second


def test_the_action_ends_as_the_gate_does_and_tells_its_outcome(
    tmp_path: Path, installed: Path, github: GitHubStandIn
) -> None:
    inputs = {"with": "sglang-kunlun=./dist/*.whl\nsglang=0.5.23", "budget": "20m"}
    environ = action_environment(tmp_path, github, **inputs)
    done = run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)
    outputs = dict(line.split("=") for line in Path(environ["GITHUB_OUTPUT"]).read_text().split())

    assert done.returncode == 3, done.stderr
    assert outputs["exit-code"] == "3"
    assert outputs["outcome"] == "regressed"
    assert json.loads((tmp_path / outputs["answer"]).read_text())["plan"] == "pr"
    assert len(github.comments) == len(github.checks) == 1
    assert "### What moved" in Path(environ["GITHUB_STEP_SUMMARY"]).read_text()
    assert "::error title=" in done.stdout


@pytest.mark.parametrize(
    ("given", "words"), [({}, []), ({"base": "stack:b"}, ["--base stack:b"])], ids=["none", "one"]
)
def test_a_local_action_names_a_base_only_where_it_was_told_one(
    tmp_path: Path, installed: Path, github: GitHubStandIn, given: dict[str, str], words: list[str]
) -> None:
    (installed / "kunline").write_text('#!/bin/sh\necho "$*"\n')
    environ = action_environment(tmp_path, github, plan="pr-cpu", local="true", **given)
    done = run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)

    assert re.findall(r"--base \S+|--local", done.stdout) == [*words, "--local"]


def test_the_action_ends_well_where_the_plan_lets_pass(
    tmp_path: Path, installed: Path, recorded: Path, github: GitHubStandIn
) -> None:
    recorded.write_text(passes().model_dump_json())
    environ = action_environment(tmp_path, github, language="zh")
    done = run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)

    assert done.returncode == 0, done.stderr
    assert github.checks[0]["conclusion"] == "neutral"
    assert "无法判定" in github.comments[0]["body"]


def test_the_action_prints_no_secret(
    tmp_path: Path, installed: Path, github: GitHubStandIn
) -> None:
    secrets = {"token": "kunline-secret", "webhook_secret": "webhook-secret-of-16"}
    environ = action_environment(tmp_path, github, webhook="ftp://x.example", **secrets)
    github.tokens = {}
    done = run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)
    written = "".join(path.read_text() for path in (tmp_path / "kunline-answer").iterdir())

    assert "not delivered: comment on GitHub" in done.stderr
    for secret in (TOKEN, *secrets.values()):
        assert secret not in done.stdout + done.stderr + written


def test_the_action_fails_as_well_where_it_must_deliver(
    tmp_path: Path, installed: Path, github: GitHubStandIn
) -> None:
    github.tokens = {}
    environ = action_environment(tmp_path, github, must_deliver="true")
    done = run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)

    assert done.returncode == 1
    assert "the gate itself is regressed (3)" in done.stderr


def test_a_hostile_input_is_a_word_and_no_command(
    tmp_path: Path, installed: Path, github: GitHubStandIn
) -> None:
    environ = action_environment(tmp_path, github, plan="pr'; touch pwned; $(touch pwned)")
    run(action_step("Gate")["run"], tmp_path, installed, shell=BASH, **environ)

    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_no_expression_stands_in_a_line_that_a_shell_runs(path: Path) -> None:
    document = yaml_of(path)
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    lines = [step["run"] for job in jobs for step in job["steps"] if "run" in step]

    assert lines
    assert [each for each in lines if EXPRESSION.search(each)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_pins_every_action_and_asks_for_no_more_than_it_needs(path: Path) -> None:
    document = yaml_of(path)
    uses = [
        step["uses"] for job in document["jobs"].values() for step in job["steps"] if "uses" in step
    ]

    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in uses)
    assert "write-all" not in document["permissions"]
    assert set(document["permissions"]) <= {"contents", "actions", "checks", "pull-requests"}


def test_the_workflow_gives_the_action_only_inputs_that_it_has() -> None:
    steps = yaml_of(CI / "github-gate.yml")["jobs"]["gate"]["steps"]
    (given,) = (step["with"] for step in steps if step.get("name") == "Gate")

    assert set(given) <= set(yaml_of(ACTION)["inputs"])


def test_every_input_and_output_of_the_action_is_described_and_used() -> None:
    document = yaml_of(ACTION)
    text = ACTION.read_text()

    assert all(told["description"] for told in document["inputs"].values())
    assert all(f"inputs.{name} " in text for name in document["inputs"])
    assert all(told["description"] for told in document["outputs"].values())


def test_the_workflow_builds_the_wheel_that_it_names(tmp_path: Path, programs: Path) -> None:
    steps = yaml_of(CI / "github-gate.yml")["jobs"]["gate"]["steps"]
    (lines,) = (step["run"] for step in steps if "run" in step)

    assert run(lines, tmp_path / "work", programs, shell=BASH).returncode == 0
    assert list((tmp_path / "work/dist").glob("*.whl"))


def test_a_forks_answer_becomes_a_comment_and_no_check(
    tmp_path: Path, programs: Path, recorded: Path, github: GitHubStandIn
) -> None:
    (step,) = yaml_of(CI / "github-report.yml")["jobs"]["report"]["steps"]
    gh = f'#!/bin/sh\ncase "$1" in\n  run) mkdir -p answer && cp {recorded} answer/answer.json ;;\n'
    write_program(programs, "gh", f"{gh}  api) echo 7 ;;\n  *) exit 97 ;;\nesac\n")
    done = run(
        step["run"],
        tmp_path / "work",
        programs,
        shell=BASH,
        GITHUB_REPOSITORY=REPOSITORY,
        GITHUB_API_URL=github.url,
        KUNLINE_GITHUB_TOKEN=TOKEN,
        KUNLINE_COMMIT=HEAD,
        RUN="12",
    )

    assert done.returncode == 0, done.stderr
    assert len(github.comments) == 1
    assert github.checks == github.statuses == []


def test_the_gitlab_job_runs_and_leaves_what_it_says(tmp_path: Path, programs: Path) -> None:
    (job,) = yaml_of(CI / "gitlab-ci.yml").values()
    codes = [
        run(
            line,
            tmp_path / "work",
            programs,
            shell=SH,
            CI_PIPELINE_ID="1",
            CI_JOB_ID="2",
            **job["variables"],
        ).returncode
        for line in job["script"]
    ]

    assert codes == [0, 3]
    assert (tmp_path / "work" / job["artifacts"]["reports"]["junit"]).is_file()
    assert job["artifacts"]["when"] == "always"
    assert "门禁" in (tmp_path / "work/kunline/answer.md").read_text()
    assert codes[1] not in job["allow_failure"]["exit_codes"]


def shell_blocks(path: Path) -> list[str]:
    """Return the shell lines of a Jenkins pipeline, as Groovy reads them."""
    return [
        block.replace("\\\\", "\\")
        for block in re.findall(r"'''\n(.*?)'''", path.read_text(), re.DOTALL)
    ]


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.name)
def test_a_jenkins_pipeline_closes_what_it_opens(path: Path) -> None:
    outside = re.sub(
        r"'''.*?'''|'[^'\n]*'|\"[^\"\n]*\"|//.*", "", path.read_text(), flags=re.DOTALL
    )

    assert outside.count("{") == outside.count("}")
    assert outside.count("(") == outside.count(")")


def test_the_jenkins_pipeline_runs_and_leaves_what_it_says(tmp_path: Path, programs: Path) -> None:
    path = CI / "Jenkinsfile"
    wheel, gate = shell_blocks(path)
    assert run(wheel, tmp_path / "work", programs, shell=SH).returncode == 0
    done = run(gate, tmp_path / "work", programs, shell=SH, BUILD_TAG="jenkins-1")
    (results,) = re.findall(r"testResults: '([^']+)'", path.read_text())

    assert done.returncode == 3, done.stderr
    assert (tmp_path / "work" / results).is_file()


def test_the_gitee_pipeline_delivers_what_the_gate_answered(tmp_path: Path, programs: Path) -> None:
    gate, report = shell_blocks(CI / "Jenkinsfile.gitee")
    owner, name = REPOSITORY.split("/")
    with standing_in(GiteeStandIn(tokens={TOKEN: "kunline-bot"})) as forge:
        environ = {
            "BUILD_TAG": "jenkins-1",
            "BUILD_URL": "https://ci.example/1",
            "KUNLINE_LANG": "zh",
            "KUNLINE_GITEE_TOKEN": TOKEN,
            "KUNLINE_GITEE_API_URL": f"{forge.url}/api",
            "giteePullRequestIid": "7",
            "giteePullRequestLastCommit": HEAD,
            "giteeTargetNamespace": owner,
            "giteeTargetRepoName": name,
        }
        codes = [
            run(lines, tmp_path / "work", programs, shell=SH, **environ).returncode
            for lines in (gate, report, report)
        ]

    assert codes == [3, 0, 0]
    assert forge.odd == []
    assert "门禁：退化" in forge.comments[0]["body"]
    assert len(forge.comments) == len(forge.checks) == 1


def test_without_an_answer_the_gitee_pipeline_delivers_nothing(
    tmp_path: Path, programs: Path
) -> None:
    _, report = shell_blocks(CI / "Jenkinsfile.gitee")

    assert run(report, tmp_path / "work", programs, shell=SH).returncode == 0


def test_the_recorded_gate_refuses_what_the_real_one_does(tmp_path: Path, programs: Path) -> None:
    done = run("kunline gate --by-magic", tmp_path / "work", programs, shell=SH)

    assert done.returncode == 2
    assert "--by-magic" in done.stderr
