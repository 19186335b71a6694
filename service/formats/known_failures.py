"""The table of known failures as it is kept: data beside this module, read once."""

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from service.domain import known_failure
from service.domain.known_failure import KnownFailure, Recognised, recognised_in
from service.domain.layer import Layer
from service.formats.identities import Name
from service.formats.messages import Message
from service.formats.yaml_file import read_yaml

TABLE = Path(__file__).with_name("known_failures.yaml")

Sentence = Annotated[str, Field(min_length=8, max_length=600)]


class Words(Message):
    """One sentence in English and in Chinese."""

    en: Sentence
    zh: Annotated[str, Field(min_length=4, max_length=400)]

    def words(self) -> known_failure.Words:
        """Return the sentence."""
        return known_failure.Words(self.en, self.zh)


class FailureSection(Message):
    """One row: see service.domain.known_failure.KnownFailure. sample: a line that shows it."""

    name: Name
    pattern: Annotated[str, Field(min_length=4, max_length=400)]
    layer: Layer
    survived: bool = False
    cause: Words
    remedy: Words
    source: Annotated[str, Field(min_length=4, max_length=400)]
    grade: Literal["A", "B", "C", "D", "I"]
    sample: Annotated[str, Field(min_length=4, max_length=600)]

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return pattern

    def failure(self) -> KnownFailure:
        """Return the row."""
        return KnownFailure(
            self.name,
            re.compile(self.pattern),
            self.layer,
            self.cause.words(),
            self.remedy.words(),
            self.source,
            self.grade,
            self.survived,
            self.sample,
        )


class KnownFailuresFile(Message):
    """The table, narrow patterns before wide ones."""

    failures: tuple[FailureSection, ...] = Field(min_length=1, max_length=500)


@cache
def known_failures() -> tuple[KnownFailure, ...]:
    """Return the table. It is part of the program: a broken one is a broken installation."""
    return tuple(row.failure() for row in read_yaml(TABLE, KnownFailuresFile).shape.failures)


def recognised(text: str, *, survived: bool = False) -> Recognised | None:
    """Return the known failure that shows in a text, with its line, or None.

    survived: look only for those that leave a server up.
    """
    rows = known_failures()
    return recognised_in(text, [row for row in rows if row.survived] if survived else rows)


def remedy_of(text: str, otherwise: str = "") -> str:
    """Return what to do about what a text shows: the table's word with its source, or another."""
    found = recognised(text)
    if found is None:
        return otherwise
    failure = found.failure
    return f"{failure.cause.en} {failure.remedy.en} ({failure.source}, grade {failure.grade})"
