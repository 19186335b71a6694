"""What `--help` of every command shows: a sentence, and examples that can be copied."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from service.cli.main import COMMANDS, loaded

MAIN = import_module("service.cli.main").main
# An example after another one, or after its heading, on one line: what reflowing makes of them.
RUN_TOGETHER = re.compile(r"Examples?: {2,}|kunline .* kunline ")


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group of commands."""
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*words, name))


@pytest.mark.parametrize(
    "words",
    tuple(commands(typer.main.get_command(MAIN))),
    ids=lambda words: " ".join(words) or "kunline",
)
def test_examples_stand_on_lines_of_their_own(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(MAIN, [*words, "--help"], terminal_width=200)

    assert shown.exit_code == 0
    assert not RUN_TOGETHER.search(shown.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_a_command_says_of_itself(name: str) -> None:
    assert loaded(name).get_short_help_str(limit=100) == COMMANDS[name].line


def test_the_list_of_commands_is_shown_before_any_is_loaded() -> None:
    begin = "from service.cli.main import COMMANDS, main; main(['--help'], standalone_mode=False)"
    modules = "{'service.cli.' + each.place.partition(':')[0] for each in COMMANDS.values()}"
    look = f"import sys; print(sorted(sys.modules.keys() & {modules}))"
    shown = subprocess.run(
        [sys.executable, "-c", f"{begin}\n{look}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert shown.stdout.splitlines()[-1] == "[]"
