"""Runs one program of an image as if it lay on the host, and takes its container down with it.

Run by path with the runner's own Python and the standard library alone:

    contained_program.py SETTINGS.json PROGRAM WORDS…

A signal sent to the client of a container engine does not reach the container by itself, and a
parent's death does not at all: the container belongs to a daemon. So each has a label, and whoever
ends this process by TERM or INT makes it stop all containers with that label. What was killed too
hard for that is stopped by its launch's label, by the runner, see runners/stacks/container.py.
"""

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

LABEL = "kunline.program"
STOP_S = 30
ENGINE_LIMIT_S = 120


class Settings:
    """How the containers of a launch are run; see runners.stacks.container.Contained."""

    def __init__(self, file: str) -> None:
        told = json.loads(Path(file).read_text(encoding="utf-8"))
        self.engine: str = told["engine"]
        self.image: str = told["image"]
        self.options: list[str] = told["options"]
        # Variables of the host's own programs, which mean nothing inside the image.
        self.left_out: list[str] = told["left_out"]


def main(arguments: list[str]) -> int:
    """Run a program of the image, with this process's own variables and folder."""
    settings = Settings(arguments[0])
    label = f"{LABEL}={uuid.uuid4().hex}"
    names = sorted(set(os.environ) - set(settings.left_out))
    command = [
        settings.engine,
        # Probes are asked through their stdin, and end with it.
        *("run", "--rm", "--init", "--interactive", "--label", label),
        *settings.options,
        # By name alone: their values are on no command line, where anybody could read them.
        *(word for name in names for word in ("--env", name)),
        settings.image,
        *arguments[1:],
    ]
    child = subprocess.Popen(command)

    def stop(_number: int, _frame: object) -> None:
        end(settings.engine, label)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    code = child.wait()
    return code if code >= 0 else 128 - code


def end(engine: str, label: str) -> None:
    """Stop all containers with a label: TERM first, KILL after a while."""
    listed = subprocess.run(
        [engine, "ps", "--quiet", "--filter", f"label={label}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=ENGINE_LIMIT_S,
    )
    if there := listed.stdout.split():
        subprocess.run(
            [engine, "stop", "--time", str(STOP_S), *there],
            stdout=subprocess.DEVNULL,
            check=False,
            timeout=ENGINE_LIMIT_S,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
