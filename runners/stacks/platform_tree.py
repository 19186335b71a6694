"""Our own out-of-tree platforms: where they lie, and the version that names their content."""

import tomllib
from hashlib import sha256
from pathlib import Path

from service.domain.key import short

PLATFORMS = Path(__file__).with_name("platforms")

# What tools leave beside sources: it is never built into a wheel and says nothing of them.
_LEFT_BEHIND = frozenset({"__pycache__", ".ruff_cache", ".mypy_cache", "dist"})


class UnknownPlatformError(LookupError):
    """A stack names a platform that is not shipped with the runner."""

    def __init__(self, name: str) -> None:
        known = sorted(folder.name for folder in PLATFORMS.iterdir() if folder.is_dir())
        super().__init__(f"no platform {name!r} is shipped here; there are {', '.join(known)}")


def platform_folder(name: str) -> Path:
    """Return the folder of a platform's sources. Raises UnknownPlatformError."""
    folder = PLATFORMS / name
    if Path(name).name != name or not (folder / "pyproject.toml").is_file():
        raise UnknownPlatformError(name)
    return folder


def tree_digest(folder: Path) -> str:
    """Return the SHA-256 over every file below a folder: its relative path and its bytes."""
    digest = sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        relative = path.relative_to(folder)
        if path.is_file() and not _LEFT_BEHIND.intersection(relative.parts):
            content = path.read_bytes()
            digest.update(f"{relative.as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def platform_version(name: str) -> str:
    """Return what a platform built from its present sources is called: '0.1.0+tree.<12 hex>'.

    Raises UnknownPlatformError.
    """
    folder = platform_folder(name)
    return f"{_kunline_table(folder)['version']}+tree.{short(tree_digest(folder))}"


def _kunline_table(folder: Path) -> dict[str, str | int]:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, str | int] = project["tool"]["kunline"]
    return table
