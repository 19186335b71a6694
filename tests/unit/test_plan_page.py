"""What `kunline plan` and `kunline matrix check` print, and their exit codes."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from service.cli.columns import duration
from service.cli.matrix import check
from service.cli.plan import plan
from tests.matrix_directory import matrix_directory

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

app = typer.Typer()
app.command("check")(check)
app.command("plan")(plan)


@pytest.fixture
def matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    matrix_directory(tmp_path / "matrix")
    return Path("matrix")


def run(*words: str) -> tuple[int, str, str]:
    answer = CliRunner().invoke(app, list(words))
    return answer.exit_code, answer.stdout, answer.stderr


def test_a_plan_is_shown_as_a_page(matrix: Path) -> None:
    code, out, _ = run("plan", "small", "--matrix", str(matrix))

    assert (code, out) == (0, (GOLDEN / "plan.txt").read_text(encoding="utf-8"))


def test_a_plan_is_one_json_document(matrix: Path) -> None:
    code, out, _ = run("plan", "small", "--matrix", str(matrix), "--json")

    told = json.loads(out)
    assert code == 0
    assert len(told["cells"]) == 6
    assert [launch["cells"] for launch in told["launches"][::4]] == [[1, 2, 5, 6], [3, 4]]
    assert told["expected"] == {"wall_s": 600.0, "card_s": 840.0}
    assert told["obstacles"] == []


def test_a_plan_may_be_a_path(matrix: Path) -> None:
    code, out, _ = run("plan", "matrix/plans/small.yaml", "--matrix", str(matrix))

    assert code == 0
    assert out.startswith("plan small: 6 cells")


def test_what_stands_in_the_way_of_a_plan_is_said_and_is_no_error(matrix: Path) -> None:
    code, out, _ = run("plan", "small", "--with", "sglang=0.5.20", "--matrix", str(matrix))

    assert code == 0
    assert out.splitlines()[-1] == (
        "cannot be run yet: stack cpu-0.5.23+sglang=0.5.20: its lock pins sglang==0.5.23, "
        "so sglang==0.5.20 needs a stack file and a lock of its own."
    )


def test_too_few_repeats_for_a_verdict_are_said(matrix: Path) -> None:
    file = matrix / "plans" / "small.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "launches: 1\n", encoding="utf-8")

    _, out, _ = run("plan", "small", "--matrix", str(matrix))

    assert "no verdicts: the policy asks for 5 repeats." in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["smal"], "no plan 'smal'; did you mean 'small'?", id="an unknown plan"),
        pytest.param(
            ["small", "--stack", "cpu-0.5.19"],
            "no stack 'cpu-0.5.19'; did you mean 'cpu-0.5.18'?",
            id="an unknown stack",
        ),
        pytest.param(
            ["small", "--with", "sglang"],
            "--with takes component=version, not 'sglang'",
            id="no version",
        ),
        pytest.param(
            ["small", "--with", "sglang=./dist/a.whl"],
            "'sglang=./dist/a.whl' names a path, and here --with takes component=version; a gate "
            "takes wheels (docs/ci-gate.md)",
            id="a path",
        ),
        pytest.param(
            ["none/small.yaml"],
            "none/small.yaml:1: cannot be read: No such file or directory",
            id="no such path",
        ),
    ],
)
def test_wrong_input_is_told_on_stderr_and_exits_2(
    matrix: Path, words: list[str], message: str
) -> None:
    code, out, err = run("plan", *words, "--matrix", str(matrix))

    assert (code, out, err.strip()) == (2, "", message)


def test_a_matrix_in_order_is_summed_up(matrix: Path) -> None:
    code, out, _ = run("check", str(matrix))

    assert code == 0
    assert out == "in order: 3 stacks, 2 models, 3 workloads, 1 client, 1 plan\n"


def test_every_problem_of_a_matrix_is_a_line(matrix: Path) -> None:
    matrix_directory(matrix, models__tiny="name: tiny\nid: 1\n", workloads__short="load: close\n")

    code, out, err = run("check", str(matrix))

    assert (code, out) == (2, (GOLDEN / "matrix_check.txt").read_text(encoding="utf-8"))
    assert err == "6 problems in 2 files\n"


def test_the_problems_of_a_matrix_are_one_json_document(matrix: Path) -> None:
    matrix_directory(matrix, models__unstaged="")

    code, out, _ = run("check", str(matrix), "--json")

    assert code == 2
    assert json.loads(out)["problems"] == [
        {
            "file": "matrix/models/unstaged.yaml",
            "line": 1,
            "field": "",
            "message": "the file is empty",
        }
    ]


def test_the_matrix_may_be_named_by_the_environment(
    matrix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUNLINE_MATRIX_DIR", str(matrix))

    assert run("check")[1].startswith("in order: 3 stacks")


@pytest.mark.parametrize(
    ("seconds", "text"), [(45, "45 s"), (99, "99 s"), (720, "12 min"), (12240, "3.4 h")]
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
