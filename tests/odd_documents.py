"""Objects and lines that no tool ever wrote, for the claim that reading them never breaks."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "12",
    "NaN",
    "\ud800",
    [],
    {},
    [None],
    {"": None},
    {"unit": 3},
)


def values() -> st.SearchStrategy[Any]:
    """Return any value of JSON, with what Python's reader lets through besides."""
    leaves = st.sampled_from(ODD_VALUES) | st.floats() | st.integers() | st.text(max_size=8)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
        ),
        max_leaves=8,
    )


@st.composite
def changed(draw: st.DrawFn, documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one of some documents with some values, at any depth, replaced or taken out."""
    document = copy.deepcopy(dict(draw(st.sampled_from(documents))))
    for _ in range(draw(st.integers(1, 4))):
        _change(draw, document)
    return document


def _change(draw: st.DrawFn, document: dict[str, Any]) -> None:
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            return
        key = draw(st.sampled_from(list(keys)))
        below = place[key]
        if isinstance(below, dict | list) and below and draw(st.booleans()):
            place = below
            continue
        if isinstance(place, dict) and draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(values())
        return
