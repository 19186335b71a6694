"""The runner's settings come from the environment, with defaults that need no thought."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from runners.config import Settings


def test_defaults_are_enough_on_a_developers_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUNLINE_POOL", raising=False)

    settings = Settings()

    assert (settings.pool, settings.chip, settings.cards) == ("local", "cpu", None)
    assert settings.cache_dir == tmp_path / "kunline"
    assert settings.name.endswith("-cpu")


def test_a_name_is_the_same_in_each_life_and_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUNLINE_HOST_NAME", "p800-01")
    assert Settings().name == "p800-01-cpu"

    monkeypatch.setenv("KUNLINE_RUNNER", "left-half")
    assert Settings().name == "left-half"


def test_the_services_address_is_not_taken_for_a_host_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUNLINE_HOST", "0.0.0.0")  # noqa: S104 — the service's setting, not ours

    assert Settings().host_name != "0.0.0.0"  # noqa: S104 — as above


def test_secrets_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUNLINE_TOKEN", "hunter2")
    monkeypatch.setenv("KUNLINE_BROKER_URL", "redis://:hunter2@localhost/0")

    assert "hunter2" not in repr(Settings())


def test_a_wrong_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUNLINE_CARDS", "0")

    with pytest.raises(ValidationError):
        Settings()
