"""Whoever asks for a language is answered in it by every command that tells what was judged."""

from collections.abc import Iterator
from typing import Any

import pytest

from service.cli.main import loaded

JUDGING = (
    "compare", "run", "session", "events", "confirm", "incident", "baseline", "experiment",
    "attribute",
)  # fmt: skip


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command, or those of a group: a group that lists by itself is one as well."""
    parts = getattr(command, "commands", {})
    if not parts or command.invoke_without_command:
        yield name, command
    for part, found in parts.items():
        yield from commands(f"{name} {part}", found)


@pytest.mark.parametrize("name", JUDGING)
def test_every_command_that_tells_verdicts_takes_a_language(name: str) -> None:
    told = {
        path: [option.envvar for option in found.params if "--lang" in option.opts]
        for path, found in commands(name, loaded(name))
    }

    assert told
    assert {path for path, taken in told.items() if taken != ["KUNLINE_LANG"]} == set()
