"""A wrong setting is named, and what it holds stays unsaid."""

import pytest
from pydantic import ValidationError

from service.config import Settings, read_settings
from service.formats.wrong_settings import told


def test_each_wrong_variable_has_a_line_and_no_value_is_shown() -> None:
    with pytest.raises(ValidationError) as wrong:
        Settings(port="hunter2", lease_s="hunter3")

    said = told(wrong.value)
    assert [line.split(":")[0] for line in said.splitlines()] == ["KUNLINE_PORT", "KUNLINE_LEASE_S"]
    assert "hunter" not in said


def test_a_database_that_is_not_known_ends_the_process_without_its_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUNLINE_DATABASE_URL", "mysql://kunline:hunter2@db/kunline")

    with pytest.raises(SystemExit) as ended:
        read_settings()

    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "database_url begins with postgresql://" in said
    assert "hunter2" not in said
