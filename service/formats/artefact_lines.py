"""A text artefact by its lines, a page at a time."""

from pydantic import NonNegativeInt, PositiveInt

from service.formats.identities import Key
from service.formats.messages import Message


class LineRead(Message):
    """One line. number: counts from 1. text: cut where it is too long to be shown."""

    number: PositiveInt
    text: str


class LinesPage(Message):
    """Lines in order, those that hold the words searched for, or all.

    lines_total: of the whole text. matches: how many lines hold the words. cursor: the number of
    the first line of the next page; None at the end.
    """

    digest: Key
    lines_total: NonNegativeInt
    matches: NonNegativeInt
    lines: tuple[LineRead, ...]
    cursor: PositiveInt | None
