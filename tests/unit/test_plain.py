"""What others wrote is shown on a terminal and never commands it."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.main import main
from service.cli.plain import plain
from tests.results import lines, serving

# As a word of a command line that is not UTF-8 comes in: here the byte FF.
BYTES = "/nowhere/\udcff"

ESCAPE = "\x1b[31mred\x1b]0;title\x07"
HOSTILE = (ESCAPE, "two\nlines", "\r\x08\x7f", "\x9b31m", "left\u202egnp.exe", "\u2066hidden")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_nothing_commands_a_terminal(text: str) -> None:
    shown = plain(text)

    assert all(each.isprintable() for each in shown)
    assert plain(shown) == shown


@pytest.mark.parametrize("text", ["驱动 5.1, µs, é", "[bold]x[/bold]", "a\\x1b", ""])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize(
    "arguments",
    [("read",), ("read", "nowhere"), ("compare", "other.jsonl", "--assume-same", "all")],
    ids=["read", "read what is not there", "compare"],
)
def test_a_file_of_a_hostile_name_is_named_in_plain_text(
    name: str, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = [serving(backend=name, completed=0), {name: 1}]
    Path(f"{name}.jsonl").write_bytes(lines(hostile))
    Path("other.jsonl").write_bytes(lines([serving()]))

    found = CliRunner().invoke(main, [*arguments, f"{name}.jsonl"], color=True)

    assert not found.exception or isinstance(found.exception, SystemExit)
    assert all(each.isprintable() or each == "\n" for each in found.output)


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["for a person", "for a program"])
def test_a_name_that_is_not_utf8_is_read_like_any_other(
    how: tuple[str, ...], tmp_path: Path
) -> None:
    name = os.fsdecode(bytes(tmp_path) + b"/bad\xff.jsonl")
    Path(name).write_bytes(lines([serving()]))

    found = CliRunner().invoke(main, ["read", name, *how])

    assert found.exit_code == 0
    assert "bad?.jsonl" in found.output


@pytest.mark.parametrize(
    "words",
    [
        ["weights", "check", BYTES],
        ["weights", "stage", BYTES, "there"],
        ["stack", "capture", "ours", "--python", BYTES],
    ],
)
def test_a_name_in_bytes_is_refused_where_it_would_be_sent(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)

    assert done.exit_code == 2
    assert "not UTF-8, so it can be neither sent nor stored" in done.stderr
