"""The production shape on loopback: real processes that a test may kill, stop and start again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from service.client import Client, connected

ROOT = Path(__file__).parents[2]
READY_S = 60.0
GONE_S = 30.0


@dataclass
class Stage:
    """Processes by name, each started with one environment, each with a log of its own."""

    folder: Path
    environment: Mapping[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *command: str) -> None:
        """Start a process under a name."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **self.environment},
                cwd=ROOT if "-m" in command else "/",
                start_new_session=True,
            )

    def module(self, name: str, module: str, *arguments: str) -> None:
        """Start one of our modules under a name."""
        self.start(name, sys.executable, "-m", module, *arguments)

    def kill(self, name: str) -> list[psutil.Process]:
        """Kill a process without a word, and return the descendants it had."""
        process = self.running.pop(name)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        return family

    def end(self, name: str) -> None:
        """End a process as an operator would."""
        process = self.running.pop(name)
        process.terminate()
        process.wait(GONE_S * 3)

    def stop(self) -> None:
        """End everything, the last started first."""
        for name in reversed(list(self.running)):
            process = self.running[name]
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(GONE_S * 3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name: str) -> str:
        """Return what a process wrote."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kunline(self, *words: str, limit_s: float = 60) -> tuple[int, Any]:
        """Run a command and return its exit code and the one JSON document on its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", *words],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


def wait_until(true: Callable[[], bool], limit_s: float, what: str) -> None:
    """Return once something holds; fail the test with its name after a limit."""
    deadline = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {limit_s:.0f} s: {what}")
        time.sleep(0.2)


def gone(family: list[psutil.Process]) -> bool:
    """Return whether none of these processes runs any more."""
    return not any(process.is_running() and process.status() != "zombie" for process in family)


@contextmanager
def service_client(port: int) -> Iterator[Client]:
    """Open a client of a service that is coming up, once it is ready."""
    with connected(f"http://127.0.0.1:{port}") as client:
        wait_until(client.ready, READY_S, "the API is ready")
        yield client
