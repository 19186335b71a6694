"""The nearest valid word, for messages about a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches

# More than this many words help nobody to find the right one.
MOST_WORDS = 12
CUTOFF = 0.5


def hint(word: str, known: Iterable[str]) -> str:
    """Return 'did you mean …?' for a wrong word, or the words there are where none is near."""
    words = sorted(set(known))
    if near := _nearest(word, words):
        return f"did you mean {near!r}?"
    if not words:
        return "there is none"
    shown = ", ".join(words[:MOST_WORDS])
    return f"there are {shown}" + (", …" if len(words) > MOST_WORDS else "")


def _nearest(word: str, words: list[str]) -> str | None:
    by_folded = {known.casefold(): known for known in words}
    near = get_close_matches(word.casefold(), by_folded, n=1, cutoff=CUTOFF)
    return by_folded[near[0]] if near else None
