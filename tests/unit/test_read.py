"""`kunline read`: every input there is, one JSON document, and the exit code of the worst."""

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli import tables
from service.cli.read import read
from service.cli.result_paths import paths_of
from service.cli.result_table import MAX_LINES, MAX_ROWS
from service.formats.readings import ReadingsRead
from tests.golden_file import assert_golden
from tests.results import lines, serving, write

app = typer.Typer()
app.command()(read)

FINE = lines([serving(), serving()])
TERMINAL = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
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


def test_a_narrow_window_gets_lines_instead_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "WIDTH_ELSEWHERE", 60)
    write(tmp_path / "night.jsonl", [serving(), serving(median_ttft_ms=0.0)])

    assert_golden("read_narrow.txt", run("night.jsonl").output)


def test_of_very_many_results_the_first_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    count = MAX_ROWS + 20
    write(tmp_path / "many.jsonl", [serving(median_ttft_ms=0.0)] * count)

    text = run(tmp_path / "many.jsonl").stdout

    assert f"the first {MAX_ROWS} of {count} results ({count} invalid)" in text
    assert f"and {count - MAX_LINES} more of this; --json" in text
    assert f"many.jsonl:{MAX_ROWS}" in text
    assert f"many.jsonl:{MAX_ROWS + 1}" not in text
    assert len(document(run(tmp_path / "many.jsonl", "--json"))["readings"]) == count


def test_a_server_s_own_words_are_a_reading_of_what_it_settled(tmp_path: Path) -> None:
    (tmp_path / "info.json").write_text(
        json.dumps(serving()["server_info"] | {"mem_fraction_static": 0.8})
    )

    (reading,) = document(run(tmp_path / "info.json", "--json"))["readings"]

    assert (reading["tool"], reading["tool_version"]) == ("sglang.server_info", "0.5.23")
    assert reading["resolution"]["attention_backend"] == "torch_native"
    assert reading["metrics"] == {"kv_capacity": {"value": 16384.0, "unit": "tok"}}
    assert "what a server settled: version=0.5.23" in run(tmp_path / "info.json").stdout


def test_a_folder_gives_the_logs_that_a_tool_knows_and_no_others(tmp_path: Path) -> None:
    known = tmp_path / "server.log"
    known.write_text("[2026-11-30 02:00:00] max_total_num_tokens=1, chunked_prefill_size=2\n")
    (tmp_path / "build.log").write_text("compiling\n")

    assert paths_of(str(tmp_path)) == [str(known)]


def test_a_folder_without_results_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, "--json")

    assert result.exit_code == 2
    assert [each["code"] for each in document(result)["unreadable"]] == ["folder_without_results"]


def test_a_long_read_shows_a_bar_on_a_terminal_and_on_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "long.jsonl", [serving()])
    code = (
        "import service.cli.read as read, typer\n"
        "read.BAR_FROM_BYTES = 1\n"
        "app = typer.Typer()\n"
        "app.command()(read.read)\n"
        f"app(['{path}', '--json'])\n"
    )
    near, far = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=far, env=TERMINAL
    ) as child:
        os.close(far)
        told, _ = child.communicate(timeout=60)
    shown = os.read(near, 10_000).decode()
    os.close(near)

    assert "long.jsonl" in shown
    assert len(json.loads(told)["readings"]) == 1


def test_a_result_without_the_usual_values_shows_those_it_has(tmp_path: Path) -> None:
    latency = {"avg_latency": 2.5, "latencies": [2.4, 2.6], "percentiles": {"50": 2.5}}
    (tmp_path / "latency.json").write_text(json.dumps(latency))

    assert "e2e_mean 2.50 s, e2e_p50 2.50 s" in run(tmp_path / "latency.json").stdout


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        pytest.param({}, "128→64 concurrency 8", id="a closed load"),
        pytest.param({"max_concurrency": None, "request_rate": 2.0}, "128→64 rate 2/s", id="open"),
    ],
)
def test_results_of_a_sweep_are_told_apart_by_their_load(
    told: dict[str, object], shown: str, tmp_path: Path
) -> None:
    write(tmp_path / "sweep.jsonl", [serving(**told)])

    assert shown in run(tmp_path / "sweep.jsonl").stdout


def test_help_shows_an_example() -> None:
    assert "kunline read results/*.jsonl" in run("--help").stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize("how", [(), ("--json",)], ids=["a table", "a document"])
def test_an_answer_that_cannot_be_written_ends_with_one_and_a_sentence(
    how: tuple[str, ...], tmp_path: Path
) -> None:
    path = write(tmp_path / "out.jsonl", [serving()])
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", "read", str(path), *how],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )

    assert done.returncode == 1
    assert done.stderr.startswith("kunline: cannot write: No space left on device")
