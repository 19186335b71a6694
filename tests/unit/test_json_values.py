"""Values out of bytes: the fast way and the plain way give the same, NaN and Infinity included."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats.tools.json_values import MAX_NOT_FINITE, value_in

INSIDE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=8),
    lambda held: (
        st.lists(held, max_size=4) | st.dictionaries(st.text(max_size=4), held, max_size=4)
    ),
    max_leaves=12,
)


@given(INSIDE)
def test_what_python_writes_is_read_back(value: Any) -> None:
    written = json.dumps(value)

    assert repr(value_in(written.encode())) == repr(json.loads(written))


@pytest.mark.parametrize(
    "text",
    [
        '{"é": NaN, "b": -Infinity}',
        '{"a": "x: NaN, y", "b": NaN}',
        '{"a": "\\u0000NaN", "b": NaN}',
        '{"a": [NaN, {"b": Infinity}], "c": Infinity}',
        json.dumps({f"k{number}": math.nan for number in range(MAX_NOT_FINITE + 2)}),
        "NaN",
    ],
)
def test_odd_places_of_them_are_read_the_plain_way(text: str) -> None:
    assert repr(value_in(text.encode())) == repr(json.loads(text))


@pytest.mark.parametrize("data", [b"", b"Infinity2", b'{"a": nan}', b'{"a": +NaN}', b"{}{}"])
def test_what_is_no_value_is_refused(data: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        value_in(data)
