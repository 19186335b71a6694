"""What a command says of a process of the runner's side that gave it no answer."""

import subprocess

import pytest

from service.cli.processes import why_silent


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(
            subprocess.CalledProcessError(1, ["/a/python", "-m", "runners.preflights"]),
            "the reason is on stderr",
            id="it ended by itself",
        ),
        pytest.param(OSError("no such program"), "no such program", id="it never ran"),
    ],
)
def test_why_nobody_answers_is_no_command_line(error: Exception, said: str) -> None:
    assert why_silent(error) == said
