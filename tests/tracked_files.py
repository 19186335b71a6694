"""The files that git tracks, or is about to; where there is no git, the files of the tree."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What tools leave beside sources where no git is there to ignore it.
LEFT_BEHIND = frozenset(
    {
        ".venv",
        "__pycache__",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".import_linter_cache",
        "node_modules",
        "dist",
    }
)


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return the project's files, relative to its root, sorted."""
    names = _asked_of_git() if (ROOT / ".git").exists() else _walked()
    return tuple(sorted(path for path in names if (ROOT / path).is_file()))


@cache
def text_of(path: Path) -> str:
    """Return the text of one file, given relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


def _asked_of_git() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=30,
    )
    return [Path(name) for name in listing.stdout.decode().split("\0") if name]


def _walked() -> list[Path]:
    return [
        path.relative_to(ROOT)
        for path in ROOT.rglob("*")
        if path.is_file() and not LEFT_BEHIND.intersection(path.relative_to(ROOT).parts)
    ]
