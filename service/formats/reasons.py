"""Reasons of the service said anew in Chinese, whoever tells them.

Reasons are stored in English, and what is stored is not changed: a sentence is recognised by the
words around its values. What people, tools and servers wrote is not translated.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from service.formats import ci_gate_words, progress_words, refusal_words
from service.formats.gate_words import CAUSES_ZH, SEEN_EN, SEEN_ZH
from service.formats.reason_words import (
    BETWEEN,
    BETWEEN_ZH,
    CLOSED,
    COUNTS,
    EN,
    LISTED,
    LISTED_ZH,
    SEEN,
    SENTENCES,
    SENTENCES_LISTED,
    TEXTS,
    WORDS_ZH,
    ZH,
)

# A sentence holds sentences at most so deep, and a text that is longer was written by others.
DEEPEST, LONGEST = 4, 4000


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """Sentences by their code: in Chinese, and what recognises each in English."""

    zh: Mapping[str, str]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]


@lru_cache(maxsize=2048)
def in_chinese(text: str) -> str:
    """Return a reason of the service in Chinese; what it did not write is returned as it is."""
    return text if len(text) > LONGEST else _told(text, 0, _reasons())


def gate_in_chinese(text: str) -> str:
    """Return what a gate in CI says, or any other reason, in Chinese as far as it is known."""
    return text if len(text) > LONGEST else _told(text, 0, _gates())


def refusal_in_chinese(text: str) -> str:
    """Return what the service or a command refused in Chinese, as far as its words are known.

    Sentences of refusals are looked for here alone: some are as short as what people write.
    """
    return text if len(text) > LONGEST else _told(text, 0, _refusals())


def progress_in_chinese(text: str) -> str:
    """Return what a runner says that it does in Chinese; a line of a console stays as it is."""
    return text if len(text) > LONGEST else _sentence(text, 0, _steps()) or text


def _told(text: str, depth: int, known: _Catalogue) -> str:
    """Return sentences that stand in a row, each as far as it is known."""
    if depth > DEEPEST:
        return text
    told = [(each, _sentence(each, depth, known)) for each in _apart(text, depth, known)]
    return BETWEEN_ZH.join(each if said is None else said for each, said in told)


def _apart(text: str, depth: int, known: _Catalogue) -> Iterator[str]:
    """Yield the sentences of a text; what none of ours begins with belongs to the one before."""
    first, *others = text.split(BETWEEN)
    for each in others:
        if _sentence(each, depth, known) is None:
            first += BETWEEN + each
        else:
            yield first
            first = each
    yield first


def _sentence(text: str, depth: int, known: _Catalogue) -> str | None:
    """Return a sentence of the catalogue in Chinese, or None where it is none of it."""
    if text in WORDS_ZH["jobs"]:
        return WORDS_ZH["jobs"][text]
    for code, pattern in known.patterns:
        if found := pattern.fullmatch(text):
            said = found.groupdict()
            if all(said[name] in CLOSED[name] for name in said.keys() & CLOSED.keys()):
                values = {name: _value(name, value, depth, known) for name, value in said.items()}
                return known.zh[code].format_map(values)
    return None


def _value(name: str, said: str, depth: int, known: _Catalogue) -> str:
    if name in SENTENCES:
        return _told(said, depth + 1, known)
    if name in SENTENCES_LISTED:
        return LISTED_ZH.join(
            _sentence(each, depth + 1, known) or each for each in said.split(LISTED)
        )
    if name in SEEN:
        return _of_a_gate(said)
    words = WORDS_ZH.get(name)
    if words is None or said in words:
        return said if words is None else words[said]
    return LISTED_ZH.join(words.get(each, each) for each in said.split(LISTED))


def _of_a_gate(said: str) -> str:
    """Return what a gate observed or required: one of its phrases, or some in a list."""
    whole = _phrase(said)
    if whole is not None:
        return whole
    return LISTED_ZH.join(_phrase(each) or each for each in re.split(r"[;,] ", said))


def _phrase(said: str) -> str | None:
    for code, pattern in _seen().patterns:
        if found := pattern.fullmatch(said):
            values = found.groupdict()
            cause = values.get("cause")
            if cause is None or cause in CAUSES_ZH:
                return SEEN_ZH[code].format_map({**values, "cause": CAUSES_ZH.get(cause or "")})
    return None


@lru_cache(maxsize=1)
def _reasons() -> _Catalogue:
    return _Catalogue(ZH, _patterns(EN))


@lru_cache(maxsize=1)
def _gates() -> _Catalogue:
    return _Catalogue({**ZH, **ci_gate_words.ZH}, _patterns({**EN, **ci_gate_words.EN}))


@lru_cache(maxsize=1)
def _refusals() -> _Catalogue:
    return _Catalogue({**ZH, **refusal_words.ZH}, _patterns({**EN, **refusal_words.EN}))


@lru_cache(maxsize=1)
def _steps() -> _Catalogue:
    return _Catalogue(progress_words.ZH, _patterns(progress_words.EN))


@lru_cache(maxsize=1)
def _seen() -> _Catalogue:
    return _Catalogue(SEEN_ZH, _patterns(SEEN_EN))


def _patterns(templates: Mapping[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return what recognises each sentence, those with the most words of their own first."""
    own = {code: len(re.sub(r"\{\w+\}", "", template)) for code, template in templates.items()}
    ordered = sorted(templates, key=lambda code: -own[code])
    return tuple((code, re.compile(_pattern(templates[code]), re.DOTALL)) for code in ordered)


def _pattern(template: str) -> str:
    """Return a sentence with anything where its values stand; only others' text holds a row."""
    parts = re.split(r"\{(\w+)\}", template)
    return "".join(
        f"(?P<{part}>{_anything(part)})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


def _anything(name: str) -> str:
    if name in COUNTS:
        return r"\d+"
    return ".+?" if name in TEXTS else "[^;]+?"
