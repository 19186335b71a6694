"""The systemd units: they start commands that exist, with settings that are read."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tracked_files import ROOT
from tests.unit.test_compose import fields_of

UNITS = ROOT / "docs" / "systemd"
RUNNER, SERVICE = "kunline-runner@.service", "kunline@.service"


def settings(unit: str) -> dict[str, list[str]]:
    """Return the values of a unit by key, in their order."""
    found: dict[str, list[str]] = {}
    for line in (UNITS / unit).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "[")):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("unit", [RUNNER, SERVICE])
def test_a_unit_is_started_again_and_ends_its_whole_group_after_a_grace(unit: str) -> None:
    told = settings(unit)

    # 75, the end of a deaf worker, is one of them; what no start can mend is left alone.
    assert told["Restart"] == ["always"]
    assert told["RestartPreventExitStatus"] == ["2"]
    # SIGTERM to the process alone, SIGKILL to all of its group.
    assert told["KillMode"] == ["mixed"]
    assert int(told["TimeoutStopSec"][0]) >= 60


def test_no_unit_needs_root() -> None:
    for_all = [settings(unit) for unit in (RUNNER, SERVICE)]

    assert all(told["User"] == ["kunline"] for told in for_all)
    assert all(told["NoNewPrivileges"] == ["yes"] for told in for_all)


def test_the_runner_is_started_with_settings_that_it_reads() -> None:
    told = settings(RUNNER)
    in_unit = {word.partition("=")[0] for line in told["Environment"] for word in line.split()}
    example = (UNITS / "runner.env.example").read_text(encoding="utf-8")
    named = {*in_unit, *re.findall(r"^(KUNLINE_\w+)=", example, flags=re.MULTILINE)}

    assert told["ExecStart"] == ["/opt/kunline/bin/kunline runner"]
    assert {name for name in named if name.startswith("KUNLINE_")} <= fields_of("runners.config")


def test_the_service_is_started_with_settings_that_it_reads() -> None:
    told = settings(SERVICE)
    in_unit = {word.partition("=")[0] for line in told["Environment"] for word in line.split()}
    example = (UNITS / "service.env.example").read_text(encoding="utf-8")
    named = {*in_unit, *re.findall(r"^(KUNLINE_\w+)=", example, flags=re.MULTILINE)}

    assert {name for name in named if name.startswith("KUNLINE_")} <= fields_of("service.config")


@pytest.mark.parametrize("unit", [RUNNER, SERVICE])
def test_a_unit_works_in_the_one_folder_that_it_may_write_to(unit: str) -> None:
    told = settings(unit)

    assert told["ProtectSystem"] == ["strict"]
    assert told["StateDirectory"] == ["kunline"]
    assert told["WorkingDirectory"] == ["/var/lib/kunline"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="only systemd can judge a unit")
@pytest.mark.parametrize("unit", [RUNNER, SERVICE])
def test_systemd_finds_nothing_wrong_with_a_unit(unit: str, tmp_path: Path) -> None:
    program = tmp_path / "opt" / "kunline" / "bin" / "kunline"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    place = tmp_path / "usr" / "lib" / "systemd" / "system"
    place.mkdir(parents=True)
    for target in Path("/usr/lib/systemd/system").glob("*.target"):
        shutil.copy(target, place)
    shutil.copy(UNITS / unit, place)

    done = subprocess.run(
        ["systemd-analyze", "verify", f"--root={tmp_path}", unit.replace("@", "@one")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_runners_of_a_host_see_one_folder_of_locks_that_outlives_each_of_them() -> None:
    told = settings(RUNNER)

    assert "KUNLINE_LOCK_DIR=/run/kunline/cards" in told["Environment"]
    assert told["RuntimeDirectory"] == ["kunline/cards"]
    assert told["RuntimeDirectoryPreserve"] == ["yes"]


def test_the_runner_is_given_longer_to_end_than_its_server_is() -> None:
    grace_s = int(settings(RUNNER)["TimeoutStopSec"][0])

    assert grace_s > 60 + 20  # stop_s of a plan by default, and the keeper's margin
