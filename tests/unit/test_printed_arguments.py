"""Arguments as programs print them: each plain one by its name, and nothing that was guessed."""

import pytest

from service.formats.tools.printed_arguments import MOST_CHARACTERS, arguments_in


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        pytest.param("Namespace(a=1, b='x', c=None)", {"a": 1, "b": "x", "c": None}, id="a call"),
        pytest.param("{'a': 1.5, 'b': [1, (2,)]}\n", {"a": 1.5, "b": [1, [2]]}, id="a dictionary"),
        pytest.param("Namespace(rate=inf)", {"rate": float("inf")}, id="infinity"),
        pytest.param("N(a=-1, b=<E.X: 'x'>, c=2)", {"a": -1, "c": 2}, id="an enumeration"),
        pytest.param("N(a=f(1), b=g.h, c=2)", {"c": 2}, id="what has no plain value"),
        pytest.param(
            "N(graph=G(decode=P(max_bs=8)), tp=2)",
            {"graph": {"decode": {"max_bs": 8}}, "tp": 2},
            id="objects in objects",
        ),
    ],
)
def test_plain_values_are_told_and_others_left_out(printed: str, told: dict[str, object]) -> None:
    assert arguments_in(printed) == told


@pytest.mark.parametrize(
    "printed",
    ["", "N(a=1", "[1]", "__import__('os')", "N(a=1)" + " " * MOST_CHARACTERS, "N(" * 5000],
    ids=["nothing", "cut", "a list", "a call with a value", "too long", "too deep"],
)
def test_what_is_no_arguments_tells_none(printed: str) -> None:
    assert arguments_in(printed) is None
