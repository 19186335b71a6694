"""`kunline read`: every input there is, one JSON document, and the exit code of the worst."""

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli.read import paths_of, read
from service.formats.readings import ReadingsRead
from tests.golden_file import assert_golden
from tests.results import lines, serving, write

app = typer.Typer()
app.command()(read)

FINE = lines([serving(), serving()])
INVALID = lines([serving(median_ttft_ms=0.0)])


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def document(result: Result) -> dict[str, Any]:
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(FINE, 0, id="all readable, none invalid"),
        pytest.param(INVALID, 5, id="one invalid"),
        pytest.param(b"hello", 2, id="nothing readable"),
        pytest.param(FINE + b'{"cut', 2, id="a part unreadable"),
        pytest.param(INVALID + b'{"cut', 5, id="invalid before unreadable"),
    ],
)
def test_the_exit_code_is_that_of_the_worst(data: bytes, code: int, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_bytes(data)

    assert run(tmp_path / "out.jsonl").exit_code == code
    assert run(tmp_path / "out.jsonl", "--json").exit_code == code


def test_json_is_one_document_of_the_stated_shape(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_bytes(INVALID + b'{"cut')

    answer = document(run(tmp_path / "out.jsonl", "--json"))

    (reading,) = answer["readings"]
    assert reading["line"] == 1
    assert reading["validity"] == "invalid"
    assert [each["code"] for each in reading["problems"]] == ["ttft_zero", "condition_incomplete"]
    assert reading["metrics"]["output_throughput"] == {"value": 153.6, "unit": "tok/s"}
    assert [each["code"] for each in answer["unreadable"]] == ["truncated"]
    jsonschema.validate(answer, ReadingsRead.model_json_schema(mode="serialization"))


def test_a_bare_result_says_what_the_file_cannot_settle(tmp_path: Path) -> None:
    answer = document(run(write(tmp_path / "out.jsonl", [serving()]), "--json"))

    (problem,) = answer["readings"][0]["problems"]
    assert problem["code"] == "condition_incomplete"
    assert "requests_failed" in problem["message"]


def test_standard_input_is_a_dash() -> None:
    answer = document(run("-", "--json", stdin=FINE))

    assert [(each["file"], each["line"]) for each in answer["readings"]] == [("-", 1), ("-", 2)]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(gzip.compress(FINE))

    assert len(document(run(tmp_path / "out", "--json"))["readings"]) == 2


def test_folders_and_patterns_name_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    first = write(tmp_path / "a.jsonl", [serving()])
    second = write(tmp_path / "deep" / "b.json", [serving()])
    (tmp_path / "server.log").write_text("not a result")

    assert paths_of(str(tmp_path)) == [str(first), str(second)]
    assert paths_of(f"{tmp_path}/*.jsonl") == [str(first)]
    assert paths_of(f"{tmp_path}/**/*.json*") == [str(first), str(second)]
    assert len(document(run(tmp_path, first, "--json"))["readings"]) == 2


def test_a_file_that_is_not_there_is_wrong_input(tmp_path: Path) -> None:
    result = run(tmp_path / "none.jsonl", "--json")

    assert result.exit_code == 2
    assert [each["code"] for each in document(result)["unreadable"]] == ["no_such_file"]


@pytest.mark.parametrize("name", ["x" * 300, "**foo", "a\0b"])
def test_a_name_that_no_file_can_have_is_wrong_input(name: str) -> None:
    result = run(name, "--json")

    assert result.exit_code == 2
    assert len(document(result)["unreadable"]) == 1


def test_brackets_in_a_files_name_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "out[a].jsonl", [serving()])

    assert "out[a].jsonl:1" in run("out[a].jsonl").stdout


def test_a_person_reads_a_table_and_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "night.jsonl", [serving(), serving(median_ttft_ms=0.0), serving(duration=1.4)])
    with (tmp_path / "night.jsonl").open("a") as stream:
        stream.write('{"cut')

    result = run("night.jsonl")

    assert_golden("read_table.txt", result.output)


def test_help_shows_an_example() -> None:
    assert "kunline read results/*.jsonl" in run("--help").stdout
