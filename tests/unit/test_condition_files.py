"""A condition file states a whole condition and protocol, as a plan of the matrix would."""

from pathlib import Path

import pytest

from service.domain.condition import Load, Occupancy
from service.domain.key import content_key
from service.formats.condition_files import StatedCondition, read_condition
from service.formats.matrix_files import Matrix, read_matrix
from service.formats.planned_cells import planned_cells
from service.formats.yaml_file import FileProblemsError
from tests.tracked_files import ROOT

DEMO = """\
model: tiny-llama
workload: tiny-short
client: sglang-0.5.23
cards: {model: core, form: shared, occupancy: packed}
layout: {tp: 2}
concurrency: 4
seeds: [11, 12]
"""


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return read_matrix(ROOT / "matrix")


def stated(matrix: Matrix, place: Path, text: str = DEMO) -> StatedCondition:
    path = place / "condition.yaml"
    path.write_text(text)
    return read_condition(path, matrix)


def problems(matrix: Matrix, place: Path, text: str) -> str:
    with pytest.raises(FileProblemsError) as refused:
        stated(matrix, place, text)
    return str(refused.value)


def test_it_states_the_very_cell_that_a_plan_measures(matrix: Matrix, tmp_path: Path) -> None:
    cells = planned_cells(matrix, matrix.plans.named("demo"))
    found = stated(matrix, tmp_path)

    keys = {(cell.condition.key, cell.protocol.key) for cell in cells}
    assert (found.condition.key, found.protocol.key) in keys
    assert found.unknown == ()


def test_what_is_left_out_is_the_workloads_and_one_card(matrix: Matrix, tmp_path: Path) -> None:
    text = DEMO.replace("layout: {tp: 2}\n", "")
    condition = stated(matrix, tmp_path, text).condition

    assert condition.cards.count == 1
    assert condition.cards.occupancy is Occupancy.PACKED
    assert condition.traffic.prompts == 20
    assert condition.traffic.load is Load.CLOSED
    assert condition.traffic.seeds_digest == content_key([11, 12])


def test_what_is_not_the_workloads_is_said_here(matrix: Matrix, tmp_path: Path) -> None:
    more = "dataset: random\nlengths: normal(64,4)\nprompts: 7\n"
    server = "server: {arguments: {page-size: 16}}\n"
    condition = stated(matrix, tmp_path, DEMO + more + server).condition

    assert condition.traffic.dataset == "random"
    assert condition.traffic.lengths == "normal(64,4)"
    assert condition.traffic.prompts == 7
    assert condition.server_arguments["page-size"] == 16


def test_a_tool_may_stand_in_place_of_a_client(matrix: Matrix, tmp_path: Path) -> None:
    text = DEMO.replace(
        "client: sglang-0.5.23", "measured_by: {tool: vllm.bench_serve, version: 0.11.0}"
    )
    protocol = stated(matrix, tmp_path, text).protocol

    assert (protocol.client, protocol.client_version) == ("vllm.bench_serve", "0.11.0")


def test_what_even_a_person_does_not_know_is_named(matrix: Matrix, tmp_path: Path) -> None:
    text = DEMO.replace("model: tiny-llama", "model: qwen3-4b-instruct-2507")
    found = stated(matrix, tmp_path, text.replace("[11, 12]", "unknown"))

    assert len(found.unknown) == 3
    assert found.condition.traffic.seeds_digest == "unknown"
    assert found.condition.model.weights_digest == "unknown"


def test_every_wrong_name_is_told_at_once_with_its_line(matrix: Matrix, tmp_path: Path) -> None:
    told = problems(
        matrix,
        tmp_path,
        DEMO.replace("tiny-short", "tiny-shirt").replace("sglang-0.5.23", "sglang-0.5.2"),
    )

    assert "condition.yaml:2: workload: no workload 'tiny-shirt'; did you mean" in told
    assert "condition.yaml:3: client: no client 'sglang-0.5.2'; did you mean" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            DEMO.replace("concurrency: 4\n", ""),
            "condition.yaml:1: concurrency: tiny-short has no concurrency: name one here",
            id="no concurrency anywhere",
        ),
        pytest.param(
            DEMO + "measured_by: {tool: sglang.bench_serving, version: 0.5.23}\n",
            "say either client or measured_by, and not both",
            id="two clients",
        ),
        pytest.param(
            DEMO + "server: {arguments: {attention-backend: fa3}}\n",
            "attention-backend",
            id="arguments that the model asks for otherwise",
        ),
        pytest.param(DEMO.replace("[11, 12]", "[11, 11]"), "a seed stands twice", id="seeds"),
        pytest.param(DEMO.replace("[11, 12]", "some"), "seeds: must be a list", id="no seeds"),
        pytest.param("", "the file is empty", id="nothing"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    matrix: Matrix, tmp_path: Path, text: str, told: str
) -> None:
    assert told in problems(matrix, tmp_path, text)
