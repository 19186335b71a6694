"""The matrix: its own files are in order, and every wrong reference is named."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from service.cli.matrix import matrix_problems
from service.formats.client_files import ClientFile
from service.formats.constraint_files import CONSTRAINTS, ConstraintsFile
from service.formats.matrix_files import POLICY, read_matrix
from service.formats.model_files import ModelFile
from service.formats.plan_files import PlanFile
from service.formats.stack_files import StackFile
from service.formats.workload_files import WorkloadFile
from service.formats.yaml_file import FileProblemsError, read_yaml
from tests.matrix_directory import FILES, matrix_directory

OURS = Path(__file__).resolve().parents[2] / "matrix"
SHAPES: list[type[BaseModel]] = [
    StackFile,
    ConstraintsFile,
    ModelFile,
    WorkloadFile,
    ClientFile,
    PlanFile,
]


def problems(root: Path, **changed: str) -> list[str]:
    matrix = read_matrix(matrix_directory(root, **changed))
    return [str(problem).removeprefix(f"{root}/") for problem in matrix_problems(matrix)]


def test_our_own_matrix_is_in_order() -> None:
    assert matrix_problems(read_matrix(OURS)) == ()


def test_our_own_matrix_has_the_plans_that_are_promised() -> None:
    plans = read_matrix(OURS).plans.files

    assert {"demo", "smoke", "p800-single", "p800-multi"} <= plans.keys()


def test_every_file_below_our_matrix_is_read() -> None:
    matrix = read_matrix(OURS)
    shelves = (matrix.stacks, matrix.models, matrix.workloads, matrix.clients, matrix.plans)
    read = {file.shown for shelf in shelves for file in shelf.files.values()}
    read |= {lock.shown for lock in matrix.locks.values()}

    there = {path for path in OURS.rglob("*") if path.is_file()}

    known = {Path(shown).resolve() for shown in read} | {OURS / "README.md", OURS / POLICY}
    known |= {OURS / CONSTRAINTS}
    assert there == known


@pytest.mark.parametrize("position", range(6))
def test_each_example_of_the_readme_is_a_legal_file(tmp_path: Path, position: int) -> None:
    text = (OURS / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    path = tmp_path / "example.yaml"
    path.write_text(examples[position], encoding="utf-8")

    file = read_yaml(path, SHAPES[position])

    assert len(examples) == len(SHAPES)
    assert isinstance(file.shape, SHAPES[position])


def test_a_matrix_in_order_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        pytest.param(
            "plans__small",
            "model: tiny",
            "model: tinny",
            "plans/small.yaml:4: model: no model 'tinny'; did you mean 'tiny'?",
            id="an unknown model",
        ),
        pytest.param(
            "plans__small",
            "client: client",
            "client: clint",
            "plans/small.yaml:5: client: no client 'clint'; did you mean 'client'?",
            id="an unknown client",
        ),
        pytest.param(
            "plans__small",
            "workload: arrivals",
            "workload: arrival",
            "plans/small.yaml:16: cells.1.workload: no workload 'arrival'; did you mean "
            "'arrivals'?",
            id="an unknown workload",
        ),
        pytest.param(
            "plans__small",
            "stacks: [cpu-0.5.18, cpu-0.5.23]",
            "stacks: [cpu-0.5.18, known-only]",
            "plans/small.yaml:6: stacks.1: the stack known-only is for chip kunlun, and the plan's "
            "cards are cpu",
            id="a stack for another chip",
        ),
        pytest.param(
            "plans__small",
            "baseline: cpu-0.5.18",
            "baseline: cpu-0.5.19",
            "plans/small.yaml:7: baseline: no stack 'cpu-0.5.19'; did you mean 'cpu-0.5.18'?",
            id="an unknown baseline",
        ),
        pytest.param(
            "plans__small",
            "layouts: [one-card]\n    why: Req",
            "layouts: [one-crad]\n    why: Req",
            "plans/small.yaml:17: cells.1.layouts: no layout 'one-crad' in this plan; did you mean "
            "'one-card'?",
            id="an unknown layout",
        ),
        pytest.param(
            "plans__small",
            "concurrency: [1, 4]",
            "rate: [1.0]",
            "plans/small.yaml:14: cells.0.rate: short is a closed load: it has a concurrency",
            id="a rate for a closed load",
        ),
        pytest.param(
            "plans__small",
            "concurrency: [1, 4]",
            "prompts: 8",
            "plans/small.yaml:13: cells.0.workload: short has no concurrency: name one here",
            id="no concurrency at all",
        ),
        pytest.param(
            "plans__small",
            "[1, 4]",
            "[4, 4]",
            "plans/small.yaml:12: cells: the same cell stands twice: short on one-card",
            id="the same cell twice",
        ),
        pytest.param(
            "plans__small",
            "seeds: [7, 8, 9]",
            "seeds: [7, 8]",
            "plans/small.yaml:1: 3 repeats need 3 seeds, not 2",
            id="too few seeds",
        ),
        pytest.param(
            "plans__small",
            "name: small",
            "name: large",
            "plans/small.yaml:1: name: 'large' is not the file's name, 'small'",
            id="another name than the file's",
        ),
        pytest.param(
            "stacks__cpu-0.5.18",
            "layer: driver",
            "layer: drivers",
            "stacks/cpu-0.5.18.yaml:9: components.3.layer: 'drivers' is not valid; did you mean "
            "'driver'?",
            id="an unknown layer",
        ),
        pytest.param(
            "stacks__cpu-0.5.18",
            'sglang, version: "0.5.18"',
            'sglang, version: "0.5.19"',
            "stacks/cpu-0.5.18.yaml:7: components.1.version: the lock pins 0.5.18",
            id="another version than the lock's",
        ),
        pytest.param(
            "stacks__cpu-0.5.18",
            "lock: cpu-0.5.18.lock",
            "lock: cpu-0.5.19.lock",
            "stacks/cpu-0.5.18.yaml:4: build.lock: no such file; did you mean 'cpu-0.5.18.lock'?",
            id="a lock that is not there",
        ),
        pytest.param(
            "stacks__cpu-0.5.18",
            "lock: cpu-0.5.18.lock",
            "lock: ../../cpu.lock",
            "stacks/cpu-0.5.18.yaml:4: build.lock: lies outside the matrix",
            id="a lock outside",
        ),
        pytest.param(
            "models__tiny",
            "page_size: 16",
            "port: 16",
            "models/tiny.yaml:7: server.arguments: --port is local to a host: the runner chooses "
            "it",
            id="what the runner chooses",
        ),
        pytest.param(
            "models__tiny",
            "page_size: 16",
            "tp: 2",
            "models/tiny.yaml:7: server.arguments: --tp-size is parallelism: say tp in the plan's "
            "layouts",
            id="parallelism among the arguments",
        ),
        pytest.param(
            "policy",
            "ttft_p50",
            "ttft_p55",
            "policy.yaml:1: tolerances: no metric 'ttft_p55'; did you mean ttft_p95?",
            id="an unknown metric",
        ),
    ],
)
def test_a_wrong_file_is_named_with_its_line_and_a_way_out(
    tmp_path: Path, name: str, old: str, new: str, problem: str
) -> None:
    text = FILES[f"{name.replace('__', '/')}.yaml"]

    found = problems(tmp_path, **{name: text.replace(old, new, 1)})

    assert problem in found


def test_two_files_that_ask_for_different_values_are_both_named(tmp_path: Path) -> None:
    plan = FILES["plans/small.yaml"] + "server: {arguments: {page-size: 32}}\n"

    found = problems(tmp_path, plans__small=plan)

    assert found == [
        f"plans/small.yaml:{line}: cells.{cell}: --page-size is 16 in {tmp_path}/models/tiny.yaml "
        f"and 32 in {tmp_path}/plans/small.yaml: take it out of one of them"
        for cell, line in enumerate([13, 16, 19])
    ]


def test_a_condition_and_a_stack_that_disagree_are_both_named(tmp_path: Path) -> None:
    plan = FILES["plans/small.yaml"] + "server: {environment: {OMP_NUM_THREADS: '2'}}\n"

    found = problems(tmp_path, plans__small=plan)

    assert "OMP_NUM_THREADS is '2' in" in found[0]
    assert f"'1' in {tmp_path}/stacks/cpu-0.5.18.yaml" in found[0]


def test_problems_of_several_files_are_all_told(tmp_path: Path) -> None:
    found = problems(tmp_path, models__tiny="", workloads__short="name: short\n")

    assert len(found) == 4
    assert {line.partition(":")[0] for line in found} == {
        "models/tiny.yaml",
        "workloads/short.yaml",
    }


def test_a_file_with_another_suffix_is_told(tmp_path: Path) -> None:
    root = matrix_directory(tmp_path)
    (root / "models" / "other.yml").write_text("name: other\n", encoding="utf-8")

    assert problems(root) == ["models/other.yml:1: name it other.yaml"]


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileProblemsError, match=r"none: no such directory; --matrix or KUNLINE_M"):
        read_matrix(tmp_path / "none")
