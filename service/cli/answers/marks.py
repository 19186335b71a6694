"""Foreign text inside marked-up text: names, findings and links that others wrote, made harmless.

An answer is put where a page is made of it: nothing in a name may end a table's cell, start a tag
or a link, call a person by @name, or point at an issue.
"""

import re
import shlex
from collections.abc import Sequence
from urllib.parse import quote

import httpx

from service.cli.plain import plain

# As much of one foreign text as is shown; findings may be whole logs.
TEXT_MAX = 400
COMMAND_MAX = 4000
URL_MAX = 2000
# What Markdown or a forge gives a meaning to, each told by its number instead. An underscore
# inside a word has none.
_MEANT = re.compile(r"[\\`*{}\[\]<>|#&!$~^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# Nothing of no width, behind which neither a name nor an address goes on.
_GAP = "&#8203;"
_CALLS = re.compile(r"@(?=\w)|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
# Inside a code span only these two mean something, in a table or anywhere.
_ENDS_CODE = str.maketrans({"`": r"\x60", "|": r"\x7c"})
# What would end a link or its brackets.
_ENDS_LINK = re.compile(r"[\s<>()\[\]\\`|\"]")
# An XML document may hold neither, however they are written.
_NO_XML = re.compile("[￾￿]")


def clipped(text: str, most: int = TEXT_MAX) -> str:
    """Return one line of foreign text, cut where it is too long, with nothing that commands."""
    line = plain(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def code(text: str) -> str:
    r"""Return foreign text as a code span that holds in a table: a backtick reads \x60."""
    shown = clipped(text).translate(_ENDS_CODE)
    return f"`{shown}`" if shown else "-"


def words(text: str) -> str:
    """Return a foreign sentence as Markdown that says just that."""
    escaped = _MEANT.sub(_told_by_number, clipped(text))
    return _CALLS.sub(lambda found: f"{found[0]}{_GAP}", escaped) or "-"


def _told_by_number(found: re.Match[str]) -> str:
    # A number sign before a number points at an issue even when it is told by its own number.
    return f"&#{ord(found[0])};{_GAP if found[0] == '#' else ''}"


def link(label: str, url: str) -> str:
    """Return a link with a label of ours; an address that is not of the web is only shown."""
    try:
        is_web = len(url) <= URL_MAX and httpx.URL(url).scheme in {"http", "https"}
    except httpx.InvalidURL:
        is_web = False
    if not is_web:
        return f"{label} ({code(url)})"
    return f"[{label}]({_ENDS_LINK.sub(lambda found: quote(found[0], safe=''), url)})"


def command(argv: Sequence[str]) -> str:
    """Return a command as a line for a shell, whatever its words hold."""
    return clipped(shlex.join(argv), COMMAND_MAX)


def fenced(lines: Sequence[str], kind: str = "sh") -> str:
    """Return lines as a block of code that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}{kind}", *map(plain, lines), fence))


def xml_text(text: str) -> str:
    """Return foreign text as an XML document may hold it; its marks are the writer's business."""
    return _NO_XML.sub("?", plain(text))


def command_data(text: str) -> str:
    """Return text as the message of a workflow command, after GitHub's own toolkit."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Return text as a property of a workflow command."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def log_line(text: str) -> str:
    """Return a line for a CI log in which no workflow command begins.

    A command of two colons begins a line, and our lines begin with words of ours; an old one of
    two number signs may stand anywhere.
    """
    return plain(text).replace("##[", "## [")
