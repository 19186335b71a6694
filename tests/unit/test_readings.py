"""Readings as they are answered: failures and what is unknown are problems, oddities are not."""

import json

from hypothesis import given
from hypothesis import strategies as st

from service.formats.readings import ReadingsRead
from service.formats.tools.registry import read_bytes
from tests.results import SERVING, lines, serving

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def answer(data: bytes) -> ReadingsRead:
    return ReadingsRead.of(read_bytes(data, file="x.jsonl"))


def test_problems_decide_validity_and_warnings_do_not() -> None:
    (reading,) = answer(lines([serving(duration=1.0, median_ttft_ms=0.0)])).readings

    assert [problem.code for problem in reading.problems] == ["ttft_zero", "condition_incomplete"]
    assert [warning.code for warning in reading.warnings] == ["short_duration"]


def test_every_value_has_its_base_unit() -> None:
    (reading,) = answer(lines([serving()])).readings

    assert {value.unit for value in reading.metrics.values()} == {
        "s",
        "tok/s",
        "req/s",
        "tok",
        "ratio",
    }


def test_an_answer_is_legal_json_whatever_rates_the_tool_writes() -> None:
    text = answer(lines([serving(request_rate=float("inf"))])).model_dump_json()

    assert "Infinity" not in text
    assert json.loads(text)["readings"][0]["condition"]["request_rate"] == "inf"


@given(st.dictionaries(st.sampled_from(sorted(SERVING)), JSON))
def test_no_content_of_a_known_key_makes_it_fail(changes: dict[str, object]) -> None:
    text = answer(lines([SERVING | changes])).model_dump_json()

    assert json.loads(text)


@given(JSON)
def test_no_server_info_makes_it_fail(content: object) -> None:
    info = {"version": content, "internal_states": [content], "cuda_graph_config": content}

    assert json.loads(answer(lines([serving(server_info=info)])).model_dump_json())


def test_half_a_character_is_written_as_a_question_mark() -> None:
    data = b'{"backend": "\\ud800", "dataset_name": "x", "median_ttft_ms": 1}\n{"\\udfff": 1}'

    assert answer(data).readings[0].condition["backend"] == "?"
    assert json.loads(answer(data).model_dump_json())
