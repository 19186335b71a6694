"""What vllm bench serve prints, found in a log, in our words and units, and what ails it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.reading import Readings
from service.domain.validity import Severity, Validity
from service.formats.tools import vllm_console
from service.formats.tools.registry import read_bytes, read_file
from tests.shared_data import shared
from tests.vllm_results import failures

ARGUMENTS = (
    "Namespace(subparser='bench', bench_type='serve', seed=0, num_prompts=100, "
    "dataset_name='random', random_input_len=128, random_output_len=64, "
    "random_range_ratio=0.0, random_prefix_len=0, backend='openai', base_url=None, "
    "max_concurrency=8, model='/models/tiny-llama', tokenizer=None, request_rate=inf, "
    "burstiness=1.0, ignore_eos=True, header=['api_key=sk-12345'])\n"
)
LOAD = (
    "Starting initial single prompt test run...\n"
    "Initial test run completed. Starting main benchmark run...\n"
    "Traffic request rate: inf\n"
    "Burstiness factor: 1.0 (Poisson process)\n"
    "Maximum request concurrency: 8\n"
)
PROGRESS = (
    "  0%|          | 0/100 [00:00<?, ?it/s]\r100%|##########| 100/100 [00:40<00:00, 2.5it/s]\n"
)
TITLE = "============ Serving Benchmark Result ============\n"
END = "==================================================\n"
LATENCIES = (
    "---------------Time to First Token----------------\n"
    "Mean TTFT (ms):                          72.00     \n"
    "Median TTFT (ms):                        70.00     \n"
    "P99 TTFT (ms):                           90.00     \n"
    "-----Time per Output Token (excl. 1st token)------\n"
    "Mean TPOT (ms):                          51.20     \n"
    "Median TPOT (ms):                        51.00     \n"
    "P99 TPOT (ms):                           55.00     \n"
    "---------------Inter-token Latency----------------\n"
    "Mean ITL (ms):                           50.20     \n"
    "Median ITL (ms):                         50.00     \n"
    "P99 ITL (ms):                            60.00     \n"
)
# Until 0.10.2, and since 0.13.
OLD_TABLE = (
    TITLE + "Successful requests:                     100       \n"
    "Benchmark duration (s):                  40.00     \n"
    "Total input tokens:                      12800     \n"
    "Total generated tokens:                  6400      \n"
    "Request throughput (req/s):              2.50      \n"
    "Output token throughput (tok/s):         160.00    \n"
    "Total Token throughput (tok/s):          480.00    \n" + LATENCIES + END
)
NEW_TABLE = (
    TITLE + "Successful requests:                     100       \n"
    "Failed requests:                         0         \n"
    "Maximum request concurrency:             8         \n"
    "Benchmark duration (s):                  40.00     \n"
    "Total input tokens:                      12800     \n"
    "Total generated tokens:                  6400      \n"
    "Request throughput (req/s):              2.50      \n"
    "Output token throughput (tok/s):         160.00    \n"
    "Peak output token throughput (tok/s):    900.00    \n"
    "Peak concurrent requests:                9.00      \n"
    "Total token throughput (tok/s):          480.00    \n" + LATENCIES + END
)
OLD = ARGUMENTS + LOAD + PROGRESS + OLD_TABLE
NEW = ARGUMENTS + LOAD + PROGRESS + NEW_TABLE


def found(text: str) -> Readings:
    return read_bytes(text.encode(), file="x.log")


@pytest.mark.parametrize(
    ("log", "releases", "definition"),
    [
        pytest.param(OLD, "<0.11.0", vllm_console.EITHER_OUTPUT, id="old"),
        pytest.param(
            NEW.replace("Failed requests", "Other requests"),
            ">=0.11.0,<0.11.1", vllm_console.COUNTED_BY_SERVER, id="0.11.0",
        ),
        pytest.param(
            NEW.replace("Total token", "Total Token"),
            ">=0.11.1,<0.13", vllm_console.COUNTED_BY_SERVER, id="0.12",
        ),
        pytest.param(NEW, ">=0.13", vllm_console.COUNTED_BY_SERVER, id="new"),
    ],
)  # fmt: skip
def test_every_release_gives_the_same_values_in_base_units(
    log: str, releases: str, definition: int
) -> None:
    (reading,) = found(log).readings

    assert reading.tool == "vllm.bench_serve_console"
    assert (reading.tool_version, reading.definition) == (releases, definition)
    assert reading.line == log[: log.index("=====")].count("\n") + 1
    assert reading.metrics["ttft_p50"] == pytest.approx(0.070)
    assert reading.metrics["tpot_mean"] == pytest.approx(0.0512)
    assert reading.metrics["output_throughput"] == 160.0
    assert reading.metrics["total_throughput"] == 480.0
    assert reading.metrics["duration"] == 40.0
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


def test_the_arguments_tell_the_condition_and_no_secret() -> None:
    (reading,) = found(NEW).readings

    assert reading.condition == {
        "backend": "openai",
        "model": "tiny-llama",
        "requests": 100,
        "request_rate": "inf",
        "concurrency": 8,
        "burstiness": 1.0,
        "dataset": "random",
        "ignore_eos": True,
        "input_tokens": 128,
        "output_tokens": 64,
        "range_ratio": 0.0,
    }


def test_a_table_alone_tells_next_to_nothing_of_its_condition() -> None:
    (reading,) = found(NEW_TABLE).readings
    (older,) = found(OLD_TABLE).readings

    assert reading.condition == {"concurrency": 8}
    assert older.condition == {}
    assert older.facts.requests_asked is None


def test_the_progress_tells_how_many_requests_an_old_release_sent() -> None:
    (reading,) = found(PROGRESS + OLD_TABLE.replace("100       \n", "62        \n")).readings

    assert "requests_failed" in failures(reading)
    assert reading.facts.requests_asked == 100


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        pytest.param(
            "Failed requests:                         0",
            "Failed requests:                         50", "requests_failed", id="half failed",
        ),
        pytest.param(
            "Median TTFT (ms):                        70.00",
            "Median TTFT (ms):                        0.00", "ttft_zero", id="TTFT zero",
        ),
        pytest.param(
            "P99 ITL (ms):                            60.00",
            "P99 ITL (ms):                            nan", "value_not_finite", id="NaN",
        ),
        pytest.param(
            "Total generated tokens:                  6400",
            "Total generated tokens:                  3000", "output_tokens_not_as_asked",
            id="short output",
        ),
        pytest.param(
            "Total input tokens:                      12800",
            "Total input tokens:                      9000", "input_tokens_not_as_asked",
            id="short input",
        ),
    ],
)  # fmt: skip
def test_what_a_table_tells_against_itself_makes_it_invalid(old: str, new: str, code: str) -> None:
    assert old in NEW
    (reading,) = found(NEW.replace(old, new)).readings

    assert code in failures(reading)


def test_a_load_that_failed_altogether_is_invalid_and_has_no_metric_but_its_duration() -> None:
    rows = []
    for line in NEW_TABLE.splitlines(keepends=True):
        label, colon, value = line.partition(":")
        if colon and "duration" not in label and "Maximum" not in label:
            value = " 100\n" if label.startswith("Failed") else " 0.00\n"
        rows.append(label + colon + value)
    (reading,) = found("".join(rows)).readings

    assert {"all_failed", "requests_failed"} <= set(failures(reading))
    assert set(reading.metrics) == {"duration"}


def test_a_run_that_died_before_its_table_is_one_where_every_request_failed() -> None:
    died = 'Traceback (most recent call last):\n  File "serve.py", line 1\nValueError: no answer\n'
    one, other = found(ARGUMENTS + LOAD + died + NEW).readings

    assert {"all_failed", "requests_failed"} <= set(failures(one))
    assert (one.line, one.metrics, one.facts.requests_asked) == (1, {}, 100)
    assert one.condition == other.condition
    assert failures(other) == []


def test_a_run_that_is_not_over_is_a_problem() -> None:
    both = found(ARGUMENTS + LOAD + NEW + ARGUMENTS)

    assert [(each.code, each.line) for each in both.unreadable] == [
        ("no_results", 1), ("no_results", NEW.count("\n") + 7),
    ]  # fmt: skip
    assert len(both.readings) == 1


def test_arguments_of_the_script_alone_are_of_no_tool() -> None:
    script = ARGUMENTS.replace("subparser='bench', bench_type='serve', ", "sharegpt_output_len=1, ")

    assert found(script + LOAD).readings == ()


def test_answers_that_may_end_early_are_not_held_to_their_length() -> None:
    early = NEW.replace("ignore_eos=True", "ignore_eos=False").replace(
        "tokens:                  6400", "tokens:                  3000"
    )
    (reading,) = found(early).readings

    assert failures(reading) == []
    assert reading.condition["ignore_eos"] is False


def test_lengths_that_vary_are_held_to_their_bounds() -> None:
    (reading,) = found(NEW.replace("ratio=0.0", "ratio='0.5'")).readings

    assert reading.facts.input_lengths == (64, 192)
    assert reading.facts.output_lengths == (32, 96)


def test_the_meaning_of_an_old_ratio_is_not_known() -> None:
    (reading,) = found(OLD).readings

    assert reading.facts.output_lengths is None


def test_damaged_arguments_are_passed_over_in_silence(recwarn: pytest.WarningsRecorder) -> None:
    (reading,) = found(NEW.replace("num_prompts=100", "num_prompts=100and x")).readings

    assert list(recwarn) == []
    assert reading.condition["model"] == "tiny-llama"
    assert failures(reading) == []


def test_a_table_may_begin_where_the_progress_ends() -> None:
    drawn = "".join(f"\r{part:3}%|###   | {part}/100 [00:01<00:40]" for part in range(101))
    (reading,) = found(drawn + OLD_TABLE).readings

    assert reading.facts.requests_asked == 100
    assert failures(reading) == []


def test_several_runs_in_one_log_are_several_results_each_with_its_own_arguments() -> None:
    other = NEW.replace("max_concurrency=8", "max_concurrency=16").replace(
        "concurrency: 8\n", "concurrency: 16\n"
    )
    readings = found(NEW + "some other line\n" + other + OLD_TABLE).readings

    assert [each.condition.get("model") for each in readings] == ["tiny-llama", "tiny-llama", None]
    assert len({each.line for each in readings}) == 3


@pytest.mark.parametrize(
    "before",
    [
        "(APIServer pid=12) ",
        "INFO 11-30 12:00:00 [serve.py:1] ",
        "# ",
        "\x1b[36m(EngineCore)\x1b[0m ",
    ],
    ids=["a process", "a logger", "a comment", "colours"],
)
def test_what_a_logger_puts_before_every_line_is_passed_over(before: str) -> None:
    log = "".join(before + line for line in NEW_TABLE.splitlines(keepends=True))
    (reading,) = found(log).readings

    assert reading.metrics["ttft_p50"] == pytest.approx(0.070)
    assert reading.metrics["output_throughput"] == 160.0


def test_crlf_changes_nothing() -> None:
    (reading,) = found(NEW.replace("\n", "\r\n")).readings

    assert reading.metrics == found(NEW).readings[0].metrics


def test_a_table_that_does_not_end_is_a_problem_and_costs_no_other() -> None:
    cut = NEW.removesuffix(END)
    both = found(cut + NEW)

    assert [(each.code, each.line) for each in found(cut).unreadable] == [("truncated", 8)]
    assert [each.code for each in both.unreadable] == ["truncated"]
    assert len(both.readings) == 1


def test_a_table_without_its_first_row_is_malformed() -> None:
    lacking = NEW_TABLE.replace("Successful requests", "Other requests")

    assert [each.code for each in found(lacking).unreadable] == ["malformed"]


def test_sglangs_table_is_not_taken_for_one_of_this_tool() -> None:
    log = shared("sglang-cpu/toolong.log").read_text()
    both = found(NEW + log)

    assert not vllm_console.recognises(log.splitlines(keepends=True))
    assert len(both.readings) == 1
    assert [each.code for each in both.unreadable] == ["unknown_tool"]
    assert "--output-file" in both.unreadable[0].message


def test_no_log_of_sglang_is_recognised() -> None:
    for path in sorted(shared("sglang-cpu").rglob("*.log")):
        assert not [each for each in read_file(path).readings if each.tool.startswith("vllm")]


def test_a_title_within_a_text_that_a_model_wrote_is_none() -> None:
    text = '{"generated_texts": ["============ Serving Benchmark Result ============"]}\n'

    assert not vllm_console.recognises([text])


def test_embeddings_have_whole_requests_and_no_tokens() -> None:
    rows = [row for row in NEW_TABLE.splitlines(keepends=True) if "generated" not in row]
    text = "".join(row for row in rows if not row.startswith(("Mean", "Median", "P99")))
    latency = "Mean E2EL (ms): 3000.0\nMedian E2EL (ms): 2900.0\n"
    (reading,) = found(text.replace(END, latency + END)).readings

    assert not reading.facts.streamed
    assert reading.metrics["e2e_p50"] == pytest.approx(2.9)
    assert failures(reading) == []


@pytest.mark.parametrize(
    "line",
    [
        "=" * 100_000,
        "\r" * 100_000,
        "0%|" * 30_000,
        "a='" * 30_000,
        " " * 100_000,
        "Namespace(" * 9999,
    ],
    ids=["equals", "returns", "bars", "quotes", "blanks", "names"],
)
def test_a_line_of_any_length_is_read_at_once(line: str) -> None:
    readings = found(line + "\n" + TITLE + line + "\n" + NEW).readings

    assert len(readings) == 1


LINES = st.sampled_from(NEW.splitlines(keepends=True) + OLD.splitlines(keepends=True))
VALUES = st.text(max_size=8) | st.sampled_from(["nan", "-1", "1e999", "9" * 5000, "None"])


@given(st.lists(LINES | st.text(max_size=40), max_size=60))
def test_no_order_of_lines_makes_it_fail(lines: list[str]) -> None:
    for each in vllm_console.parse(lines):
        assert each.line in range(1, len(lines) + 1)


@given(st.dictionaries(st.integers(0, NEW.count("\n")), VALUES))
def test_no_value_of_a_row_makes_it_fail(values: dict[int, str]) -> None:
    lines = [
        f"{line.partition(':')[0]}: {values[count]}\n" if count in values and ":" in line else line
        for count, line in enumerate(NEW.splitlines(keepends=True))
    ]

    assert len(list(vllm_console.parse(lines))) == 1


def test_only_warnings_are_left_of_a_short_load() -> None:
    (reading,) = found(
        NEW.replace("(s):                  40.00", "(s):                  4.00")
    ).readings

    assert [each.code for each in reading.findings if each.severity is Severity.WARNING] == [
        "short_duration"
    ]
