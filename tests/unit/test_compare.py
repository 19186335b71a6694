"""`kunline compare` on plain files: the one rule, and every refusal named."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli.compare import compare
from service.formats.verdicts import ComparisonRead
from tests.golden_file import assert_golden
from tests.results import scaled, serving, write
from tests.shared_data import shared

app = typer.Typer()
app.command()(compare)

STEADY = (1.0, 1.01, 0.99, 1.005, 0.995)
SLOWER = tuple(1.2 * factor for factor in STEADY)
FASTER = tuple(0.8 * factor for factor in STEADY)
WILD = (0.8, 1.3, 1.0, 0.9, 1.2)


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "base.jsonl", scaled(*STEADY))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def against(results: list[dict[str, Any]], *options: str) -> Result:
    write(Path("candidate.jsonl"), results)
    return run("base.jsonl", "candidate.jsonl", *options)


@pytest.mark.parametrize(
    ("results", "code", "outcome"),
    [
        pytest.param(scaled(*STEADY), 0, "unchanged", id="the same"),
        pytest.param(scaled(*FASTER), 0, "improved", id="faster"),
        pytest.param(scaled(*SLOWER), 3, "regressed", id="slower"),
        pytest.param(scaled(*WILD), 4, "inconclusive", id="too noisy"),
        pytest.param(
            [*scaled(1.0, 1.0), serving(median_ttft_ms=0.0)], 5, "invalid", id="one invalid result"
        ),
        pytest.param(scaled(*STEADY, max_concurrency=16), 6, "not comparable", id="unlike"),
    ],
)
def test_the_exit_code_is_the_verdict(
    results: list[dict[str, Any]], code: int, outcome: str
) -> None:
    result = against(results, "--json")

    assert result.exit_code == code
    assert json.loads(result.stdout)["outcome"] == outcome


def test_json_is_one_document_of_the_stated_shape() -> None:
    answer = json.loads(against(scaled(*SLOWER), "--json").stdout)

    assert answer["comparable"] is True
    verdict = answer["verdicts"][0]
    assert verdict["metric"] == "ttft_p50"
    assert 0 < verdict["low"] < verdict["worsening"] < verdict["high"]
    assert verdict["tolerance"] == 0.10
    assert verdict["smallest_detectable"] > 0.10
    assert "launch luck" not in verdict["reason"]
    assert "share their launch's luck" in verdict["warnings"][0]
    jsonschema.validate(answer, ComparisonRead.model_json_schema(mode="serialization"))


def test_every_differing_field_is_named_with_both_values() -> None:
    unlike = scaled(*STEADY, max_concurrency=16, random_range_ratio=0.0, backend="vllm")
    answer = json.loads(against(unlike, "--json").stdout)

    assert answer["comparable"] is False
    assert answer["differences"] == [
        {"field": "backend", "baseline": "sglang", "candidate": "vllm"},
        {"field": "concurrency", "baseline": "8", "candidate": "16"},
        {"field": "range_ratio", "baseline": "1", "candidate": "0"},
    ]


def test_unlike_comes_before_invalid() -> None:
    assert against([serving(median_ttft_ms=0.0, max_concurrency=16)]).exit_code == 6


def test_a_run_of_which_half_failed_is_not_taken_for_a_slower_one() -> None:
    half = scaled(*SLOWER, completed=48, total_input_tokens=48 * 128, total_output_tokens=48 * 64)

    result = against(half)

    assert result.exit_code == 6
    assert "requests_completed: baseline 96, candidate 48" in result.stdout


def test_another_client_release_is_a_new_series() -> None:
    older = [
        {name: value for name, value in each.items() if name != "p90_ttft_ms"}
        for each in scaled(*SLOWER)
    ]

    assert "protocol.tool_version" in against(older).stdout


def test_a_file_of_several_conditions_is_refused_with_the_lines_named() -> None:
    mixed = [*scaled(1.0, 1.0), *scaled(1.0, max_concurrency=16)]

    result = against(mixed)

    assert result.exit_code == 6
    assert "concurrency within the candidate" in result.stdout
    assert "16 in line 3 of candidate.jsonl" in result.stdout


def test_what_only_one_side_tells_is_said_and_not_held_against_it() -> None:
    result = against(scaled(*STEADY, server_info=None))

    assert result.exit_code == 0
    assert "only one side tells dtype, model, tp" in result.stdout


def test_what_the_servers_settled_differently_is_shown() -> None:
    info = serving()["server_info"] | {"attention_backend": "triton"}

    result = against(scaled(*SLOWER, server_info=info))

    assert "settled differently: attention_backend: torch_native ≠ triton" in result.stdout


def test_four_results_are_an_insufficient_baseline_unless_said_otherwise() -> None:
    write(Path("base.jsonl"), scaled(*STEADY[:4]))

    assert against(scaled(*STEADY)).exit_code == 4
    assert "the baseline has 4 repeats and needs 5" in against(scaled(*STEADY)).stdout
    assert against(scaled(*STEADY), "--min-repeats", "4").exit_code == 0


def test_files_or_lines_may_be_launches() -> None:
    for side, factors in (("old", STEADY), ("new", SLOWER)):
        Path(side).mkdir()
        for number, factor in enumerate(factors[:3]):
            write(Path(side) / f"{number}.jsonl", scaled(factor, factor * 1.001))

    for launch_per in ("file", "line"):
        answer = json.loads(run("old", "new", "--launch-per", launch_per, "--json").stdout)
        assert answer["outcome"] == "regressed"
        assert answer["verdicts"][0]["warnings"] == []


def test_only_the_metric_asked_for_is_judged_by_the_tolerance_asked_for() -> None:
    result = against(
        scaled(*SLOWER), "--metric", "e2e_p50", "--metric", "ttft_p50", "--tolerance", "0.5",
        "--json",
    )  # fmt: skip

    verdicts = json.loads(result.stdout)["verdicts"]
    assert [(each["metric"], each["outcome"]) for each in verdicts] == [
        ("e2e_p50", "unchanged"),
        ("ttft_p50", "unchanged"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["base.jsonl", "none.jsonl"], "no file none.jsonl"),
        (["one.jsonl", "none.jsonl"], "no file one.jsonl"),
        (["ed2ac6d66903", "3f5a11a4df82", "--tolerance", "0.1"], "--tolerance is for files"),
        (["base.jsonl", "base.jsonl", "--metric", "ttft_p5O"], "did you mean ttft_p"),
        (["base.jsonl", "base.jsonl", "--tolerance", "3"], "between 0 and 1"),
    ],
)
def test_wrong_usage_ends_with_two_and_says_why(arguments: list[str], words: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", "").split())


def test_a_side_without_a_readable_result_is_wrong_input() -> None:
    Path("log.txt").write_text("Traceback")

    result = run("base.jsonl", "log.txt")

    assert result.exit_code == 2
    assert "the candidate has no readable result" in result.stderr


def test_a_damaged_last_line_is_said_and_the_others_are_judged() -> None:
    write(Path("candidate.jsonl"), scaled(*STEADY))
    with Path("candidate.jsonl").open("a") as stream:
        stream.write('{"cut')

    result = run("base.jsonl", "candidate.jsonl")

    assert result.exit_code == 0
    assert "candidate.jsonl:6 unreadable: truncated" in result.stderr


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("compare_regressed.txt", scaled(*SLOWER)),
        ("compare_inconclusive.txt", scaled(*WILD, duration=1.4)),
        ("compare_not_comparable.txt", scaled(*STEADY, max_concurrency=16)),
        ("compare_invalid.txt", scaled(*STEADY, total_output_tokens_retokenized=0)),
    ],
)
def test_a_person_reads_one_line_a_verdict(name: str, results: list[dict[str, Any]]) -> None:
    assert_golden(name, against(results).stdout)


def test_eight_real_repeats_against_themselves_are_never_a_regression() -> None:
    noise = shared("sglang-cpu/noise_quiet.jsonl")

    assert run(noise, noise).exit_code in {0, 4}


def test_real_refused_requests_are_no_speed_up() -> None:
    toolong = shared("sglang-cpu/toolong.jsonl")

    assert run(shared("sglang-cpu/noise_quiet.jsonl"), toolong).exit_code == 6
    assert run(toolong, toolong).exit_code == 5


def test_help_shows_an_example() -> None:
    assert "kunline compare before.jsonl after.jsonl" in run("--help").stdout
