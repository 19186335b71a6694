"""The service's settings: read from the environment, whole and checked."""

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.config import Settings


def test_without_a_word_the_database_is_a_file_in_the_data_directory(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)

    assert settings.database == f"sqlite:///{tmp_path / 'kunline.db'}"
    assert settings.host == "127.0.0.1"
    assert settings.leasing.lease == timedelta(seconds=45)


def test_each_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUNLINE_DATABASE_URL", "postgresql://db/kunline")
    monkeypatch.setenv("KUNLINE_ALLOWED_HOSTS", "kunline.example, perf.example")

    settings = Settings()

    assert settings.database == "postgresql://db/kunline"
    assert settings.allowed_hosts == ("kunline.example", "perf.example")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"database_url": "mysql://db"}, id="another database"),
        pytest.param({"attempts_max": 0}, id="no attempt"),
        pytest.param({"lease_s": -1}, id="a lease that is over"),
        pytest.param({"colour": "red"}, id="no such setting"),
    ],
)
def test_a_wrong_setting_stops_the_start(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)
