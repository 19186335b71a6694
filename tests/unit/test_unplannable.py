"""What no session can be made of: every command that plans stacks says so and exits 2."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.main import main
from tests.matrix_directory import FILES, matrix_directory

# Nobody listens there: whoever gets so far has planned what cannot be planned.
AWAY = "http://127.0.0.1:9"
GOOD = FILES["stacks/cpu-0.5.18.yaml"]
STACKS = {
    "stacks__asks-otherwise": GOOD.replace("name: cpu-0.5.18", "name: asks-otherwise").replace(
        "{sleep-on-idle: true}", "{sleep-on-idle: true, page-size: 32}"
    ),
    "stacks__other-chip": GOOD.replace("name: cpu-0.5.18", "name: other-chip")
    .replace("chip: cpu", "chip: kunlun")
    .replace('"1"', '"2"'),
}
# The stack that cannot be planned stands at BAD.
COMMANDS = {
    "plan": ("plan", "small", "--stack", "cpu-0.5.18", "--stack", "BAD"),
    "run": ("run", "small", "--stack", "cpu-0.5.18", "--stack", "BAD"),
    "schedule": (
        "schedule", "set", "small", "--stack", "BAD", "--at", "02:00", "--why", "nightly",
    ),
    "noise": ("noise", "small", "--stack", "BAD"),
    "qualify": (
        "qualify", "--plan", "small", "--from", "cpu-0.5.18", "--to", "BAD", "--canary", "h1",
    ),
    "gate": ("gate", "--plan", "small", "--base", "stack:cpu-0.5.18", "--stack", "BAD"),
    "attribute": ("attribute", "--plan", "small", "--good", "cpu-0.5.18", "--bad", "BAD"),
    "attribute from it": ("attribute", "--plan", "small", "--good", "BAD", "--bad", "cpu-0.5.18"),
    "experiment": ("experiment", "small", "--stack", "BAD", "--set", "OMP_NUM_THREADS=1,2"),
}  # fmt: skip


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return matrix_directory(tmp_path, **STACKS)


def answer(matrix: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*words, "--matrix", str(matrix)], env={"KUNLINE_URL": AWAY})
    assert done.stdout == ""
    return done.exit_code, done.stderr


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        pytest.param("asks-otherwise", "--page-size is 16 in", id="a flag of two values"),
        pytest.param("other-chip", "for chip kunlun, and the", id="a stack of another chip"),
    ],
)
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_stack_that_a_plan_cannot_measure_is_named_before_anything_is_asked(
    matrix: Path, words: tuple[str, ...], bad: str, said: str
) -> None:
    code, err = answer(matrix, *(word.replace("BAD", bad) for word in words))

    assert code == 2
    assert said in err
    assert bad in err


def test_an_experiment_on_what_the_condition_fixes_names_both_places(matrix: Path) -> None:
    setting = "--page-size=default,32"

    code, err = answer(matrix, "experiment", "small", "--set", setting)

    assert code == 2
    assert f"--page-size is 16 in {matrix}/models/tiny.yaml" in err
    assert f"32 in {matrix}/stacks/cpu-0.5.18.yaml with --page-size=32" in err
