"""Read a text artefact by its lines: a page of all of them, or of those that hold some words."""

from collections.abc import Sequence

from service.formats.artefact_lines import LineRead, LinesPage
from service.store.artefacts import Files
from service.store.database import ReadSession
from service.usecases.keep_artefact import read_artefact

# A longer line is cut: no page shows it whole, and one line may be a megabyte of JSON.
LINE_MAX = 2000


def read_lines(
    session: ReadSession, files: Files, *, digest: str, begin: int, limit: int, search: str | None
) -> LinesPage:
    """Return lines of a text from a number on; with search only those that hold it, in any case.

    Bytes that are no UTF-8 are shown as replacement characters.
    Raises UnknownArtefactError and ArtefactFileMissingError.
    """
    text = read_artefact(session, files, digest=digest).decode(errors="replace")
    # Not splitlines(): that would break a line at form feeds and at separators within its JSON.
    lines = text.removesuffix("\n").split("\n") if text else []
    numbers = _matching(lines, search)
    rest = [number for number in numbers if number >= begin]
    page = rest[:limit]
    return LinesPage(
        digest=digest,
        lines_total=len(lines),
        matches=len(numbers),
        lines=tuple(
            LineRead(number=number, text=lines[number - 1].removesuffix("\r")[:LINE_MAX])
            for number in page
        ),
        cursor=rest[limit] if len(rest) > limit else None,
    )


def _matching(lines: Sequence[str], search: str | None) -> Sequence[int]:
    """Return the numbers of the lines that hold some words, counted from 1."""
    if not search:
        return range(1, len(lines) + 1)
    words = search.casefold()
    return [number for number, line in enumerate(lines, 1) if words in line.casefold()]
