"""Mapping files: what is wrong in one is told with its line, its field and the nearest word."""

from pathlib import Path

import pytest

from service.domain.metric import METRICS
from service.formats.mapping_files import UNITS, read_mapping
from service.formats.yaml_file import FileProblemsError

GOOD = """\
tool: ours
columns:
  TTFT: {metric: ttft_p50, unit: ms}
"""


def written(path: Path, content: str) -> Path:
    file = path / "map.yaml"
    file.write_text(content)
    return file


def problems(path: Path, content: str) -> list[tuple[int, str, str]]:
    with pytest.raises(FileProblemsError) as caught:
        read_mapping(written(path, content))
    return [(each.line, each.field, each.message) for each in caught.value.problems]


def test_a_mapping_of_the_least_there_can_be(tmp_path: Path) -> None:
    mapping = read_mapping(written(tmp_path, GOOD))

    assert (mapping.tool, mapping.tool_version, mapping.definition) == ("ours", None, 1)
    assert (mapping.delimiter, mapping.decimal, mapping.row) == (",", ".", "result")
    assert mapping.columns["TTFT"].factor == 1e-3


def test_every_metric_has_units_and_its_base_unit_among_them() -> None:
    assert all(UNITS[metric.unit][metric.unit.value] == 1.0 for metric in METRICS.values())


@pytest.mark.parametrize(
    ("content", "line", "field", "message"),
    [
        pytest.param(
            GOOD + "delimeter: ';'\n", 4, "delimeter", "did you mean 'delimiter'?", id="a field"
        ),
        pytest.param(
            GOOD + "  out: {metric: output_troughput, unit: tok/s}\n",
            4,
            "columns.out.metric",
            "did you mean 'output_throughput'?",
            id="a metric",
        ),
        pytest.param(
            GOOD + "  out: {metric: output_throughput, unit: token/s}\n",
            4,
            "columns.out.unit",
            "did you mean 'tok/s'?",
            id="a unit of another spelling",
        ),
        pytest.param(
            GOOD + "  out: {metric: output_throughput, unit: ms}\n",
            4,
            "columns.out.unit",
            "is not measured in 'ms'",
            id="a unit of something else",
        ),
        pytest.param(
            GOOD + "  out: {metric: output_throughput}\n",
            4,
            "columns.out",
            "needs its unit: tok/s, tok/min",
            id="no unit",
        ),
        pytest.param(
            GOOD + "  n: {fact: request_completed}\n",
            4,
            "columns.n.fact",
            "did you mean 'requests_completed'?",
            id="a fact",
        ),
        pytest.param(
            GOOD + "  n: {fact: input_tokens, condition: input_tokens}\n",
            4,
            "columns.n",
            "one of metric, condition and fact",
            id="two things at once",
        ),
        pytest.param(
            GOOD + "  n: {condition: model, unit: s}\n",
            4,
            "columns.n",
            "only a metric has a unit",
            id="a condition with a unit",
        ),
        pytest.param(
            GOOD + "  n: {fact: input_tokens, read_as: text}\n",
            4,
            "columns.n",
            "a field of the condition alone",
            id="a fact as text",
        ),
        pytest.param(
            GOOD + "  t: {metric: ttft_p50, unit: s}\n",
            2,
            "columns",
            "'TTFT' and 't' both hold ttft_p50",
            id="two columns of one metric",
        ),
        pytest.param(
            "tool: ours\ncolumns:\n  n: {condition: model}\n",
            2,
            "columns",
            "no column holds a metric",
            id="nothing to read",
        ),
        pytest.param(
            GOOD + "row: results\n", 4, "row", "did you mean 'result'?", id="what a row is"
        ),
        pytest.param(
            GOOD + "thousands: '.'\n", 1, "", "are the same mark", id="one mark for two things"
        ),
        pytest.param(
            GOOD + "  m: {condition: model}\ncondition: {model: tiny}\n",
            1,
            "",
            "model is given for every row and by a column",
            id="a condition told twice",
        ),
        pytest.param(GOOD.removeprefix("tool: ours\n"), 1, "tool", "missing", id="no tool"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, content: str, line: int, field: str, message: str
) -> None:
    found = problems(tmp_path, content)

    assert found[0][:2] == (line, field)
    assert message in found[0][2]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    content = GOOD + "  a: {metric: nonsense, unit: s}\n  b: {fact: nothing}\nrow: x\n"

    assert [line for line, _, _ in problems(tmp_path, content)] == [4, 5, 6]
