"""The committed copy of the API's description: write it, or say that it is stale."""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from service.api.app import create_app
from service.api.door import Door
from service.config import Settings
from service.store.artefacts import ArtefactFiles
from service.store.database import create_database
from service.usecases.send_nudges import nobody

COPY = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def description() -> str:
    """Return the API's description as it is committed; nothing is opened for it."""
    settings = Settings(database_url="sqlite:///nowhere.db", web_dir=Path("nowhere"))
    door = Door(
        settings=settings,
        engine=create_database(settings.database),
        files=ArtefactFiles("memory://artefacts"),
        announce=nobody,
        now=lambda: datetime.now(UTC),
    )
    return json.dumps(create_app(door).openapi(), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write docs/openapi.json, or with --check return 1 where it is not what the code says."""
    parser = argparse.ArgumentParser(prog="python -m service.api.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; 1 where it is stale")
    asked = parser.parse_args()
    wanted = description()
    if not asked.check:
        COPY.parent.mkdir(exist_ok=True)
        COPY.write_text(wanted)
        return 0
    if COPY.is_file() and COPY.read_text() == wanted:
        return 0
    sys.stderr.write(f"{COPY.name} is stale: python -m service.api.openapi writes it anew\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
