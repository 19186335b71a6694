"""An answer as Markdown: what a pull request's comment, a check and a step's summary show.

It is kept below a number of bytes, and says what was left out for it: first rows beyond so many of
each table, then whole tables from the last.
"""

from collections.abc import Sequence

from service.cli.answers.marks import fenced
from service.cli.answers.pen import MARKDOWN
from service.cli.answers.report import Report, report_of
from service.cli.answers.rows import Table
from service.cli.answers.words import Language, say
from service.formats.gate_answers import GateAnswer

# A comment on GitHub has at most 65,536 characters, a check's summary 65,535. Gitee tells no
# number; in bytes it is below what a database's text column holds.
COMMENT_BYTES_MAX = 60_000
# So many rows of each table are kept, tried in this order until the whole fits.
_KEPT = (1000, 300, 100, 40, 15, 5)


def markdown(
    answer: GateAnswer,
    language: Language,
    *,
    footer: str | None = None,
    most_bytes: int = COMMENT_BYTES_MAX,
) -> str:
    """Return an answer as Markdown of at most so many bytes."""
    report = report_of(answer, language, MARKDOWN)
    foot = "" if footer is None else f"\n<sub>{footer}</sub>\n"
    for kept in _KEPT:
        head, sections = _head(report), _sections(report, language, kept)
        text = "\n\n".join((head, *(body for _, body in sections))) + "\n" + foot
        if _bytes(text) <= most_bytes:
            return text
    return _shortened(head, sections, language, foot, most_bytes)


def _shortened(
    head: str, sections: Sequence[tuple[str, str]], language: Language, foot: str, most_bytes: int
) -> str:
    """Return as many sections as fit, and the titles of those that do not."""
    kept: list[str] = [head]
    left: list[str] = []
    every = say(language, "cut.sections", titles=", ".join(title for title, _ in sections))
    room = most_bytes - _bytes(head) - _bytes(every) - _bytes(foot) - 8
    for title, body in sections:
        room -= _bytes(body) + 2
        if room >= 0 and not left:
            kept.append(body)
        else:
            left.append(title)
    kept.append(say(language, "cut.sections", titles=", ".join(left)))
    return "\n\n".join(kept) + "\n" + foot


def _head(report: Report) -> str:
    facts = "\n".join(f"- {fact}" for fact in report.facts)
    return f"## {report.title}\n\n**{report.headline}**\n\n{facts}"


def _sections(report: Report, language: Language, kept: int) -> list[tuple[str, str]]:
    """Return the title and the text of each section."""
    sections = [(table.title, _table(table, language, kept)) for table in report.tables]
    # To repeat comes before what did not move and how it was measured, which are folded.
    first = next((at for at, table in enumerate(report.tables) if table.folded), len(sections))
    if report.commands:
        title = say(language, "section.reproduce")
        sections.insert(first, (title, _commands(report, title, language, kept)))
    for key, lines in (("section.notes", report.notes), ("section.links", report.links)):
        if lines:
            title = say(language, key)
            sections.append((title, f"### {title}\n\n{_list(lines, language, kept)}"))
    return sections


def _table(table: Table, language: Language, kept: int) -> str:
    lines = [_row(table.header), _row(["---"] * len(table.header))]
    lines += [_row(row) for row in table.rows[:kept]]
    body = "\n".join(lines)
    if (left := len(table.rows) - kept) > 0:
        body += f"\n\n{say(language, 'cut.rows', count=left)}"
    if not table.folded:
        return f"### {table.title}\n\n{body}"
    summary = f"<summary>{table.title} ({len(table.rows)})</summary>"
    return f"<details>{summary}\n\n{body}\n\n</details>"


def _row(columns: Sequence[str]) -> str:
    return f"| {' | '.join(columns)} |"


def _commands(report: Report, title: str, language: Language, kept: int) -> str:
    parts = [f"### {title}"]
    for each in report.commands[:kept]:
        parts += [say(language, "of", of=each.of), fenced([each.line])]
    if (left := len(report.commands) - kept) > 0:
        parts.append(say(language, "cut.rows", count=left))
    return "\n\n".join(parts)


def _list(lines: Sequence[str], language: Language, kept: int) -> str:
    shown = [f"- {line}" for line in lines[:kept]]
    if (left := len(lines) - kept) > 0:
        shown.append(f"- {say(language, 'cut.rows', count=left)}")
    return "\n".join(shown)


def _bytes(text: str) -> int:
    return len(text.encode())
