"""An answer as lines for a terminal or a CI log."""

from collections.abc import Iterator

from service.cli.answers.marks import log_line
from service.cli.answers.pen import PLAIN
from service.cli.answers.report import Report, report_of
from service.cli.answers.rows import NOTHING
from service.cli.answers.words import Language, say
from service.formats.gate_answers import GateAnswer

# What a field has that says nothing.
EMPTY = frozenset({"", NOTHING})
# So many rows of each table; Markdown, JUnit and JSON have more.
ROWS_MAX = 20


def text(answer: GateAnswer, language: Language) -> str:
    """Return an answer as lines, each of which begins with a word or a mark of ours."""
    return "\n".join(map(log_line, _lines(report_of(answer, language, PLAIN), language)))


def _lines(report: Report, language: Language) -> Iterator[str]:
    yield report.title
    yield f"  {report.headline}"
    yield from (f"  - {fact}" for fact in report.facts)
    for table in report.tables:
        if table.folded:
            continue
        yield f"{table.title}:"
        for first, *others in table.rows[:ROWS_MAX]:
            named = zip(table.header[1:], others, strict=True)
            told = ", ".join(f"{name} {value}" for name, value in named if value not in EMPTY)
            yield f"  - {first}: {told}" if told else f"  - {first}"
        if (left := len(table.rows) - ROWS_MAX) > 0:
            yield f"  - {say(language, 'more', count=left)}"
    for title, lines in (("section.notes", report.notes), ("section.links", report.links)):
        if lines:
            yield f"{say(language, title)}:"
            yield from (f"  - {line}" for line in lines[:ROWS_MAX])
