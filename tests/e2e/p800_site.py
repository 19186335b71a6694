"""A service with Redis and runner processes on an emulated P800 host, for tests that need all."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runners.config import Settings
from runners.stacks.environment import Recipe, build
from service.formats.chosen_stacks import chosen
from service.formats.identities import BuildOrder
from service.formats.matrix_files import read_matrix
from tests.e2e.production import ROOT, Stage
from tests.e2e.slowed import sooner_path
from tests.hosts.p800.host import EmulatedHost, emulated_host
from tests.integration.databases import free_port, redis_program, wait_for_port

REAL = "cpu-sglang-0.5.23"


def real_python(matrix: Path) -> Path:
    """Return a Python with SGLang for a CPU: the cached one, or one that is built now."""
    stack = chosen(read_matrix(matrix), REAL)
    assert isinstance(stack.build, BuildOrder)
    assert stack.lock is not None
    recipe = Recipe(stack.lock.content, stack.build.torch, stack.build.platform)
    cache = Settings().cache_dir
    return build(recipe, cache=cache, variables=os.environ, progress=lambda *_: None).python


def serving_host(folder: Path, *, cards: int, faults: Iterable[str] = ()) -> EmulatedHost:
    """Make an emulated host behind which real SGLang serves on this machine's CPU."""
    python, beside = real_python(ROOT / "matrix"), sooner_path(folder)
    return emulated_host(folder, cards=cards, faults=faults, real_python=python, beside=beside)


class Site(Stage):
    """A service with Redis, and runner processes on one emulated host."""

    def __init__(self, folder: Path, host: EmulatedHost) -> None:
        port, redis_port = free_port(), free_port()
        self.port, self.redis_port = port, redis_port
        self.host = host
        own = {name: text for name, text in host.variables.items() if "CACHE" not in name}
        super().__init__(
            folder,
            {
                **own,
                "KUNLINE_DATABASE_URL": f"sqlite:///{folder / 'kunline.db'}",
                "KUNLINE_BROKER_URL": f"redis://127.0.0.1:{redis_port}/0",
                "KUNLINE_DATA_DIR": str(folder / "data"),
                "KUNLINE_PORT": str(port),
                "KUNLINE_URL": f"http://127.0.0.1:{port}",
                "KUNLINE_CHIP": "kunlun",
                "KUNLINE_POOL": "p800",
            },
        )

    def open(self, cards: dict[str, int]) -> None:
        """Start everything; cards: how many each runner holds, by its name."""
        options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        self.start("redis", redis_program(), "--port", str(self.redis_port), *options)
        wait_for_port(self.redis_port)
        self.module("api", "service.api", "--migrate")
        self.module("worker", "service.tasks.worker")
        self.module("scheduler", "service.tasks.scheduler")
        for name, count in cards.items():
            words = (f"KUNLINE_RUNNER={name}", f"KUNLINE_CARDS={count}")
            self.start(name, "/usr/bin/env", *words, sys.executable, "-m", "runners.worker")

    def run(self, plan: str, matrix: Path) -> "subprocess.Popen[str]":
        """Start `kunline run` of a plan."""
        return subprocess.Popen(
            [sys.executable, "-m", "service.cli", "run", plan, "--matrix", str(matrix), "--json"],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            text=True,
        )

    def asked(self, *words: str) -> Any:
        """Return the JSON answer of a command."""
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", *words, "--json"],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return json.loads(done.stdout)
