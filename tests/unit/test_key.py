"""Canonical JSON and content keys: one text per value, and keys that never change."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.condition import (
    Cards,
    Condition,
    Load,
    Parallelism,
    Procedure,
    ServedModel,
    Traffic,
)
from service.domain.key import NotCanonicalError, canonical_json, content_key, short
from service.domain.layer import Layer
from service.domain.protocol import Protocol
from service.domain.stack import Component, Stack, SwapScope

CONDITION = Condition(
    cards=Cards(model="P800 OAM", form="OAM", count=8),
    parallelism=Parallelism(tp=8),
    model=ServedModel("Qwen/Qwen3-8B", "a" * 64, "w8a8_int8", "bfloat16", "auto"),
    traffic=Traffic(
        load=Load.CLOSED,
        dataset="random-ids",
        input_tokens=4096,
        output_tokens=256,
        lengths="fixed",
        concurrency=16,
        rate=None,
        prompts=160,
        shared_prefix_tokens=0,
        seeds_digest="b" * 64,
        ignore_eos=True,
        temperature=0.0,
    ),
    procedure=Procedure(cache="flushed", warmup_requests=16),
    server_arguments={"page-size": 128, "attention-backend": "kunlun"},
    server_environment={"XMLIR_ENABLE_FAST_FC": "1"},
)
STACK = Stack(
    name="golden",
    components=(
        Component("sglang", "0.5.17", Layer.SERVER, SwapScope.PROCESS),
        Component("driver", "5.0.21.47", Layer.DRIVER, SwapScope.HOST),
        Component("linux", "6.1", Layer.DRIVER, SwapScope.HOST, recorded=True),
    ),
    server_arguments={"--disable_cuda_graph": True},
)
PROTOCOL = Protocol(
    "sglang.bench_serving", "0.5.23", "c" * 64, metric_revision=1, measuring_revision=1
)


@pytest.mark.parametrize(
    ("key", "golden"),
    [
        pytest.param(
            CONDITION.key,
            "63f8df5b9ba31c4b9b6a93f7b44884092954bbbd9f2a4a2c54dba6191d696f46",
            id="condition",
        ),
        pytest.param(
            STACK.key,
            "07bddd4eef68f648132c7b7742d77725a3af9eafe00ac83e3236906663f5ce52",
            id="stack",
        ),
        pytest.param(
            PROTOCOL.key,
            "3c9b906255f18365188218674fc955bbf55880761a1f836b3a6f16af1250b1e9",
            id="protocol",
        ),
    ],
)
def test_a_stored_key_never_changes_with_a_release(key: str, golden: str) -> None:
    assert key == golden


def test_the_order_of_a_map_and_the_spelling_of_a_number_do_not_count() -> None:
    assert canonical_json({"b": 1.0, "a": [True, None]}) == '{"a":[true,null],"b":1}'
    assert content_key({"a": 2, "b": 1}) == content_key({"b": 1.0, "a": 2.0})


@pytest.mark.parametrize("value", [nan, inf, {1: "a"}, {"a": {1, 2}}, b"bytes", object()])
def test_a_value_without_a_stable_text_is_refused(value: object) -> None:
    with pytest.raises(NotCanonicalError):
        content_key(value)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.none()))
def test_unlike_maps_have_unlike_keys(value: dict[str, object]) -> None:
    other = {**value, "one more field": 1}

    assert content_key(value) == content_key(dict(reversed(value.items())))
    assert content_key(value) != content_key(other)


def test_people_see_twelve_digits() -> None:
    assert short(CONDITION.key) == CONDITION.key[:12]
