"""The runner's settings come from the environment, with defaults that need no thought."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from runners.config import Settings
from runners.preflight.layers import Check, Works
from runners.preflight.limits import HostLimits
from service.domain.layer import Layer
from service.domain.window import window


def test_defaults_are_enough_on_a_developers_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUNLINE_POOL", raising=False)

    settings = Settings()

    assert (settings.pool, settings.chip, settings.cards) == ("local", "cpu", None)
    assert settings.cache_dir == tmp_path / "kunline"
    assert settings.name.endswith("-cpu")


def test_what_nobody_has_published_is_a_default_that_a_site_may_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings().limits == HostLimits()
    assert [HostLimits().least_bytes_s(chip) for chip in ("kunlun", "cpu")] == [2.8e9, 0.0]
    monkeypatch.setenv("KUNLINE_REST_C", "60")
    monkeypatch.setenv("KUNLINE_LINK_BYTES_S", "2e10")
    monkeypatch.setenv("KUNLINE_PATIENCE", "3")

    limits = Settings().limits

    assert (limits.rest_c, limits.least_bytes_s("kunlun")) == (60.0, 2e10)
    (check,) = limits.given([Check(Layer.MEMORY, lambda _: Works(), limit_s=120.0)])
    assert check.limit_s == pytest.approx(360.0)


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


def test_a_window_is_read_and_a_wrong_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().window is None
    monkeypatch.setenv("KUNLINE_WINDOW", "22:00-06:00 Asia/Shanghai")
    assert Settings().window == window("22:00-06:00 Asia/Shanghai")
    monkeypatch.setenv("KUNLINE_WINDOW", "at night")

    with pytest.raises(ValidationError, match="is no window"):
        Settings()
