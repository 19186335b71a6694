"""The folder that a service keeps its database and artefacts in, and the database's name there."""

import os
from pathlib import Path


def data_home() -> Path:
    """Return the user's folder for it, which all processes take that are told no other."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(base) / "kunline"


def embedded_database(folder: Path) -> str:
    """Return the URL of the SQLite database in a folder."""
    return f"sqlite:///{folder.resolve() / 'kunline.db'}"
