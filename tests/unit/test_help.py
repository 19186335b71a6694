"""What `--help` of every command shows: a sentence, and examples that can be copied."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

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
