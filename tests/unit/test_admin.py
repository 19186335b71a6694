"""What an operator says to `kunline token`: refused before a database is touched, or made."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from service.admin.__main__ import main
from service.admin.which import shown
from service.cli.main import loaded

Said = tuple[int, str, str]


@pytest.fixture
def say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Return a call of `kunline token`: its exit code, stdout and stderr."""

    def call(*words: str) -> Said:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("KUNLINE_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setattr(sys, "argv", ["kunline", "token", *words])
        try:
            code = main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    "words",
    [("list",), ("create", "ci", "--scope", "run"), ("rotate", "ci"), ("revoke", "ci")],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("left", [None, b""], ids=["no file", "an empty file"])
def test_no_verb_makes_a_database_and_each_names_the_missing_one(
    say: Callable[..., Said], tmp_path: Path, words: tuple[str, ...], left: bytes | None
) -> None:
    file = tmp_path / "data/kunline.db"
    if left is not None:
        file.parent.mkdir()
        file.write_bytes(left)

    code, out, err = say(*words)

    assert (code, out) == (2, "")
    assert f"there is no database {file}." in err
    assert "--data-dir" in err
    assert "KUNLINE_DATABASE_URL" in err
    assert [path.read_bytes() for path in tmp_path.rglob("*.db")] == ([] if left is None else [b""])


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["create", "ci", "--scope", "run", "--days", "0"], id="no day"),
        pytest.param(["rotate", "ci", "--days", "-1"], id="a day before now"),
        pytest.param(["create", "ci", "--scope", "run", "--days", "9999999999"], id="for ever"),
        pytest.param(["create", "ci", "--scope", "run", "--days", "soon"], id="no number"),
        pytest.param(["rotate", "ci", "--grace-hours", "nan"], id="no number of hours"),
        pytest.param(["rotate", "ci", "--grace-hours", "-1"], id="an hour before now"),
    ],
)
def test_a_token_that_counts_for_no_time_or_for_ever_is_refused(
    say: Callable[..., Said], words: list[str]
) -> None:
    code, out, err = say(*words)

    assert (code, out) == (2, "")
    assert err.startswith(f"usage: kunline token {words[0]}")
    assert re.search(r"argument --(days|grace-hours): [01] to \d+ ", err)


def test_up_and_tokens_are_told_their_folder_by_one_variable() -> None:
    (folder,) = (each for each in loaded("up").params if "--data-dir" in each.opts)

    assert folder.envvar == "KUNLINE_DATA_DIR"


def test_a_database_is_shown_without_a_secret() -> None:
    url = "postgresql://ann:secret@db:5433/kunline?password=secret"

    assert shown(url) == "kunline at db:5433"
