"""The layout: ARCHITECTURE.md names exactly the rooms that exist, and modules stay small."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.tracked_files import ROOT, text_of, tracked_files

# A room of the two import packages is a folder or a module directly below them.
PACKAGES = ("service", "runners")

ALLOWED_AT_THE_ROOT = frozenset(
    {
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Dockerfile",
        "LICENSE",
        "README.md",
        "README.zh-CN.md",
        "action.yml",
        "dev",
        "docker-compose.yml",
        "docs",
        "matrix",
        "migrations",
        "pyproject.toml",
        "requirements-dev.lock",
        "requirements.lock",
        "runners",
        "service",
        "tests",
        "web",
    }
)

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
FUNCTION_LINES_MEDIAN = 12

# What is written for other Pythons or as data lies apart from the code, but is held to the same.
SOURCES = tuple(path for path in tracked_files() if path.suffix == ".py")


def rooms() -> set[str]:
    """Return every room: top-level folders, and what lies directly below the two packages."""
    folders = {f"{path.parts[0]}/" for path in tracked_files() if len(path.parts) > 1}
    below = [path for path in tracked_files() if path.parts[0] in PACKAGES]
    packages = {"/".join(path.parts[:2]) + "/" for path in below if len(path.parts) > 2}
    modules = {str(path) for path in below if len(path.parts) == 2} - {
        f"{package}/__init__.py" for package in PACKAGES
    }
    return folders | packages | modules


def named_rooms() -> Counter[str]:
    """Return the rooms that headings of ARCHITECTURE.md name, and how often each."""
    headings = re.findall(r"^#+ (.*`.*)$", text_of(Path("ARCHITECTURE.md")), flags=re.MULTILINE)
    return Counter(room for heading in headings for room in re.findall(r"`([^`]+)`", heading))


def functions() -> Iterator[tuple[str, int]]:
    """Yield each function of the two packages, as path:line name, with its number of lines."""
    for path in SOURCES:
        if path.parts[0] not in PACKAGES:
            continue
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{path}:{node.lineno} {node.name}", length


def test_architecture_names_every_room_and_no_other() -> None:
    assert set(named_rooms()) == rooms()


def test_architecture_names_no_room_twice() -> None:
    twice = [room for room, times in named_rooms().items() if times > 1]

    assert twice == []


def test_the_root_holds_only_what_the_design_allows() -> None:
    found = {path.parts[0] for path in tracked_files()}
    others = {name for name in found if not name.startswith(".")} - ALLOWED_AT_THE_ROOT

    assert others == set()


def test_no_module_is_over_400_lines() -> None:
    lengths = {str(path): text_of(path).count("\n") for path in SOURCES}
    long = {name: length for name, length in lengths.items() if length > MODULE_LINES_MAX}

    assert long == {}


def test_no_function_is_over_50_lines() -> None:
    long = [
        f"{name}: {length} lines" for name, length in functions() if length > FUNCTION_LINES_MAX
    ]

    assert long == []


def test_half_of_all_functions_are_short() -> None:
    lengths = [length for _, length in functions()]

    assert median(lengths) <= FUNCTION_LINES_MEDIAN


def test_no_room_is_called_by_a_word_that_says_nothing() -> None:
    empty_words = {"utils", "util", "helpers", "helper", "manager", "common", "base", "misc"}
    found = [str(path) for path in SOURCES if empty_words.intersection(path.with_suffix("").parts)]

    assert found == []


def test_the_tree_is_not_empty() -> None:
    assert (ROOT / "pyproject.toml").is_file()
    assert len(SOURCES) > len(PACKAGES)
