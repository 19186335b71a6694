"""What an older Kunline did not tell of a session a newer one tells, and it comes out the same."""

import os
import subprocess
import sys
from pathlib import Path

from sqlalchemy import Engine, text

from service.store.database import reading, writing
from service.store.screens import ScreenFilter
from service.usecases.read_noise import list_noise
from service.usecases.read_screens import list_screens
from tests.integration import builders, path
from tests.integration.builders import OLD
from tests.integration.nights import CELLS, do_nights

LIMIT_S = 60
MORE = (builders.condition(concurrency=16),)


def told(engine: Engine) -> tuple[object, object]:
    """Return the noise and the screens that are stored, without the times they were told at."""
    with reading(engine) as session:
        noise = list_noise(session, condition_keys=[cell.key for cell in (*CELLS, *MORE)])
        screens = list_screens(session, ScreenFilter(), limit=200, cursor=None).screens
    return noise, [each.model_dump(exclude={"looked_at", "look"}) for each in screens]


def forget(engine: Engine) -> None:
    """Leave the database as one that was migrated from before there were noise and screens."""
    with writing(engine) as session:
        for table in ("moved", "screen", "event", "look", "noise"):
            session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 — the names are ours


def test_retelling_restores_what_was_never_told_and_changes_nothing_twice(
    engine: Engine, url: str, tmp_path: Path
) -> None:
    do_nights(engine, range(8))
    path.do_session(
        engine, builders.session_order(arms=(OLD,) * 3, conditions=MORE, baseline=None), "noise"
    )
    before = told(engine)
    forget(engine)
    environment = {**os.environ, "KUNLINE_DATABASE_URL": url, "KUNLINE_DATA_DIR": str(tmp_path)}

    done = [
        subprocess.run(
            [sys.executable, "-m", "service.admin", "db", "retell"],
            env=environment, check=True, capture_output=True, text=True, timeout=LIMIT_S,
        )
        for _ in range(2)
    ]  # fmt: skip

    assert "9 of 9 sessions told" in done[0].stderr
    assert told(engine) == before
