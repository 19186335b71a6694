"""An upgrade qualified on real SGLang: `python -m tests.bench.qualify`, `./dev bench qualify`.

Two hosts, which are runners of this machine with one core each; an upgrade of a made-up firmware,
so there is a reboot in between, in which both runners are gone; and a server that comes with it
and is slowed down by a known share. Measured before, after, and again after the rollback, with
three launches on each host every time. What the dossier says is held to what was done.
--folder: keep all that is known there; begun anew, the bench goes on where it stood.
Exit code 1 where the dossier says something else.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from service.cli.dossier_words import WORDS
from service.domain.qualification import Step
from service.formats.qualifications import DossierCell, DossierRead, QualificationRead
from tests.e2e.production import ROOT, Stage, service_client
from tests.golden_file import GOLDEN
from tests.integration.databases import free_port

BASE = "cpu-sglang-0.5.23"
OLD, NEW = "firmware-1", "firmware-2"
HOSTS = ("h1", "h2")
FIRMWARE = '  - {{name: firmware, version: "{version}", layer: driver, scope: host}}\n'
# Every pass of the model takes so much of itself longer on the new stack.
SLOWED_BY = 1.0
# The other parts of a request are not slowed down, and one core of a busy machine is noisy.
WITHIN = (0.4, 1.6)
CALL_S = 3600
NOTE = "firmware"
# Found by each Python of the server before it imports anything.
SLOWING = """
import importlib.util
import sys
import time

NAME = "sglang.srt.model_executor.model_runner"


class Slowing:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != NAME:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            slow(module.ModelRunner)

        spec.loader.exec_module = exec_module
        return spec


def slow(runner):
    forward = runner.forward

    def slower(self, *words, **named):
        begun = time.perf_counter()
        done = forward(self, *words, **named)
        time.sleep({by} * (time.perf_counter() - begun))
        return done

    runner.forward = slower


sys.meta_path.insert(0, Slowing)
"""


def main() -> int:
    """Qualify, print, and return whether the dossier says what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="go on with what is there, or begin there")
    parser.add_argument("--write-golden", action="store_true", help="keep the dossiers, normalised")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, site(asked.folder or Path(place)) as stage:
        told = gone_through(stage)
        pages = {language: _page(stage, told, language) for language in ("en", "zh")}
    differing = _kept(pages) if asked.write_golden else _differing(pages)
    wrong = [*found_wrong(told), *(f"{each} is not as it was" for each in differing)]
    sys.stdout.write(pages["en"] + "\n" + pages["zh"] + "\n")
    sys.stdout.write("\n".join([figures(told), *wrong]) + "\n")
    return int(bool(wrong))


@contextmanager
def site(folder: Path) -> Iterator[Stage]:
    """Bring a service up, with what it knew before."""
    port = free_port()
    root = folder / "matrix"
    stage = Stage(
        folder,
        {
            "KUNLINE_URL": f"http://127.0.0.1:{port}",
            "KUNLINE_LOCK_DIR": str(folder / "locks"),
            "KUNLINE_MATRIX_DIR": str(root if root.is_dir() else matrix(folder)),
            "KUNLINE_POLL_S": "0.5",
            "USER": "ann",
        },
    )
    data = str(folder / "data")
    stage.module("up", "service.cli", "up", "--port", str(port), "--data-dir", data)
    try:
        with service_client(port):
            yield stage
    finally:
        stage.stop()


def matrix(folder: Path) -> Path:
    """Copy the matrix, and add two stacks that differ in a firmware, and in how fast they are."""
    root = folder / "matrix"
    shutil.copytree(ROOT / "matrix", root)
    slow = folder / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(SLOWING.replace("{by}", str(SLOWED_BY)))
    text = (root / f"stacks/{BASE}.yaml").read_text()
    for version, name in enumerate((OLD, NEW), start=1):
        found = text.replace(f"name: {BASE}", f"name: {name}")
        found = found.replace("server:\n", f"{FIRMWARE.format(version=version)}server:\n")
        if name == NEW:
            changed = f'environment: {{PYTHONPATH: "{slow}"}}'
            found = found.replace("environment: {}", changed)
        (root / f"stacks/{name}.yaml").write_text(found)
    smoke = (root / "plans/smoke.yaml").read_text()
    often = smoke.replace("name: smoke", "name: often").replace("launches: 1", "launches: 3")
    (root / "plans/often.yaml").write_text(often)
    return root


def boot(stage: Stage) -> None:
    """Let both machines go, if they run, and start their runners anew."""
    for host in HOSTS:
        if host in stage.running:
            stage.end(host)
    for host in HOSTS:
        own = {
            "KUNLINE_HOST_NAME": host,
            "KUNLINE_CARDS": "1",
            "KUNLINE_SPOOL_DIR": str(stage.folder / host),
        }
        words = (f"{name}={value}" for name, value in own.items())
        stage.start(host, "env", *words, sys.executable, "-m", "runners.worker")


def gone_through(stage: Stage) -> DossierRead:
    """Go from wherever the qualification stands to its end, and return its dossier."""
    boot(stage)
    found = _known(stage)
    if found is None:
        both = ("--plan", "often", "--from", OLD, "--to", NEW)
        _qualify(stage, *both, "--canary", HOSTS[0], "--control", HOSTS[1])
        found = _known(stage)
    while found is not None and found.step is not Step.DONE:
        words = _next(found.step)
        if found.step in {Step.CHANGE, Step.ROLL_BACK}:
            boot(stage)
        _qualify(stage, "--resume", str(found.id), *words)
        found = _known(stage)
    if found is None:
        raise LookupError("the service forgot its qualification")
    return DossierRead.model_validate_json(_qualify(stage, "--resume", str(found.id), "--json"))


def _next(step: Step) -> tuple[str, ...]:
    """Return what a person does at a step; a measurement that was left goes on by itself."""
    match step:
        case Step.CHANGE:
            return "--changed", "--note", NOTE
        case Step.DECIDE:
            return "--roll-back", "--note", NOTE
        case Step.ROLL_BACK:
            return "--rolled-back", "--note", NOTE
        case _:
            return ()


def found_wrong(told: DossierRead) -> list[str]:
    """Say what a dossier says otherwise than it was."""
    low, high = (SLOWED_BY * share for share in WITHIN)
    (cell,) = told.cells
    (back,) = told.restored or ()
    found, restored = _tpot(cell), _tpot(back)
    claims = {
        "the answer is 'yes, with costs'": told.answer == "yes, with costs",
        "each of the four arms has three launches": cell.launches == (3, 3, 3, 3),
        "it is regressed": found["low"] > 0,
        f"it is slower by {low:.0%} to {high:.0%}": low < found["worsening"] < high,
        "the old stack is back": abs(restored["worsening"]) < found["worsening"] / 3,
        "the old stack is not worse than it was": restored["low"] <= 0,
    }
    return [f"not so: {claim}" for claim, holds in claims.items() if not holds]


def figures(told: DossierRead) -> str:
    """Return what was seen in a line."""
    (cell,) = told.cells
    (back,) = told.restored or ()
    return "; ".join(
        f"{name}: TPOT worse by {its['worsening']:+.1%} ({its['low']:+.1%} to {its['high']:+.1%})"
        for name, its in (("after", _tpot(cell)), ("restored", _tpot(back)))
    )


def normal(page: str) -> str:
    """Return a dossier with what differs from run to run made equal: figures, moments, words."""
    page = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "MOMENT", page)
    page = re.sub(r"(MOMENT 由|MOMENT [a-z ]+ by) [^ :\n]+", r"\1 WHO", page)
    page = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", page)
    page = re.sub(r"\([0-9a-f]{12}\)", "(KEY)", page)
    page = re.sub(r"[-+]\d+\.\d+ %", "N %", page)
    page = re.sub(r"\d+\.\d+ nat", "N nat", page)
    for words in WORDS.values():
        # Three launches do not always show it; that it is away stays, and differs.
        page = page.replace(words["rollback unknown"], words["rollback back"])
    return re.sub(r"(?m)^(\| [^|]+ \| [a-z0-9_]+ \|)(?: [^|]+\|){7}$", r"\1 FIGURES |", page)


def _tpot(cell: DossierCell) -> Mapping[str, float]:
    (found,) = [each for each in cell.verdicts if each.metric == "tpot_p50"]
    nan = float("nan")
    named = {"worsening": found.worsening, "low": found.low, "high": found.high}
    return {name: nan if value is None else value for name, value in named.items()}


def _known(stage: Stage) -> QualificationRead | None:
    port = int(stage.environment["KUNLINE_URL"].rpartition(":")[2])
    with service_client(port) as client:
        found = client.ask_all(QualificationRead, "qualifications")
    return found[0] if found else None


def _qualify(stage: Stage, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", "qualify", *words],
        cwd=ROOT,
        env={**os.environ, **stage.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=CALL_S,
    )
    if not done.stdout:
        raise RuntimeError(done.stderr + "".join(stage.log(host)[-2000:] for host in HOSTS))
    return done.stdout


def _page(stage: Stage, told: DossierRead, language: str) -> str:
    place = stage.folder / f"dossier.{language}.md"
    words = ("--lang", language, "--dossier", str(place))
    _qualify(stage, "--resume", str(told.qualification.id), *words)
    return place.read_text()


def _golden(language: str) -> Path:
    return GOLDEN / f"dossier_of_real_stacks.{language}.md"


def _kept(pages: Mapping[str, str]) -> list[str]:
    for language, page in pages.items():
        _golden(language).write_text(normal(page))
    return []


def _differing(pages: Mapping[str, str]) -> list[str]:
    return [
        _golden(language).name
        for language, page in pages.items()
        if normal(page) != _golden(language).read_text()
    ]


if __name__ == "__main__":
    sys.exit(main())
