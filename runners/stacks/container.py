"""A stack that is an image: its Python and its launch program as programs of the host.

Each is a small script that runs the program in a container of the image, so that probes and server
are started as in any other environment. The image is named by its digest and never fetched as
something else; cards reach it as device nodes, and it is stopped by its label.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runners.stacks.keeper import descendants
from service.formats.identities import ContainerOrder

ENGINES = ("docker", "podman")
LABEL = "kunline.launch"
PROGRAM = Path(__file__).with_name("contained_program.py")
# Probes and their like are read from where they lie on the host.
OURS = Path(__file__).parents[1]
# A host's own, which would hide what the image sets: its libraries above all.
LEFT_OUT = ("PATH", "HOME", "USER", "LD_LIBRARY_PATH", "TMPDIR", "HOSTNAME", "PWD", "SHLVL", "_")
STOP_S = 30
LIMIT_S = 120.0
PULL_LIMIT_S = 3600.0


class EngineError(RuntimeError):
    """There is no container engine, or it does not do what it was asked."""


@dataclass(frozen=True, slots=True)
class Contained:
    """The image of a launch, how to run it, and the label that all its containers bear.

    options: of every run: label, devices, mounts and what the vendor asks for.
    """

    engine: Path
    image: str
    label: str
    options: tuple[str, ...]

    def program(self, name: str, folder: Path) -> Path:
        """Write a script that runs a program of the image, and return it."""
        settings = folder / "container.json"
        told = {
            "engine": str(self.engine),
            "image": self.image,
            "options": list(self.options),
            "left_out": list(LEFT_OUT),
        }
        settings.write_text(json.dumps(told), encoding="utf-8")
        words = [sys.executable, "-I", str(PROGRAM), str(settings), name]
        script = folder / "bin" / Path(name).name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return script

    def pids(self) -> frozenset[int]:
        """Return the processes that the containers began with, as the host numbers them."""
        listed = self._said("ps", "--quiet", "--filter", f"label={self.label}")
        there = listed.split()
        if not there:
            return frozenset()
        told = self._said("inspect", "--format", "{{.State.Pid}}", *there)
        return frozenset(int(word) for word in told.split() if word.isdigit() and word != "0")

    def end(self) -> None:
        """Stop every container of the launch: a signal to the engine's client does not do it."""
        there = self._said("ps", "--quiet", "--filter", f"label={self.label}").split()
        if there:
            with suppress(EngineError):  # one that went meanwhile
                self._said("stop", "--time", str(STOP_S), *there)
            left = self._said("ps", "--quiet", "--filter", f"label={self.label}").split()
            if left:
                self._said("rm", "--force", *left)

    def _said(self, *words: str) -> str:
        return asked(self.engine, words)


def contained(
    order: ContainerOrder,
    *,
    launch: str,
    registry: str,
    devices: Sequence[str],
    home: Path,
    folders: Sequence[Path],
    variables: Mapping[str, str],
    cache: Path | None = None,
) -> Contained:
    """Return how an ordered image is run here; the image is fetched unless it is here.

    launch: names its containers' label. registry: the host that images are taken from, or empty.
    devices: nodes such as /dev/xpu0. home: a folder of this launch, where its programs run and may
    write. folders: seen at the same place as here. cache: with notes of images out of bundles.
    Raises EngineError.
    """
    engine = engine_on(variables)
    image = _image(engine, order, registry, cache)
    label = f"{LABEL}={launch}"
    mounts = [
        *(f"{folder}:{folder}" for folder in (home, *folders)),
        f"{OURS}:{OURS}:ro",
        *order.mounts,
    ]
    options = [
        *("--label", label, "--network", "host", "--shm-size", order.shm_size),
        # What the vendor's documents ask for: a debugger's rights, and no filter of system calls.
        *("--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined"),
        *("--user", f"{os.getuid()}:{os.getgid()}"),
        *(word for device in devices for word in ("--device", device)),
        *(word for mount in mounts for word in ("--volume", mount)),
        *("--entrypoint", "", "--workdir", str(home), "--env", f"HOME={home}"),
    ]
    return Contained(engine, image, label, tuple(options))


def pids_of(server: int, image: Contained | None) -> frozenset[int]:
    """Return a server's processes; those in a container are a daemon's children and not ours."""
    roots = {server, *(image.pids() if image else ())}
    return frozenset(roots.union(*map(descendants, roots)))


@contextmanager
def ended(image: Contained | None) -> Iterator[None]:
    """Stop what is left of a launch's containers once nobody waits for their programs."""
    try:
        yield
    finally:
        end(image)


def end(image: Contained | None) -> None:
    """Stop every container of a launch, if it has any. An engine that is gone has none either."""
    if image is not None:
        with suppress(EngineError):
            image.end()


def asked(engine: Path, words: Sequence[str], *, limit_s: float = LIMIT_S) -> str:
    """Return what an engine answered. Raises EngineError."""
    try:
        answer = subprocess.run(
            [engine, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=limit_s,
        )
    except subprocess.CalledProcessError as error:
        end = error.stderr.strip()[-500:]
        raise EngineError(f"{engine.name} {words[0]} failed: {end}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineError(f"{engine.name} {words[0]}: {error}") from error
    return answer.stdout


def loaded_note(cache: Path, digest: str) -> Path:
    """Return where it is noted under which id an engine has the image of a digest."""
    return cache / "images" / digest.removeprefix("sha256:")


def _image(engine: Path, order: ContainerOrder, registry: str, cache: Path | None) -> str:
    """Return how the engine names an ordered image, fetched unless it is here."""
    name = order.image.rpartition(":")[0] if ":" in order.image else order.image
    image = f"{registry}/{name}@{order.digest}" if registry else f"{name}@{order.digest}"
    if is_here(engine, image):
        return image
    if cache is not None and (note := loaded_note(cache, order.digest)).is_file():
        # An image out of an archive has no digest of a registry; its id was held to that digest.
        noted = note.read_text(encoding="utf-8")
        if is_here(engine, noted):
            return noted
    asked(engine, ("pull", image), limit_s=PULL_LIMIT_S)
    return image


def is_here(engine: Path, image: str) -> bool:
    """Return whether an engine has an image on this host."""
    try:
        asked(engine, ("image", "inspect", "--format", "{{.Id}}", image))
    except EngineError:
        return False
    return True


def engine_on(variables: Mapping[str, str]) -> Path:
    """Return the container engine of this host. Raises EngineError."""
    path = variables.get("PATH", os.defpath)
    for name in ENGINES:
        if found := shutil.which(name, path=path):
            return Path(found).absolute()
    raise EngineError(f"neither {' nor '.join(ENGINES)} is on {path}: install one of them")
