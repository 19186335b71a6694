"""Any JSON value that a result file may hold, for tests that no content makes a parser fail."""

from collections.abc import Iterable

from hypothesis import strategies as st

# Numbers as text, the names of what is no number, and text that UTF-8 cannot hold.
ODD_TEXT = st.sampled_from(["", "12.5", "-1", "nan", "inf", "1e400", "12 ms", "\ud800", "None"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ODD_TEXT | st.text(max_size=5)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def changes(keys: Iterable[str]) -> st.SearchStrategy[dict[str, object]]:
    """Return a strategy of other values for some of an object's keys."""
    return st.dictionaries(st.sampled_from(sorted(keys)), ANY_JSON)
