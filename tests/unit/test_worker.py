"""When a runner begins a job: within its window, and with room on its disks."""

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from runners.config import Settings
from runners.worker import Beginning

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def settings(folder: Path, *, spool: Path | None = None, window: str = "") -> Settings:
    told = {"cache_dir": folder / "cache", "spool_dir": spool or folder / "spool", "window": window}
    return Settings.model_validate(told)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(words, check=False).returncode != 0:
        pytest.skip("no disk may be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("window", "begins"), [("", True), ("09:00-17:00 UTC", True), ("22:00-06:00 UTC", False)]
)
def test_a_job_begins_within_the_window_and_outside_of_it_the_runner_says_that_it_lives(
    window: str, *, begins: bool, tmp_path: Path
) -> None:
    heard: list[str] = []
    beginning = Beginning(settings(tmp_path, window=window), lambda: heard.append("here"))

    assert beginning.may_begin(NOON) is begins
    assert heard == ([] if begins else ["here"])


def test_a_window_is_told_as_it_was_set(tmp_path: Path) -> None:
    assert str(settings(tmp_path, window="22:00-06:00 Asia/Shanghai").window) == (
        "22:00-06:00 Asia/Shanghai"
    )


def test_a_runner_whose_disk_is_full_takes_no_job_and_says_so_once(
    full: Path, tmp_path: Path
) -> None:
    beginning = Beginning(settings(tmp_path, spool=full / "spool"))

    with capture_logs() as logs:
        begun = [beginning.may_begin(NOON) for _ in range(3)]

    assert begun == [False] * 3
    assert [each["folders"] for each in logs] == [[str(full / "spool")]]
