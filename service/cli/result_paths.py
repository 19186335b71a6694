"""Which files the words on a command line name."""

from collections.abc import Sequence
from pathlib import Path

from service.formats.tools.registry import is_text_result
from service.formats.tools.tool import TextTool

STDIN = "-"
WILDCARDS = frozenset("*?[")
# In a folder these are taken for results; the others only where a tool knows their first lines.
SUFFIXES = (".json", ".jsonl", ".ndjson")
TEXT_SUFFIXES = (".csv", ".log", ".out", ".txt")


def paths_of(source: str, *, text_tools: Sequence[TextTool] = ()) -> list[str]:
    """Return the files a source names: itself, those in a folder, or those a pattern matches.

    In a folder, files ending in .json, .jsonl or .ndjson are taken, and of those ending in .csv,
    .log, .out or .txt the ones that a tool knows by their first lines; each also with .gz after it.
    text_tools: known beside those that always are.
    A name that matches nothing is returned as it stands, to be found missing by its reader.
    """
    try:
        return _found(source, text_tools) or [source]
    except (OSError, ValueError):
        # A folder that may not be entered, a name too long, no pattern: its reader says which.
        return [source]


def has_result_suffix(name: str) -> bool:
    """Return whether a name ends as those of result files do, packed ones too."""
    return name.lower().removesuffix(".gz").endswith((*SUFFIXES, *TEXT_SUFFIXES))


def _found(source: str, text_tools: Sequence[TextTool]) -> list[str]:
    path = Path(source)
    if path.is_dir():
        return sorted(str(each) for each in path.rglob("*") if _is_result(each, text_tools))
    if source == STDIN or path.exists() or not WILDCARDS.intersection(source):
        return [source]
    start = Path(path.anchor)
    matching = start.glob(str(path.relative_to(start)) if path.anchor else source)
    return sorted(str(each) for each in matching if each.is_file())


def _is_result(path: Path, text_tools: Sequence[TextTool]) -> bool:
    if not has_result_suffix(path.name) or not path.is_file():
        return False
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES) or is_text_result(path, text_tools=text_tools)
