"""The interface's words, as the pages look them up."""

import json
import re
from functools import cache

from tests.tracked_files import ROOT

WORDS = ROOT / "web/src/words"
LANGUAGES = ("en", "zh")


@cache
def words(language: str) -> dict[str, str]:
    """Return the catalogue of a language."""
    found: dict[str, str] = json.loads((WORDS / f"{language}.json").read_text(encoding="utf-8"))
    return found


def word(language: str, key: str, **filled: object) -> str:
    """Return a word with its names filled in, as `t` of web/src/words does."""

    def put(match: re.Match[str]) -> str:
        name, one, many = match.groups()
        if one is None:
            return str(filled[name])
        return one if str(filled[name]) == "1" else str(many)

    return re.sub(r"\{(\w+)(?:\|(\w*)\|(\w*))?\}", put, words(language)[key])


def names_of(text: str) -> set[str]:
    """Return the names that a word leaves to be filled in."""
    return set(re.findall(r"\{(\w+)", text))
