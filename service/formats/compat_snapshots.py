"""The table as one file, for hosts that cannot reach the service; and what is planned from it."""

from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, ValidationError

from service.formats.compat import CompatEntry
from service.formats.constraints import DeclaredRead
from service.formats.messages import Message

MAX_BYTES = 256 * 2**20


class SnapshotError(ValueError):
    """A file is no snapshot of the table."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is no snapshot: {why}; `kunline compat snapshot` writes one")


class CompatSnapshot(Message):
    """All lines of the table and the constraints in force, as they were at a moment."""

    version: Literal[1] = 1
    taken_at: AwareDatetime
    entries: tuple[CompatEntry, ...]
    constraints: tuple[DeclaredRead, ...]


def read_snapshot(path: Path) -> CompatSnapshot:
    """Return a snapshot. Raises SnapshotError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SnapshotError(path, "it is too large")
        return CompatSnapshot.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SnapshotError(path, error.strerror or str(error)) from error
    except ValidationError as error:
        raise SnapshotError(path, str(error.errors(include_url=False)[0]["msg"])) from error
