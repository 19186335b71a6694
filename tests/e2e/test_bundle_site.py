"""A bundle made here and loaded where there is neither a network nor root: a CPU plan runs.

The site is a network namespace with nothing but its own loopback, and a user without a name, rights
or a Python: that of the bundle is the only one it can read.
Three gigabytes are packed, unpacked and read again, so it runs where KUNLINE_TEST_BUNDLE is set.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.formats.bundles import BundleMade
from tests.e2e.namespaces import lonely_host, obstacle
from tests.e2e.production import ROOT
from tests.integration.databases import NOBODY, free_port

ASKED_FOR = "KUNLINE_TEST_BUNDLE"
WHY_NOT = (
    ("" if os.environ.get(ASKED_FOR) else f"it takes minutes and is run where {ASKED_FOR} is set")
    or obstacle()
    or ("" if shutil.which("setpriv") else "there is no `setpriv` here")
)
pytestmark = [
    pytest.mark.sglang,
    pytest.mark.redis,
    pytest.mark.timeout(900),
    # A machine may forbid network namespaces, and no such site can be made on it then.
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),  # minutes long, or a machine forbids it
]

PLAN = "smoke"
LIMIT_S = 600
FOLDER = "kunline-bundle"
# Nobody's, without a way back to any right.
RIGHTLESS = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
)


class Site:
    """A host that was handed a bundle. name: of its network namespace."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._begin = ("ip", "netns", "exec", name, "env", "-i", *self._variables(), *RIGHTLESS)

    def _variables(self) -> tuple[str, ...]:
        told = {
            "PATH": os.defpath,
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "LANG": "C.UTF-8",
            "KUNLINE_URL": f"http://127.0.0.1:{self.port}",
            "KUNLINE_LOCK_DIR": str(self.folder / "locks"),
        }
        return tuple(f"{name}={value}" for name, value in told.items())

    def words(self, *words: str) -> tuple[str, ...]:
        """Return what runs a program there."""
        return (*self._begin, *words)

    def kunline(self, *words: str) -> Any:
        """Return the JSON answer of a command of the bundle."""
        program = str(self.folder / FOLDER / "bin" / "kunline")
        done = subprocess.run(
            self.words(program, *words, "--json"),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def up(self) -> Iterator[None]:
        """Run the service and a runner there."""
        program = str(self.folder / FOLDER / "bin" / "kunline")
        words = self.words(program, "up", "--runner", "--port", str(self.port))
        with (
            (self.folder / "up.log").open("wb") as log,
            subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=log) as process,
        ):
            assert process.stdout is not None
            try:
                assert process.stdout.readline().startswith(b"Kunline is at")
                yield
            finally:
                process.terminate()
                process.wait(LIMIT_S)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder for some gigabytes, which are gone afterwards."""
    found = Path(tempfile.mkdtemp(prefix="kunline-bundle-site-"))
    found.chmod(0o755)
    try:
        yield found
    finally:
        shutil.rmtree(found, ignore_errors=True)


def test_a_plan_runs_from_a_bundle_without_a_network_and_without_root(folder: Path) -> None:
    bundle = folder / "kunline.tar"
    made = _made(bundle)
    there = folder / "site"
    there.mkdir()
    os.chown(there, NOBODY, NOBODY)
    with lonely_host("s") as name:
        site = Site(name, there)
        line = f"tar xOf {bundle} {FOLDER}/load | sh -s -- {bundle}"
        loaded = subprocess.run(
            site.words("sh", "-c", line),
            cwd=there,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert loaded.returncode == 0, loaded.stderr
        bundle.unlink()
        with site.up():
            told = site.kunline("run", PLAN)
            page = site.kunline("runs", "--session", told["session_id"])

    assert [run["state"] for run in page["runs"]] == ["measured"]
    assert len(made.environments) == 1
    owners = {path.stat().st_uid for path in (there / FOLDER).iterdir()}
    assert owners == {NOBODY}


def _made(bundle: Path) -> BundleMade:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "service.cli",
            "bundle",
            "make",
            PLAN,
            "--out",
            str(bundle),
            "--json",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
        timeout=LIMIT_S,
    )
    return BundleMade.model_validate_json(done.stdout)
