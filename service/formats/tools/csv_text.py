"""Rows with commas out of lines, each with the line it begins in; a damaged one costs no other."""

import csv
from collections.abc import Iterable, Iterator

from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Found, Problem

# A cell may hold a whole run's arguments as JSON; more in one is a quote that never closes.
MOST_CELL_CHARACTERS = 2**20
csv.field_size_limit(MOST_CELL_CHARACTERS)


def rows(lines: Iterable[str], *, delimiter: str = ",") -> Iterator[Found[list[str]] | Problem]:
    """Yield the rows that hold anything, without a byte order mark, and what is wrong in between.

    A quoted cell may go over several lines.
    """
    reader = csv.reader(_unmarked(lines), delimiter=delimiter, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(line, ProblemCode.NOT_CSV, f"not a row with commas: {error}")
            continue
        if any(cell.strip() for cell in row):
            yield Found(line, row)


def _unmarked(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        # A line may end in CR alone or hold one inside; to the reader that is a new line.
        yield (line.removeprefix("\ufeff") if number == 0 else line).replace("\0", "")
