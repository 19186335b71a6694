"""Whose cards a preflight looks at, and when: an outer allocation, a window, a drain, a solo job.

Emulated: no card was ever here.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from runners.cards import HostTakenError, held_host
from runners.config import Settings
from runners.preflights import NotNowError, answered, require_now
from service.cli.main import main
from service.client import connected
from service.formats.preflights import PreflightAnswer, PreflightQuestion
from tests.hosts.p800.host import EmulatedHost, emulated_host
from tests.integration import builders
from tests.integration.serving import application, served

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmulatedHost:
    """Return a host of which card 1 is a slice that was given to somebody else."""
    found = emulated_host(tmp_path, cards=2, faults=["slice:1"])
    for name, value in found.variables.items():
        monkeypatch.setenv(name, value)
    return found


def looked(allocated: str = "") -> PreflightAnswer:
    return answered(PreflightQuestion(chip="kunlun"), Settings(allocated=allocated))


def test_a_slice_that_is_ours_is_refused_and_one_of_others_is_left_to_them(
    host: EmulatedHost,
) -> None:
    ours, theirs = looked(), looked("/dev/xpu0")

    assert (ours.broken_at, theirs.broken_at) == ("device", None)
    assert "card 1 has 24576 MiB" in ours.layers[-1].finding
    assert theirs.layers[0].finding == "1 cards of chip kunlun"


def test_cards_that_slurm_did_not_give_are_not_looked_at(
    host: EmulatedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_GPUS", "0")

    assert looked().layers[0].finding == "1 cards of chip kunlun"


def test_an_allocation_of_a_card_that_is_not_here_breaks_at_the_device(
    host: EmulatedHost,
) -> None:
    answer = looked("0,xpu7")

    assert answer.broken_at == "device"
    assert "names the card 'xpu7'" in answer.layers[0].finding


def test_no_card_is_touched_beside_a_job_that_has_the_host_alone(
    host: EmulatedHost, tmp_path: Path
) -> None:
    with held_host(tmp_path / "locks", alone=True), pytest.raises(HostTakenError, match="alone"):
        looked("0")

    with held_host(tmp_path / "locks", alone=False):
        assert looked("0").broken_at is None


@pytest.mark.parametrize(
    ("window", "is_open"), [("22:00-06:00 UTC", False), ("09:00-17:00 UTC", True), ("", True)]
)
def test_cards_are_left_to_others_outside_the_window(window: str, is_open: bool) -> None:
    settings = Settings.model_validate({"window": window})
    if is_open:
        require_now(settings, now=NOON)
        return

    with pytest.raises(NotNowError, match="closed now; --anyway"):
        require_now(settings, now=NOON)


@pytest.fixture
def service(engine: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(engine, tmp_path)) as url:
        yield url


def test_a_drained_host_is_not_looked_at_until_it_is_taken_back(service: str) -> None:
    settings = Settings(url=service, host_name="h1")
    with connected(service) as client:
        client.register_runner(builders.claim("h1-b", host="h1"))
        client.register_runner(builders.claim("elsewhere", host="h2"))
        client.set_runner_state("elsewhere", "draining")
        require_now(settings, now=NOON)
        client.set_runner_state("h1-b", "draining")

        with pytest.raises(NotNowError, match=r"being drained \(h1-b\)"):
            require_now(settings, now=NOON)
        client.set_runner_state("h1-b", "active")
        require_now(settings, now=NOON)


def test_a_service_that_is_away_keeps_nobody_from_looking(
    capfd: pytest.CaptureFixture[str],
) -> None:
    require_now(Settings(url="http://127.0.0.1:9"), now=NOON)

    assert "whether this host is drained is not known" in capfd.readouterr().err


def test_the_command_says_why_it_does_not_look_and_how_it_would(
    host: EmulatedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=2)
    window = f"{soon:%H:%M}-{soon + timedelta(hours=1):%H:%M} UTC"
    monkeypatch.setenv("KUNLINE_WINDOW", window)
    monkeypatch.setenv("KUNLINE_ALLOCATED", "0")

    refused = CliRunner().invoke(main, ["preflight", "--chip", "kunlun"])
    looked_anyway = CliRunner().invoke(main, ["preflight", "--chip", "kunlun", "--anyway"])

    assert (refused.exit_code, looked_anyway.exit_code) == (1, 0)
    assert "the window of this host is closed now" in refused.stderr
