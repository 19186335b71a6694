"""Somebody's CSV under a mapping: every row a result, every wrong cell told with its place."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from service.cli.exit_codes import USAGE, VALIDITY_EXIT_CODE
from service.cli.main import main
from service.domain.reading import Reading, Readings
from service.domain.validity import Severity, Validity
from service.formats.mapping_files import MappingFile
from service.formats.tools.csv_rows import rows_of, tool_of
from service.formats.tools.registry import read_bytes, read_file
from service.formats.tools.tool import Found, Parsed, Problem
from tests.shared_data import shared
from tests.tracked_files import ROOT

DOCUMENT = ROOT / "docs" / "csv-mapping.md"
FENCED = re.compile(r"^```(csv|yaml)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
TABLE_ROW = re.compile(r"^\|( \d+ \|.*)\|$", flags=re.MULTILINE)

COLUMNS: dict[str, Any] = {
    "users": {"condition": "concurrency"},
    "sent": {"fact": "requests_asked"},
    "done": {"fact": "requests_completed"},
    "ttft": {"metric": "ttft_p50", "unit": "ms"},
    "out": {"metric": "output_throughput", "unit": "tok/s"},
}


def mapping(**changes: Any) -> MappingFile:
    return MappingFile.model_validate({"tool": "ours", "columns": COLUMNS} | changes)


def read(content: str, under: MappingFile | None = None) -> Readings:
    return read_bytes(content.encode(), file="x.csv", text_tools=(tool_of(under or mapping()),))


def failures(found: Reading) -> list[str]:
    return [each.code for each in found.findings if each.severity is Severity.FAILURE]


def test_each_row_is_a_result_with_its_line() -> None:
    found = read("users,sent,done,ttft,out\n8,96,96,70.5,153.6\n16,96,96,90,200\n")

    assert found.unreadable == ()
    assert [each.line for each in found.readings] == [2, 3]
    assert [each.tool for each in found.readings] == ["ours", "ours"]
    assert found.readings[0].metrics == pytest.approx(
        {"ttft_p50": 0.0705, "output_throughput": 153.6}
    )
    assert found.readings[0].condition == {"concurrency": 8}
    assert found.readings[0].facts.requests_completed == 96


def test_columns_stand_in_any_order_and_others_are_left_aside() -> None:
    found = read("note,out,ttft,done,sent,users\nhello,153.6,70,96,96,8\n")

    assert found.readings[0].metrics["output_throughput"] == 153.6


@pytest.mark.parametrize(
    ("under", "row", "seconds"),
    [
        pytest.param({"delimiter": ";", "decimal": ","}, "8;9;9;70,5;1", 0.0705, id="comma"),
        pytest.param({"delimiter": "\t"}, "8\t9\t9\t70.5\t1", 0.0705, id="tabs"),
        pytest.param({"thousands": ","}, '8,9,9,"1,070.5",1', 1.0705, id="thousands"),
        pytest.param(
            {"delimiter": ";", "decimal": ",", "thousands": "."},
            "8;9;9;1.070,5;1",
            1.0705,
            id="both",
        ),
    ],
)
def test_numbers_are_read_as_the_mapping_says(
    under: dict[str, Any], row: str, seconds: float
) -> None:
    heading = under.get("delimiter", ",").join(COLUMNS)
    found = read(f"{heading}\n{row}\n", mapping(**under))

    assert found.readings[0].metrics["ttft_p50"] == pytest.approx(seconds)


def test_a_byte_order_mark_crlf_and_empty_lines_are_no_matter() -> None:
    found = read("\ufeffusers,sent,done,ttft,out\r\n\r\n8,96,96,70,153.6\r\n,,,,\r\n")

    assert [each.line for each in found.readings] == [3]
    assert found.unreadable == ()


def test_a_cell_without_a_value_is_absent_and_zero_is_no_value() -> None:
    found = read("users,sent,done,ttft,out\n8,96,96,n/a,0\n")

    assert found.readings[0].metrics == {}
    assert found.readings[0].facts.ttft_p50 is None


def test_a_value_that_is_not_finite_is_invalid() -> None:
    found = read("users,sent,done,ttft,out\n8,96,96,NaN,inf\n")

    assert failures(found.readings[0]) == ["value_not_finite"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param("8,96,96,fast,1", "column 'ttft': 'fast' is not a number", id="no number"),
        pytest.param(
            "8,96,96,1_000,1", "column 'ttft': '1_000' is not a number", id="no such mark"
        ),
        pytest.param("8,96,9.5,70,1", "column 'done': '9.5' is not a count", id="a broken count"),
        pytest.param("8,96,-1,70,1", "column 'done': '-1' is not a count", id="a negative count"),
    ],
)
def test_a_wrong_cell_is_told_with_its_column_and_costs_its_row_alone(
    row: str, message: str
) -> None:
    found = read(f"users,sent,done,ttft,out\n{row}\n8,96,96,70,1\n")

    assert [(each.line, each.code, each.message) for each in found.unreadable] == [
        (2, "wrong_cell", message)
    ]
    assert [each.line for each in found.readings] == [3]


def test_a_row_of_another_length_is_told_and_costs_no_other() -> None:
    found = read("users,sent,done,ttft,out\n8,96\n8,96,96,70,1\n")

    assert [(each.line, each.code) for each in found.unreadable] == [(2, "wrong_row")]
    assert len(found.readings) == 1


def test_a_heading_that_is_not_there_is_told_with_the_nearest() -> None:
    found = read("users,sent,dome,ttft,out\n8,96,96,70,1\n")

    assert found.readings == ()
    assert [(each.line, each.code) for each in found.unreadable] == [(1, "missing_column")]
    assert "did you mean 'dome'?" in found.unreadable[0].message


def test_a_heading_that_stands_twice_is_told() -> None:
    found = read("users,sent,done,ttft,out,out\n8,96,96,70,1,2\n")

    assert found.readings == ()
    assert [each.message for each in found.unreadable] == ["2 columns are 'out'"]


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        pytest.param("96,48", ("requests_asked", "requests_completed"), id="asked and completed"),
        pytest.param("96,48", ("requests_asked", "requests_failed"), id="asked and failed"),
        pytest.param("48,48", ("requests_completed", "requests_failed"), id="completed and failed"),
    ],
)
def test_two_counts_of_requests_tell_the_third(cells: str, columns: tuple[str, str]) -> None:
    under = mapping(
        columns={name: {"fact": name} for name in columns}
        | {"out": {"metric": "output_throughput", "unit": "tok/s"}}
    )
    found = read(f"{','.join(columns)},out\n{cells},150\n", under)

    assert "requests_failed" in failures(found.readings[0])
    assert found.readings[0].facts.requests_asked == 96


def test_all_failed_is_invalid() -> None:
    found = read("users,sent,done,ttft,out\n8,96,0,0,0\n")

    assert "requests_failed" in failures(found.readings[0])


def test_fixed_lengths_hold_the_counts_to_the_condition() -> None:
    under = mapping(
        lengths="fixed",
        condition={"output_tokens": 64},
        columns=COLUMNS | {"tokens": {"fact": "output_tokens"}},
    )
    found = read("users,sent,done,ttft,out,tokens\n8,96,96,70,1,3000\n", under)

    assert failures(found.readings[0]) == ["output_tokens_not_as_asked"]


@pytest.mark.parametrize(
    ("read_as", "told"),
    [
        pytest.param(None, [8, 0.5, "a100"], id="as it looks"),
        pytest.param("text", ["8", "0.5", "a100"], id="as text"),
    ],
)
def test_a_field_of_the_condition_is_read_as_the_mapping_says(
    read_as: str | None, told: list[object]
) -> None:
    under = mapping(
        columns={
            "x": {"condition": "x", "read_as": read_as},
            "out": {"metric": "output_throughput", "unit": "tok/s"},
        }
    )
    found = read("x,out\n8,1\n0.5,1\na100,1\n", under)

    assert [each.condition["x"] for each in found.readings] == told


def test_a_quote_that_never_closes_is_told_and_what_came_before_is_kept() -> None:
    found = read('users,sent,done,ttft,out\n8,96,96,70,1\n8,"96,96,70,1\n' + "x" * 2**20 + "\n")

    assert [each.line for each in found.readings] == [2]
    assert [each.code for each in found.unreadable][:1] == ["not_csv"]


def test_rows_are_given_as_they_are_read() -> None:
    taken: list[int] = []

    def lines() -> Iterator[str]:
        yield "users,sent,done,ttft,out\n"
        for number in range(1_000_000):
            taken.append(number)
            yield "8,96,96,70,1\n"

    first = next(rows_of(lines(), mapping()))

    assert isinstance(first, Found)
    assert len(taken) == 1


def test_a_file_of_json_is_read_as_always() -> None:
    found = read('{"some": "object"}\n')

    assert [each.code for each in found.unreadable] == ["unknown_tool"]


def test_a_real_file_of_a_sweep_is_read() -> None:
    under = mapping(
        columns={
            "Successful requests": {"fact": "requests_completed"},
            "Benchmark duration (s)": {"metric": "duration", "unit": "s"},
            "Total generated tokens": {"fact": "output_tokens"},
            "Output token throughput (tok/s)": {"metric": "output_throughput", "unit": "tok/s"},
            "Median TTFT (ms)": {"metric": "ttft_p50", "unit": "ms"},
        }
    )
    path = shared("bench/csv_peers/dstack/result_vllm_short.csv")
    found = read_file(path, text_tools=(tool_of(under),))

    assert found.unreadable == ()
    assert [each.facts.requests_completed for each in found.readings] == [
        2**power for power in range(12)
    ]
    assert found.readings[0].metrics["ttft_p50"] == pytest.approx(0.31458)
    # Throughput, tokens and duration of each row fit together.
    assert all(
        each.metrics["output_throughput"] * each.metrics["duration"]
        == pytest.approx(each.facts.output_tokens, rel=0.01)
        for each in found.readings
    )


@pytest.fixture
def example(tmp_path: Path) -> list[str]:
    """Write the example of the document; return the command's words."""
    blocks = dict(FENCED.findall(DOCUMENT.read_text()))
    (tmp_path / "results.csv").write_text(blocks["csv"])
    (tmp_path / "map.yaml").write_text(blocks["yaml"])
    return ["read", str(tmp_path / "results.csv"), "--mapping", str(tmp_path / "map.yaml")]


def shown(reading: dict[str, Any]) -> tuple[str, ...]:
    values = (
        f"{told['value']:g} {told['unit']}" if (told := reading["metrics"].get(name)) else ""
        for name in ("output_throughput", "ttft_p50", "tpot_p50")
    )
    return str(reading["line"]), reading["validity"], *values


def test_the_documents_example_gives_what_the_document_says(example: list[str]) -> None:
    done = CliRunner().invoke(main, [*example, "--json"])
    readings = json.loads(done.stdout)["readings"]
    promised = [
        tuple(cell.strip() for cell in row.split("|"))
        for row in TABLE_ROW.findall(DOCUMENT.read_text())
    ]

    assert done.exit_code == VALIDITY_EXIT_CODE[Validity.INVALID]
    assert [shown(each) for each in readings] == promised
    assert readings[1]["problems"][0]["code"] == "requests_failed"


def test_a_mapping_that_is_wrong_ends_with_wrong_usage_and_says_where(example: list[str]) -> None:
    path = Path(example[-1])
    path.write_text(path.read_text().replace("tpot_p50, unit: ms", "tpot_p50, unit: mss"))
    done = CliRunner().invoke(main, example)

    assert done.exit_code == USAGE
    assert "columns.ms/token.unit: tpot_p50 is not measured in 'mss'" in done.stderr
    assert "did you mean 'ms'?" in done.stderr
    assert str(path) in done.stderr


@given(st.text(max_size=200), st.sampled_from([",", ";", "\t", "|"]), st.booleans())
def test_no_text_breaks_it(text: str, delimiter: str, headed: bool) -> None:
    heading = delimiter.join(COLUMNS) + "\n" if headed else ""
    lines = (heading + text).splitlines(keepends=True)
    found: list[Found[Parsed] | Problem] = list(rows_of(lines, mapping(delimiter=delimiter)))

    assert all(each.line is not None and each.line >= 1 for each in found)
