"""Declared constraints on the wire: what is declared, by whom, and what was measured beside it."""

from typing import Annotated

from pydantic import AwareDatetime, Field, NonNegativeInt

from service.formats.compat_words import Said
from service.formats.constraint_files import ConstraintSection
from service.formats.identities import Name
from service.formats.messages import Message

Who = Annotated[str | None, Field(max_length=200)]


class DeclarationOrder(Message):
    """Constraints to be declared; one of the same name takes the place of what was."""

    constraints: tuple[ConstraintSection, ...] = Field(min_length=1, max_length=1000)
    why: Annotated[str, Field(min_length=1, max_length=2000)]
    who: Who = None


class RetractionOrder(Message):
    """A constraint to be taken back."""

    name: Name
    why: Annotated[str, Field(min_length=1, max_length=2000)]
    who: Who = None


class DeclaredRead(Message):
    """A constraint in force. words: it as a sentence; said: the same in both languages.

    broken_by: stacks that do not keep to it. contradicted_by: those of them that work.
    """

    constraint: ConstraintSection
    words: str
    said: Said | None = None
    declared_at: AwareDatetime
    declared_by: str
    broken_by: NonNegativeInt
    contradicted_by: tuple[str, ...]


class DeclaredAll(Message):
    """All constraints in force, after one was declared or taken back."""

    constraints: tuple[DeclaredRead, ...]
