"""`kunline compare` on plain files: the one rule, and every refusal named."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli.compare import compare
from service.domain.assumption import NEEDED
from service.formats.verdicts import ComparisonRead
from tests.results import SERVING, scaled, serving, write
from tests.shared_data import shared

app = typer.Typer()
app.command()(compare)

STEADY = (1.0, 1.01, 0.99, 1.005, 0.995)
SLOWER = tuple(1.2 * factor for factor in STEADY)
FASTER = tuple(0.8 * factor for factor in STEADY)
TRITON = SERVING["server_info"] | {"attention_backend": "triton", "page_size": 64}
WILD = (0.8, 1.3, 1.0, 0.9, 1.2)


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "base.jsonl", scaled(*STEADY))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def bare(results: list[dict[str, Any]], *options: str) -> Result:
    write(Path("candidate.jsonl"), results)
    return run("base.jsonl", "candidate.jsonl", *options)


def against(results: list[dict[str, Any]], *options: str) -> Result:
    return bare(results, "--assume-same", "all", *options)


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

    assert result.exit_code == 5
    assert "requests_failed in 5 of 5 results" in result.stdout
    assert "observed 48 completed, required 96" in result.stdout
    assert bare(half).exit_code == 6


def test_several_reasons_stand_below_each_other() -> None:
    result = against([serving(median_ttft_ms=0.0, median_itl_ms=0.0)])

    lines = result.stdout.splitlines()
    assert lines[1] == "  ttft_p50, tpot_p50, output_throughput invalid:"
    assert lines[2].startswith("    candidate: ttft_zero in 1 of 1 results")
    assert lines[3].startswith("    candidate: itl_zero in 1 of 1 results")


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
    where = "8 in line 1 of candidate.jsonl, 16 in line 3 of candidate.jsonl"
    assert f"concurrency within the candidate: {where}" in result.stdout


def test_bare_files_are_not_comparable_until_the_rest_is_assumed() -> None:
    refused = bare(scaled(*STEADY))

    assert refused.exit_code == 6
    assert "condition incomplete" in refused.stdout
    assert "add --assume-same all" in refused.stdout
    asked = [word for word in re.findall(r"\w+", refused.stdout) if word in {*NEEDED, "gates"}]
    each = [word for name in dict.fromkeys(asked) for word in ("--assume-same", name)]
    assert bare(scaled(*STEADY), *each).exit_code == 0
    assert "add --assume-same gates\n" in bare(scaled(*STEADY), *each[:-2]).stdout


def test_what_only_one_side_tells_is_asked_for_and_taken_for_both() -> None:
    silent = scaled(*STEADY, server_info=None)

    refused, assumed = bare(silent), against(silent)

    assert "only the baseline tells tp 1, model tiny-llama, dtype auto" in refused.stdout
    assert "assumed of both sides: tp = 1, model = tiny-llama, dtype = auto" in assumed.stdout
    assert assumed.exit_code == 0


def test_an_assumption_is_in_the_answer_beside_the_verdict() -> None:
    options = ("--assume-same", "card_model=P800", "--assume-same", "requests=96")
    answer = json.loads(against(scaled(*STEADY), *options, "--json").stdout)

    assumed = {each["field"]: each["value"] for each in answer["assumed"]}
    assert answer["outcome"] == "unchanged"
    assert answer["untold"] == []
    assert assumed["card_model"] == "P800"
    assert assumed["requests"] == "96"
    assert assumed["weights"] is None
    assert "server_errors" in assumed["gates"]


def test_what_is_not_told_is_among_the_differences_of_the_answer() -> None:
    answer = json.loads(bare(scaled(*STEADY), "--json").stdout)

    assert answer["comparable"] is False
    assert answer["outcome"] == "not comparable"
    assert answer["untold"] == [each["field"] for each in answer["differences"]]
    assert answer["differences"][0] == {
        "field": "card_model",
        "baseline": "(not told)",
        "candidate": "(not told)",
    }


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("backend", "vllm", "backend"),
        ("dataset_name", "random", "dataset"),
        ("request_rate", 4.0, "request_rate"),
        ("max_concurrency", 16, "concurrency"),
        ("random_input_len", 256, "input_tokens"),
        ("random_output_len", 128, "output_tokens"),
        ("random_range_ratio", 0.5, "range_ratio"),
    ],
)
def test_each_field_that_a_file_tells_refuses_and_is_named(
    key: str, value: object, field: str
) -> None:
    answer = json.loads(against(scaled(*STEADY, **{key: value}), "--json").stdout)

    assert answer["outcome"] == "not comparable"
    assert [each["field"] for each in answer["differences"]] == [field]


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("served_model_name", "other", "model"),
        ("tp_size", 2, "tp"),
        ("pp_size", 2, "pp"),
        ("dp_size", 2, "dp"),
        ("ep_size", 2, "ep"),
        ("dtype", "bfloat16", "dtype"),
        ("quantization", "w8a8", "quantization"),
        ("kv_cache_dtype", "fp8_e5m2", "kv_dtype"),
    ],
)
def test_each_field_that_a_server_tells_refuses_and_is_named(
    key: str, value: object, field: str
) -> None:
    told = {
        "pp_size": 1,
        "dp_size": 1,
        "ep_size": 1,
        "quantization": None,
        "kv_cache_dtype": "auto",
    }
    info = serving()["server_info"] | told
    write(Path("base.jsonl"), scaled(*STEADY, server_info=info))

    result = against(scaled(*STEADY, server_info=info | {key: value}), "--json")

    answer = json.loads(result.stdout)
    assert result.exit_code == 6
    assert [each["field"] for each in answer["differences"]] == [field]


def test_another_definition_of_the_same_key_is_never_compared() -> None:
    row = {
        "batch_size": 1, "input_len": 128, "output_len": 8, "latency": 1.0, "run_name": "default",
        "input_throughput": 900.0, "output_throughput": 10.0, "overall_throughput": 140.0,
    }  # fmt: skip
    write(Path("base.jsonl"), [row] * 5)
    newer = [row | {"last_gen_throughput": 12.0}] * 5

    result = against(newer)

    assert result.exit_code == 6
    assert "protocol.definition: baseline 1, candidate 2" in result.stdout


def test_a_tail_of_too_few_requests_is_inconclusive_and_says_why() -> None:
    result = against(scaled(*STEADY), "--metric", "ttft_p99")

    assert result.exit_code == 4
    assert "a p99 needs at least 299 completed requests, and 96 completed" in result.stdout


def test_what_the_servers_settled_differently_is_shown() -> None:
    info = serving()["server_info"] | {"attention_backend": "triton"}

    result = against(scaled(*SLOWER, server_info=info))

    assert "note: attention backend: torch_native → triton, not asked for" in result.stdout


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
        options = ("--launch-per", launch_per, "--assume-same", "all", "--json")
        answer = json.loads(run("old", "new", *options).stdout)
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
        (["base.jsonl", "cpu-sglang-0.5.23"], "a file is compared with files only"),
        (["ed2ac6d66903", "base.jsonl"], "`kunline import` it"),
        (["ed2ac6d66903", "3f5a11a4df82", "--tolerance", "0.1"], "--tolerance is for files"),
        (["base.jsonl", "base.jsonl", "--metric", "ttft_p5O"], "did you mean ttft_p"),
        (["base.jsonl", "base.jsonl", "--tolerance", "3"], "between 0 and 1"),
        (["base.jsonl", "base.jsonl", "--assume-same", "card_modle=P800"], "did you mean card_mod"),
        (["base.jsonl", "base.jsonl", "--assume-same", "all=yes"], "without a value"),
        (["base.jsonl", "base.jsonl", "--assume-same", "requests=1e999"], "a whole number"),
        (
            ["base.jsonl", "base.jsonl", *("--assume-same", "dp=1", "--assume-same", "dp=2")],
            "dp is given two values",
        ),
        (["base.jsonl", "base.jsonl", "--assume-same", "tp=2"], "never overrules a file"),
        (["ed2ac6d66903", "3f5a11a4df82", "--assume-same", "all"], "has its whole condition"),
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

    result = run("base.jsonl", "candidate.jsonl", "--assume-same", "all")

    assert result.exit_code == 0
    assert "candidate.jsonl:6 unreadable: truncated" in result.stderr


def test_eight_real_repeats_against_themselves_are_never_a_regression() -> None:
    noise = shared("sglang-cpu/noise_quiet.jsonl")

    assert run(noise, noise, "--assume-same", "all").exit_code in {0, 4}
    assert run(noise, noise).exit_code == 6


def test_real_refused_requests_are_no_speed_up() -> None:
    toolong = shared("sglang-cpu/toolong.jsonl")

    assert run(shared("sglang-cpu/noise_quiet.jsonl"), toolong).exit_code == 6
    assert run(toolong, toolong).exit_code == 5
    assert run(toolong, toolong, "--assume-same", "all").exit_code == 5


def test_help_shows_an_example() -> None:
    assert "kunline compare before.jsonl after.jsonl --assume-same all" in run("--help").stdout
