"""Wheels laid over a Python that nothing may be installed into: a host's own, or an image's.

They are unpacked into a folder of the launch, which comes first on PYTHONPATH of the server and of
every probe before it. The host's environment and the image stay what they are. That the overlay is
what counts is looked up before the launch, and in the server's own processes once it is up.
"""

import json
import os
import platform
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import uv
from packaging.utils import canonicalize_name, parse_wheel_filename
from pydantic import BaseModel, ConfigDict, ValidationError

from runners.stacks.build_step import BuildStepError, Progress, Workshop
from service.formats.identities import WheelOrder

Answer = TypeVar("Answer", bound=BaseModel)

PROBE = Path(__file__).parent / "inside" / "overlaid.py"
PATH = "PYTHONPATH"
UNPACK_LIMIT_S = 600.0
LIMIT_S = 120.0
ERROR_CHARACTERS = 1500
ASK = (
    "import json, os, platform; "
    f"print(json.dumps(dict(release=platform.python_version(), path=os.environ.get({PATH!r}, ''))))"
)
# The newest C library that uv knows of: whether a binary runs is seen when it is loaded.
TARGET = "{machine}-manylinux_2_40"
NO_PYTHON = (
    "none of the server's Python processes tells its path: this runner's user may not look into "
    "them, or each has written a title over it"
)
OPTIONS_THAT_IGNORE = frozenset("EI")
WITH_VALUES = frozenset({"-X", "-W"})
REMEDY = (
    "nothing may come before PYTHONPATH: start Python without -I and -E, and let neither a launch "
    "program nor a checkout put its own folder first; else build an image with the wheel in it"
)


class OverlayError(RuntimeError):
    """Wheels cannot be laid over a Python, or what it loads is not what they bring."""

    remedy = REMEDY


class _Said(BaseModel):
    """What a probe prints; a newer one may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Before(_Said):
    """A Python's release, and the path that it has already: the stack's own, or the image's."""

    release: str
    path: str


class _Found(_Said):
    """A distribution as it is found first. folder: where it lies."""

    version: str
    folder: str


class _Loaded(_Said):
    """What a Python would load: distributions by settled name, places of modules.

    startup: texts of files that it reads in its own site-packages as it starts.
    """

    distributions: Mapping[str, _Found]
    modules: Mapping[str, str | None]
    startup: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Overlay:
    """What wheels brought, in a folder. path: PYTHONPATH, the folder first.

    modules: top-level names in the folder. libraries: places of shared libraries below it.
    """

    root: Path
    path: str
    wheels: Sequence[WheelOrder]
    modules: tuple[str, ...]
    libraries: frozenset[str]

    @property
    def variables(self) -> Mapping[str, str]:
        """What a process must have in its environment to load it."""
        return {PATH: self.path}


def with_overlay(variables: Mapping[str, str], overlay: Overlay | None) -> Mapping[str, str]:
    """Return variables with those of an overlay, where there is one."""
    return variables if overlay is None else {**variables, **overlay.variables}


def laid_over(
    python: Path,
    wheels: Mapping[WheelOrder, bytes],
    *,
    folder: Path,
    variables: Mapping[str, str],
    progress: Progress,
) -> Overlay:
    """Unpack wheels into a folder below that of a launch and return the overlay.

    python: the measured one, a program of an image too: it sees the launch's folder. variables: of
    the launch. Raises OverlayError.
    """
    root = folder / "overlay"
    root.mkdir()
    progress(f"laying {', '.join(each.file for each in wheels)} over {python.name}", None)
    before = _before(python, variables)
    workshop = Workshop(os.environ, folder / "overlay.log", progress, folder=folder)
    try:
        with TemporaryDirectory(prefix="kunline-wheels-") as scratch:
            paths = [Path(scratch, each.file) for each in wheels]
            for path, content in zip(paths, wheels.values(), strict=True):
                path.write_bytes(content)
            what = (
                f"unpacking {', '.join(each.file for each in wheels)} for Python {before.release}"
            )
            workshop.run(what, _unpacking(root, before.release, paths), limit_s=UNPACK_LIMIT_S)
    except BuildStepError as error:
        raise OverlayError(str(error)) from error
    _require_startup(root, python, variables)
    overlay = Overlay(
        root=root,
        path=os.pathsep.join(filter(None, (str(root), before.path))),
        wheels=tuple(wheels),
        modules=tuple(sorted(_modules(root))),
        libraries=frozenset(str(each.relative_to(root)) for each in root.rglob("*.so*")),
    )
    _compiled(python, overlay, variables)
    return overlay


def path_before(python: Path, variables: Mapping[str, str]) -> str:
    """Return the PYTHONPATH that a Python has already, an image's own too. Raises OverlayError."""
    return _before(python, variables).path


def _before(python: Path, variables: Mapping[str, str]) -> _Before:
    return _said(_Before, python, ("-I", "-c", ASK), variables)


def seen_in(overlay: Overlay, python: Path, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the versions of an overlay's components, as a stack pins them.

    Raises OverlayError where a Python with the variables of the launch loads anything else.
    """
    names = {str(canonicalize_name(_named(each)[0])): each for each in overlay.wheels}
    asked = {"distributions": list(names), "modules": overlay.modules, "startup": ()}
    seen = _loaded(python, asked, {**variables, **overlay.variables})
    if strange := [*_strange(overlay, names, seen), *_strange_modules(overlay, seen)]:
        raise OverlayError(f"not loaded from the overlay {overlay.root}: {'; '.join(strange)}")
    return {each.component: each.version for each in overlay.wheels}


def _loaded(
    python: Path, asked: Mapping[str, Sequence[str]], variables: Mapping[str, str]
) -> _Loaded:
    return _said(_Loaded, python, (PROBE, json.dumps(asked)), variables)


def _require_startup(root: Path, python: Path, variables: Mapping[str, str]) -> None:
    """Raise OverlayError where wheels bring a .pth file other than the one that is installed.

    Python reads such files in its own site-packages alone; what they import is the overlay's.
    """
    brings = {
        each.name: each.read_text(encoding="utf-8", errors="replace") for each in root.glob("*.pth")
    }
    if not brings:
        return
    asked: Mapping[str, Sequence[str]] = {
        "distributions": (),
        "modules": (),
        "startup": sorted(brings),
    }
    installed = _loaded(python, asked, variables).startup
    if others := [name for name in sorted(brings) if brings[name] != installed.get(name)]:
        raise OverlayError(
            f"{', '.join(others)} is not what is installed, and Python reads it in its own "
            "site-packages alone"
        )


def _strange(overlay: Overlay, names: Mapping[str, WheelOrder], seen: _Loaded) -> Iterator[str]:
    for name, wheel in names.items():
        found = seen.distributions.get(name)
        if found is None:
            yield f"{wheel.component} is not found"
        elif not _is_below(found.folder, overlay.root) or found.version != _named(wheel)[1]:
            yield f"{wheel.component} {found.version} is found in {found.folder}"


def _strange_modules(overlay: Overlay, seen: _Loaded) -> Iterator[str]:
    for name in overlay.modules:
        place = seen.modules.get(name)
        if place is None or not _is_below(place, overlay.root):
            yield f"module {name} is found at {place or 'no place'}"


def require_served(
    overlay: Overlay, pids: Collection[int], python: Path, variables: Mapping[str, str]
) -> None:
    """Raise OverlayError unless every Python process of a server loads what an overlay brings.

    What its own environment says is read from the kernel; where a launch program has put more on
    the path, the measured Python is asked with just that path. A process whose title is written
    over its path got it from one that still tells it. A library with the name of one of the
    overlay's, mapped from elsewhere, is the old one.
    """
    paths: set[str] = set()
    for pid in filter(_is_python, pids):
        if _ignores_path(_strings(pid, "cmdline")):
            raise OverlayError(f"the server's process {pid} is started with -I or -E")
        if elsewhere := sorted(_mapped_elsewhere(overlay, pid)):
            raise OverlayError(f"the server has {', '.join(elsewhere)} loaded in their place")
        if (path := _path_of(pid)) is not None:
            paths.add(path)
    if not paths:
        raise OverlayError(NO_PYTHON)
    for path in paths - {overlay.path}:
        seen_in(replace(overlay, path=path), python, variables)


def _said(
    kind: type[Answer], python: Path, words: Sequence[str | Path], variables: Mapping[str, str]
) -> Answer:
    """Return what a Python prints, as one kind of answer. Raises OverlayError."""
    try:
        answer = subprocess.run(
            [python, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=LIMIT_S,
            env=dict(variables),
        )
        return kind.model_validate_json(answer.stdout)
    except subprocess.CalledProcessError as error:
        end = error.stderr.decode(errors="replace").strip()[-ERROR_CHARACTERS:]
        raise OverlayError(f"{python} does not tell what it loads: {end}") from error
    except (OSError, subprocess.SubprocessError, ValidationError) as error:
        raise OverlayError(f"{python} does not tell what it loads: {error}") from error


def _unpacking(root: Path, release: str, paths: Iterable[Path]) -> list[str | Path]:
    target = TARGET.format(machine=platform.machine())
    return [
        *(uv.find_uv_bin(), "pip", "install", "--no-deps", "--no-index", "--no-config"),
        *("--target", root, "--python-version", release, "--python-platform", target),
        *("--no-progress", "--color", "never"),
        *paths,
    ]


def _compiled(python: Path, overlay: Overlay, variables: Mapping[str, str]) -> None:
    """Compile what is compiled in the environment too, so that a start-up is not held to it."""
    # A file that does not compile is the wheel's own affair, as it is when a wheel is installed.
    subprocess.run(
        [python, "-I", "-m", "compileall", "-q", str(overlay.root)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=UNPACK_LIMIT_S,
        env=dict(variables),
    )


def _modules(root: Path) -> Iterator[str]:
    for each in root.iterdir():
        if each.is_dir() and each.name.isidentifier() and _has_modules(each):
            yield each.name
        elif each.is_file() and each.suffix in {".py", ".so"}:
            yield each.name.partition(".")[0]


def _has_modules(folder: Path) -> bool:
    """Return whether a folder is a package: scripts and data of a wheel lie beside them."""
    return folder.name not in {"bin", "share", "include", "etc"} and any(
        each.suffix in {".py", ".so"} for each in folder.rglob("*")
    )


def _named(wheel: WheelOrder) -> tuple[str, str]:
    name, version, _, _ = parse_wheel_filename(wheel.file)
    return name, str(version)


def _is_below(place: str, root: Path) -> bool:
    return Path(place).is_relative_to(root.resolve())


def _strings(pid: int, name: str) -> list[bytes]:
    """Return the words that the kernel tells of a process; none where it may not be looked into."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_python(pid: int) -> bool:
    """Return whether a process is a Python; one that may not be looked into counts as none."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name.startswith("python")
    except OSError:
        return False


def _path_of(pid: int) -> str | None:
    """Return the PYTHONPATH that a process was started with, None where that is not to be told.

    A process that gives itself a title, as SGLang's schedulers do, writes it over its arguments and
    over the variables behind them, up to the first that it has set anew: the last ones may be left.
    """
    variables = _strings(pid, "environ")[:-1]
    begin = os.fsencode(f"{PATH}=")
    for each in variables:
        if each.startswith(begin):
            return os.fsdecode(each[len(begin) :])
    written_over = any(b"=" not in each for each in variables)
    return None if written_over or not variables else ""


def _ignores_path(words: Sequence[bytes]) -> bool:
    """Return whether Python is told to pass over PYTHONPATH, by an option before its script."""
    options = iter(os.fsdecode(word) for word in words[1:])
    for word in options:
        if not word.startswith("-") or word[:2] in {"-c", "-m"} or word == "-":
            return False
        if word in WITH_VALUES:
            next(options, None)
        elif not word.startswith("--") and OPTIONS_THAT_IGNORE & set(word[1:]):
            return True
    return False


def _mapped_elsewhere(overlay: Overlay, pid: int) -> Iterator[str]:
    """Yield libraries that a process has from elsewhere although the overlay brings them."""
    for line in _lines(pid):
        place = "/" + line.partition("/")[2]
        if not _is_below(place, overlay.root) and any(
            place.endswith(f"/{each}") for each in overlay.libraries
        ):
            yield place


def _lines(pid: int) -> set[str]:
    try:
        text = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {line for line in text.splitlines() if "/" in line}
