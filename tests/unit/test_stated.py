"""What is stated of a result measured elsewhere is held to what its file tells, field by field."""

from dataclasses import replace

import pytest

from service.domain.condition import Condition, Load
from service.domain.resolution import Fact
from service.domain.stack import Stack
from service.domain.stated import Account, Stated, completed, contradictions
from service.domain.validity import RunFacts
from tests.integration import builders
from tests.integration.builders import NEW, PROTOCOL


def stated(condition: Condition | None = None, stack: Stack = NEW) -> Stated:
    return Stated(condition or builders.condition(), PROTOCOL, stack)


def told(
    condition: dict[str, Fact] | None = None,
    *,
    tool: str = "sglang.bench_serving",
    tool_version: str | None = None,
    resolution: dict[str, Fact] | None = None,
) -> Account:
    return Account(tool, tool_version, condition or {}, resolution or {})


def fields(found: Account, of: Stated | None = None) -> dict[str, tuple[str, str]]:
    return {
        each.field: (each.baseline, each.candidate)
        for each in contradictions(of or stated(), found)
    }


AGREEING: dict[str, Fact] = {
    "model": "tiny",
    "tp": 1,
    "dtype": "bfloat16",
    "dataset": "random-ids",
    "input_tokens": 64,
    "output_tokens": 16.0,
    "range_ratio": 1.0,
    "concurrency": 4,
    "request_rate": "inf",
    "requests": 8,
    "temperature": 0,
    "ignore_eos": True,
}


def test_a_file_that_agrees_contradicts_nothing() -> None:
    found = told(AGREEING, tool_version=">=0.5.14", resolution={"version": "0.5.23"})

    assert fields(found) == {}


@pytest.mark.parametrize(
    ("name", "value", "field", "shown"),
    [
        ("model", "llama", "model.id", ("tiny/tiny", "llama")),
        ("tp", 2, "parallelism.tp", ("1", "2")),
        ("pp", 2, "parallelism.pp", ("1", "2")),
        ("dp", 2, "parallelism.dp", ("1", "2")),
        ("ep", 2, "parallelism.ep", ("1", "2")),
        ("dtype", "float16", "model.dtype", ("bfloat16", "float16")),
        ("quantization", "fp8", "model.quantization", ("none", "fp8")),
        ("kv_dtype", "fp8_e5m2", "model.kv_dtype", ("bfloat16", "fp8_e5m2")),
        ("load", "open", "traffic.load", ("closed", "open")),
        ("dataset", "random", "traffic.dataset", ("random-ids", "random")),
        ("input_tokens", 65, "traffic.input_tokens", ("64", "65")),
        ("output_tokens", 17, "traffic.output_tokens", ("16", "17")),
        ("range_ratio", 0.5, "traffic.lengths", ("fixed", "0.5")),
        ("input_tokens_stdev", 4.0, "traffic.lengths", ("fixed", "4.0")),
        ("concurrency", 8, "traffic.concurrency", ("4", "8")),
        ("concurrency", None, "traffic.concurrency", ("4", "no limit")),
        ("request_rate", 2.0, "traffic.rate", ("inf", "2.0")),
        ("requests", 9, "traffic.prompts", ("8", "9")),
        ("temperature", 0.7, "traffic.temperature", ("0.0", "0.7")),
        ("ignore_eos", False, "traffic.ignore_eos", ("True", "False")),
        ("warmup_requests", 3, "procedure.warmup_requests", ("1", "3")),
    ],
)
def test_each_field_that_a_file_tells_otherwise_is_named_with_both_values(
    name: str, value: Fact, field: str, shown: tuple[str, str]
) -> None:
    found = told({**AGREEING, name: value})

    assert fields(found) == {field: shown}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("dtype", "auto", id="left to the server"),
        pytest.param("quantization", None, id="null"),
        pytest.param("burstiness", 1.0, id="a fact that no condition has"),
    ],
)
def test_what_a_file_leaves_open_contradicts_nothing(name: str, value: Fact) -> None:
    assert fields(told({name: value})) == {}


def test_a_model_may_be_known_by_the_name_it_was_served_as() -> None:
    served = replace(stated(), served_as="checkpoint-7")

    assert fields(told({"model": "checkpoint-7"}), served) == {}
    assert fields(told({"model": "checkpoint-8"}), served) == {
        "model.id": ("checkpoint-7", "checkpoint-8")
    }


@pytest.mark.parametrize(
    ("version", "agrees"),
    [
        (">=0.5.14", True),
        (">=0.5.6,<0.5.8", False),
        ("0.5.23", True),
        ("0.5.22", False),
        (None, True),
    ],
)
def test_a_release_is_held_to_the_range_that_its_keys_tell(
    version: str | None, agrees: bool
) -> None:
    found = fields(told(tool_version=version))

    assert (found == {}) is agrees
    assert found.keys() <= {"protocol.client_version"}


def test_another_tool_is_refused_and_its_printed_text_is_not() -> None:
    assert fields(told(tool="vllm.bench_serve")) == {
        "protocol.client": ("sglang.bench_serving", "vllm.bench_serve")
    }
    assert fields(told(tool="sglang.bench_serving_console")) == {}


def test_the_servers_own_account_is_held_to_stack_and_arguments() -> None:
    stack = replace(NEW, server_arguments={"attention-backend": "fa3"})
    found = told(
        resolution={
            "version": "0.5.18",
            "attention_backend": "triton",
            "mem_fraction_static": 0.4,
        }
    )

    assert fields(found, stated(stack=stack)) == {
        "server_arguments.attention-backend": ("fa3", "triton"),
        "stack.sglang": ("0.5.23", "0.5.18"),
    }


def test_a_client_without_a_limit_may_send_no_more_than_are_in_flight() -> None:
    all_at_once = replace(
        builders.condition(), traffic=replace(builders.condition().traffic, concurrency=8)
    )

    assert fields(told({"concurrency": None}), stated(all_at_once)) == {}


def test_an_open_load_has_a_rate_and_no_limit() -> None:
    before = builders.condition()
    traffic = replace(before.traffic, load=Load.OPEN, concurrency=None, rate=2.0)
    of = stated(replace(before, traffic=traffic))

    assert fields(told({"concurrency": None, "request_rate": 2}), of) == {}
    assert fields(told({"request_rate": "inf"}), of) == {"traffic.rate": ("2.0", "inf")}


def test_counts_are_held_to_what_is_stated_where_the_file_tells_none() -> None:
    facts = completed(RunFacts(requests_completed=8, cold=False), builders.condition())

    assert facts.requests_asked == 8
    assert facts.input_lengths == (64, 64)
    assert facts.output_lengths == (16, 16)
    assert facts.concurrency_asked == 4
    assert facts.cold is False
    assert facts.requests_completed == 8


def test_lengths_in_other_words_bound_nothing() -> None:
    before = builders.condition()
    drawn = replace(before, traffic=replace(before.traffic, lengths="normal(64,4)"))

    assert completed(RunFacts(), drawn).input_lengths is None
    assert fields(told({"input_tokens_stdev": 4.0}), stated(drawn)) == {}
