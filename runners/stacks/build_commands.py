"""The commands that fill an environment: uv, pip for one question, and hatchling."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import uv

from runners.stacks.build_step import BuildStepError, Workshop
from runners.stacks.platform_tree import platform_folder, platform_version
from runners.stacks.torch_build import TorchOffer, torch_offer, unlabelled_wheel

# Any fixed moment after 1980, the first that a zip archive can hold: equal sources, equal wheel.
_EPOCH = "1767225600"

_SHORT_S = 120.0
_QUESTION_S = 900.0
_DOWNLOAD_S = 3000.0


class UnlabelledWheelError(RuntimeError):
    """Pip began to fetch a torch that does not call itself a CPU build: it was stopped."""

    def __init__(self, wheel: str) -> None:
        super().__init__(f"{wheel} is not labelled +cpu")
        self.wheel = wheel


def python_minor(python: Path) -> str:
    """Return an interpreter's minor version, as in '3.11'."""
    answer = subprocess.run(
        [python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        check=True,
        text=True,
        timeout=_SHORT_S,
    )
    return answer.stdout.strip()


def empty_environment(workshop: Workshop, root: Path, *, base: Path) -> None:
    """Make an environment that may be renamed, without pip in it. Raises BuildStepError."""
    workshop.run(
        "making an empty environment",
        [*_uv("venv"), "--relocatable", "--no-python-downloads", "--python", base, root],
        limit_s=_SHORT_S,
    )


def install_torch(workshop: Workshop, root: Path, *, release: str, base: Path) -> str:
    """Install a CPU build of torch, and return in words which one was taken and why.

    Pip is asked, without installing anything, what its own configuration would serve. A CPU build
    is taken from there; an accelerator's build, gigabytes of it, never is: uv then fetches torch
    from where PyTorch keeps its CPU builds. Raises BuildStepError.
    """
    with TemporaryDirectory(prefix="kunline-pip-") as scratch:
        pip = _pip(workshop, Path(scratch), base=base)
        offer = _ask_pip(workshop, pip, release=release, report=Path(scratch) / "report.json")
        if offer.accelerator is None:
            wheel = _wheel(workshop, pip, offer, store=root.parents[1] / "wheels")
            install(workshop, root, [f"torch @ {wheel}"], what=f"installing torch {offer.version}")
            return f"{offer.version}, the CPU build that pip's configuration serves"
    install(
        workshop,
        root,
        ["--torch-backend", "cpu", f"torch=={release}"],
        what=f"fetching a CPU build of torch {release} (pip would serve {offer.version}, which "
        f"{offer.accelerator}; point pip at a CPU build, for instance by PIP_FIND_LINKS)",
    )
    return (
        f"{release}, the CPU build of uv's --torch-backend cpu, as pip's configuration serves "
        f"{offer.version}, which {offer.accelerator}"
    )


def install_lock(workshop: Workshop, root: Path, *, lock: bytes) -> None:
    """Install every locked package, its hash verified, nothing resolved. Raises BuildStepError."""
    requirements = root / "requirements.lock"
    requirements.write_bytes(lock)
    install(
        workshop,
        root,
        ["--require-hashes", "--only-binary", ":all:", "--requirements", requirements],
        what="installing the locked packages",
    )


def install_platform(workshop: Workshop, root: Path, *, name: str) -> None:
    """Build one of our platforms into a wheel and install it. Raises BuildStepError."""
    version = platform_version(name)
    sources = platform_folder(name)
    with TemporaryDirectory(prefix="kunline-wheel-") as wheels:
        build_wheel(workshop, sources, version=version, into=Path(wheels))
        (wheel,) = Path(wheels).glob("*.whl")
        install(workshop, root, [wheel], what=f"installing the platform {name} {version}")


def install_wheels(workshop: Workshop, root: Path, *, wheels: Mapping[str, bytes]) -> None:
    """Install wheels in place of what bears their names. Raises BuildStepError.

    wheels: content by file name. What they require is not looked at: the lock has it, or preflight
    finds that it is missing.
    """
    with TemporaryDirectory(prefix="kunline-wheels-") as folder:
        paths = [Path(folder, Path(name).name) for name in wheels]
        for path, content in zip(paths, wheels.values(), strict=True):
            path.write_bytes(content)
        install(workshop, root, ["--reinstall", *paths], what=f"installing {', '.join(wheels)}")


def build_wheel(workshop: Workshop, sources: Path, *, version: str, into: Path) -> None:
    """Build a wheel with the runner's own hatchling, the same bytes from the same sources."""
    workshop.run(
        f"building {sources.name}",
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", into],
        folder=sources,
        limit_s=_SHORT_S,
        extra={"SOURCE_DATE_EPOCH": _EPOCH, "KUNLINE_PLATFORM_VERSION": version},
    )


def install(workshop: Workshop, root: Path, what_to: list[str | Path], *, what: str) -> None:
    """Install by uv, without dependencies, hard-linked from its cache. Raises BuildStepError."""
    python = root / "bin" / "python"
    workshop.run(
        what,
        [*_uv("pip", "install"), "--no-deps", "--python", python, *what_to],
        limit_s=_DOWNLOAD_S,
    )


def _uv(*words: str) -> list[str]:
    return [uv.find_uv_bin(), *words, "--no-progress", "--color", "never"]


def _pip(workshop: Workshop, scratch: Path, *, base: Path) -> list[str | Path]:
    """Return how to call pip: the base Python's own, else one in a scratch environment."""
    try:
        workshop.run("looking for pip", [base, "-m", "pip", "--version"], limit_s=_SHORT_S)
    except BuildStepError:
        folder = scratch / "pip"
        workshop.run(
            "making an environment with pip, which the base Python lacks",
            [*_uv("venv"), "--seed", "--no-python-downloads", "--python", base, folder],
            limit_s=_SHORT_S,
        )
        return [folder / "bin" / "python", "-m", "pip"]
    return [base, "-m", "pip"]


def _ask_pip(
    workshop: Workshop, pip: list[str | Path], *, release: str, report: Path
) -> TorchOffer:
    command = [
        *pip,
        "install",
        *("--dry-run", "--no-deps", "--ignore-installed", "--no-input"),
        *("--only-binary", ":all:", "--report", report, f"torch=={release}"),
    ]

    def watch(said: str, fraction: float | None) -> None:
        if wheel := unlabelled_wheel(said):
            raise UnlabelledWheelError(wheel)
        workshop.progress(said, fraction)

    watched = replace(workshop, progress=watch)
    try:
        watched.run(f"asking pip for torch {release}", command, limit_s=_QUESTION_S)
    except UnlabelledWheelError as stopped:
        return TorchOffer(release, stopped.wheel, None, (), unlabelled=True)
    return torch_offer(json.loads(report.read_text(encoding="utf-8")))


def _wheel(workshop: Workshop, pip: list[str | Path], offer: TorchOffer, *, store: Path) -> str:
    """Return the address of a wheel on this disk: where it lies, or where pip now puts it.

    It keeps its place, so that uv unpacks it once for all environments.
    """
    pinned = f"#sha256={offer.sha256}" if offer.sha256 else ""
    if offer.url.startswith("file:"):
        return offer.url + pinned
    folder = store / (offer.sha256 or offer.version)
    if not list(folder.glob("torch-*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        workshop.run(
            f"fetching torch {offer.version} with pip",
            [
                *(*pip, "download", "--no-deps", "--no-input", "--only-binary", ":all:"),
                *("--dest", folder, f"torch=={offer.version}"),
            ],
            limit_s=_DOWNLOAD_S,
        )
    (wheel,) = folder.glob("torch-*.whl")
    return wheel.as_uri() + pinned
