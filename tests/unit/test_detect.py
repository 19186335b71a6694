"""`kunline detect`: series in, events out, the exit code, and the line protocol."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli.detect import detect
from service.formats.series_files import SeriesFileError, read_series

app = typer.Typer()
app.command()(detect)


def run(*arguments: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def noisy(level: float, *, sigma: float = 0.01, runs: int = 60, seed: int = 0) -> list[float]:
    random = np.random.default_rng(seed)
    return [float(value) for value in level * np.exp(random.standard_normal(runs) * sigma)]


def stepped(level: float, change: float, *, at: int = 45, seed: int = 0) -> list[float]:
    values = noisy(level, seed=seed)
    return [value * (1 + change) if run >= at else value for run, value in enumerate(values)]


def sheet(**columns: list[float]) -> str:
    rows = zip(*columns.values(), strict=True)
    body = [f"r{run}," + ",".join(map(str, row)) for run, row in enumerate(rows)]
    return "\n".join(["run," + ",".join(columns), *body]) + "\n"


def spoken(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    asked = "".join(json.dumps(line) + "\n" for line in lines)
    answered = run("--protocol", stdin=asked)
    assert answered.exit_code == 0
    return [json.loads(line) for line in answered.stdout.splitlines()]


def begin(*cells: tuple[str, bool]) -> dict[str, Any]:
    told = [{"name": name, "metric": name, "lower_is_better": lower} for name, lower in cells]
    return {"op": "begin", "id": "e", "suite": "s", "cells": told}


def test_a_step_is_told_with_its_run_size_direction_and_when_it_was_seen() -> None:
    answered = run(stdin=sheet(output_throughput=stepped(700, -0.05)))

    assert re.search(
        r"^suspect: output_throughput -[3-6]\.\d %, for the worse, "
        r"from run 45 \(r45\) on; seen at run 4[67] \(r4[67]\)$",
        answered.stdout.strip(),
    )
    assert answered.exit_code == 4


def test_json_is_one_document_of_alarms_and_series() -> None:
    answered = run(
        "--json", stdin=sheet(ttft_p50=stepped(0.05, 0.08), tpot_p50=noisy(0.01, seed=2))
    )

    document = json.loads(answered.stdout)
    assert [alarm["change_index"] for alarm in document["alarms"]] == [45]
    assert document["alarms"][0]["direction"] == "worse"
    assert document["alarms"][0]["moved"][0]["direction"] == "up"
    assert [each["answer"] for each in document["series"]] == ["suspect", "no alarm"]
    assert 0.005 < document["series"][1]["smallest_detectable"] < 0.03


@pytest.mark.parametrize(
    ("values", "options", "code"),
    [
        pytest.param(noisy(10), [], 0, id="quiet, and the tolerance would be seen"),
        pytest.param(noisy(10), ["--tolerance", "0.001"], 4, id="quiet without power"),
        pytest.param(noisy(10, runs=6), [], 4, id="too few runs"),
        pytest.param(stepped(10, 0.1), [], 4, id="suspect"),
    ],
)
def test_the_exit_code_says_whether_anything_was_seen_or_could_have_been(
    values: list[float], options: list[str], code: int
) -> None:
    assert run(*options, stdin=json.dumps(values)).exit_code == code


def test_nothing_seen_comes_with_what_could_have_been() -> None:
    answered = run(stdin=json.dumps({"a": noisy(10), "b": noisy(10, sigma=0.1, seed=1)}))

    assert re.search(r"^no alarm: a; a change .* from 1\.\d % on$", answered.stdout, re.MULTILINE)
    assert re.search(
        r"^no alarm: b; .*more than the tolerance of 3\.0 %$", answered.stdout, re.MULTILINE
    )


def test_too_few_runs_are_said_to_be_too_few() -> None:
    assert "6 runs are too few to see anything" in run(stdin=json.dumps([1.0] * 6)).stdout


def test_files_are_read_and_answered_in_turn(tmp_path: Path) -> None:
    for name, values in (("a.json", noisy(1)), ("b.json", stepped(1, 0.1))):
        (tmp_path / name).write_text(json.dumps(values))

    answered = run("--json", tmp_path / "a.json", tmp_path / "b.json")

    document = json.loads(answered.stdout)
    assert [Path(alarm["file"]).name for alarm in document["alarms"]] == ["b.json"]
    assert len(document["series"]) == 2


def test_runs_of_several_seeds_are_paired() -> None:
    random = np.random.default_rng(4)
    effects = {"1": 0.0, "2": 0.2, "3": -0.3}
    values = [
        {
            seed: math.exp(effect + 0.005 * random.standard_normal() + 0.03 * (index >= 45))
            for seed, effect in effects.items()
            if random.random() < 0.6 or seed == "1"
        }
        for index in range(60)
    ]

    answered = run("--json", stdin=json.dumps({"tpot_p50": values}))

    assert [alarm["change_index"] for alarm in json.loads(answered.stdout)["alarms"]] == [45]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param("", "f:1: the file is empty", id="empty"),
        pytest.param("a,b\n1,2\n3,x\n", "f:3: b: 'x' is no number", id="a word"),
        pytest.param("a,b\n1\n", "f:2: 1 fields, and the header has 2", id="a short row"),
        pytest.param("1,2\n3,4\n", "f:1: the first line names the columns", id="no header"),
        pytest.param("a,a\n1,2\n", "f:1: every column needs a name", id="a name twice"),
        pytest.param("run\nx\n", "f:1: there is no series beside run", id="no series"),
        pytest.param("a,b\n", "f:1: there is a header and no row", id="no rows"),
        pytest.param("a\n0\n", "f:2: a: 0.0 has no logarithm", id="zero in a table"),
        pytest.param("[1, -2]", "f:value[1]: -2.0 has no logarithm", id="below zero"),
        pytest.param("[1, 2", "f:1:", id="cut short"),
        pytest.param('["x"]', "f:series.0.values.0", id="a word in a list"),
        pytest.param('{"a": [1], "b": [1, 2]}', "f:series: series of one", id="unequal lengths"),
        pytest.param(
            '{"labels": ["x"], "series": [{"name": "a", "values": [1, 2]}]}',
            "f:labels",
            id="too few labels",
        ),
        pytest.param('{"series": [{"name": "a", "valeus": [1]}]}', "valeus", id="a typo"),
    ],
)
def test_a_file_that_is_not_understood_is_told_where(content: str, place: str) -> None:
    with pytest.raises(SeriesFileError, match=re.escape(place)):
        read_series(content.encode(), file="f")


def test_bytes_that_are_no_text_are_told_their_line() -> None:
    with pytest.raises(SeriesFileError, match="f:2: not UTF-8"):
        read_series(b"a\n\xff\xfe\n", file="f")


@pytest.mark.parametrize("arguments", [["nowhere.csv"], ["-"]])
def test_what_cannot_be_read_ends_with_wrong_usage(arguments: list[str]) -> None:
    answered = run(*arguments, stdin="a\nx\n")

    assert answered.exit_code == 2
    assert answered.stdout == ""
    assert answered.stderr


def test_the_protocol_answers_each_line_with_one_line() -> None:
    values = stepped(10, 0.1)
    lines = [{"op": "run", "t": run, "values": [value]} for run, value in enumerate(values)]

    answers = spoken(begin(("throughput", False)), *lines, {"op": "end"})

    alarms = [alarm for answer in answers for alarm in answer.get("alarms", [])]
    assert len(answers) == len(lines) + 2
    assert alarms == [{"cell": 0, "cp": 45, "dir": "up"}]


def test_several_cells_are_answered_with_one_event() -> None:
    columns = [stepped(10, 0.1, seed=seed) for seed in range(4)]
    lines = [
        {"op": "run", "t": run, "values": list(row)}
        for run, row in enumerate(zip(*columns, strict=True))
    ]

    answers = spoken(begin(*[("TTFT", True)] * 4), *lines)

    alarms = [alarm for answer in answers for alarm in answer.get("alarms", [])]
    assert alarms == [{"cell": None, "cp": 45, "dir": "worse"}]


def test_values_without_a_logarithm_count_as_not_measured() -> None:
    answers = spoken(begin(("x", True)), {"op": "run", "t": 0, "values": [-1.0]})

    assert answers[1] == {"alarms": []}


def test_an_episode_forgets_the_one_before() -> None:
    one = [{"op": "run", "t": run, "values": [10.0]} for run in range(40)]
    other = [{"op": "run", "t": run, "values": [20.0]} for run in range(40)]

    answers = spoken(begin(("x", True)), *one, begin(("x", True)), *other)

    assert not any(answer.get("alarms") for answer in answers)


def test_the_protocol_asks_the_one_rule_about_two_launches() -> None:
    history = noisy(10, runs=40)
    lines = [
        {
            "op": "ab",
            "id": "a",
            "lower_is_better": True,
            "history": history,
            "base": history[:5],
            "cand": [value * factor for value in history[:5]],
        }
        for factor in (1.0, 1.5)
    ]

    assert [answer["verdict"] for answer in spoken(*lines)] == ["none", "up"]


def test_a_line_out_of_the_protocol_ends_it_with_its_number() -> None:
    answered = run("--protocol", stdin='{"op":"end"}\n{"op":"dance"}\n')

    assert answered.exit_code == 2
    assert "line 2" in answered.stderr
