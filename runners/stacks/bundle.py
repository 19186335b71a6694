"""One archive for a site without a network, and how it is made ready there.

It is a plain tar of a folder: a Python with the runner in it, the matrix, and measured environments
by content. Nothing of it is installed; it is unpacked anywhere, by anybody, and verified.
"""

import os
import platform
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from runners.stacks.elf import needed_glibc, newest
from service.formats.bundles import MANIFEST, BundleManifest

FOLDER = "kunline-bundle"
ENVIRONMENTS = "cache/environments"
Progress = Callable[[str], None]


class TooNewError(ValueError):
    """Parts of a bundle need a newer C library than the site has."""

    def __init__(self, wanted: str, needs: Mapping[str, str]) -> None:
        listed = ", ".join(f"{part}: {glibc}" for part, glibc in needs.items() if glibc != wanted)
        super().__init__(
            f"glibc {wanted} is wanted, and parts need a newer one ({listed}); give a Python built "
            "for an older one with --python, or leave out what is measured from the host itself"
        )


class BundleDamagedError(ValueError):
    """A bundle is not what was packed, or not for this host."""


def packed(
    tree: Path, environments: Mapping[str, Path], out: Path, *, python: Path, glibc: str | None
) -> tuple[BundleManifest, Mapping[str, str]]:
    """Write a bundle and return what is in it, and the C library that each part needs.

    tree: its own folder. environments: folders by digest, taken from where they lie. python: of
    the tree. glibc: the oldest one that it must run on, or None. Raises TooNewError.
    """
    parts = {"runner": tree, **{digest[:12]: root for digest, root in environments.items()}}
    needs = {name: _needed(folder) for name, folder in parts.items()}
    oldest = newest(list(needs.values()))
    if glibc is not None and newest([glibc, oldest]) != glibc:
        raise TooNewError(glibc, needs)
    half = out.with_name(f".{out.name}.{os.getpid()}")
    files: dict[str, str] = {}
    with tarfile.open(half, "w") as archive:
        for place, path in _members(tree, environments):
            archive.add(path, f"{FOLDER}/{place}", recursive=False)
            if path.is_file() and not path.is_symlink():
                files[place] = _digest(path)
        manifest = BundleManifest(
            kunline=version("kunline"),
            python=str(python.relative_to(tree)),
            machine=platform.machine(),
            glibc=oldest,
            environments=tuple(environments),
            files=files,
        )
        told = tree / MANIFEST
        told.write_text(manifest.model_dump_json(), encoding="utf-8")
        archive.add(told, f"{FOLDER}/{MANIFEST}")
    half.rename(out)
    return manifest, needs


def unpacked(bundle: Path, into: Path) -> Path:
    """Unpack a bundle into a folder and return where it lies there. Raises BundleDamagedError."""
    try:
        with tarfile.open(bundle) as archive:
            archive.extractall(into, filter="data")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise BundleDamagedError(f"{bundle} cannot be unpacked: {error}") from error
    return into / FOLDER


def ready(root: Path) -> BundleManifest:
    """Verify an unpacked bundle and let its environments stand on its own Python, where it lies.

    Raises BundleDamagedError.
    """
    try:
        manifest = BundleManifest.model_validate_json((root / MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise BundleDamagedError(f"{root} is no unpacked bundle: {error}") from error
    _require_host(manifest)
    changed = [place for place, digest in manifest.files.items() if _unlike(root / place, digest)]
    if changed:
        shown = ", ".join(changed[:5])
        raise BundleDamagedError(f"{len(changed)} files are not those packed: {shown}")
    for digest in manifest.environments:
        _stand(root / ENVIRONMENTS / digest, root / manifest.python)
    return manifest


def _require_host(manifest: BundleManifest) -> None:
    here = platform.libc_ver()[1] or "unknown"
    if platform.machine() != manifest.machine:
        raise BundleDamagedError(f"it is for {manifest.machine}, and this is {platform.machine()}")
    if here != "unknown" and newest([here, manifest.glibc]) != here:
        raise BundleDamagedError(
            f"it needs glibc {manifest.glibc}, and this host has {here}: make it for an older one "
            "with --glibc"
        )


def _stand(environment: Path, python: Path) -> None:
    """Write into an environment which Python it is of: its links were left out when packed."""
    config = environment / "pyvenv.cfg"
    lines = config.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("home")]
    config.write_text("\n".join([f"home = {python.parent}", *kept, ""]), encoding="utf-8")
    for name in ("python", "python3", python.name):
        link = environment / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(python, link.parent))


def _members(tree: Path, environments: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    for path in _walked(tree):
        yield str(path.relative_to(tree)), path
    for digest, root in environments.items():
        for path in _walked(root):
            inside = path.relative_to(root)
            # Of this host: they are written anew where the bundle is loaded.
            if inside.parent.name != "bin" or not inside.name.startswith("python"):
                yield f"{ENVIRONMENTS}/{digest}/{inside}", path


def _walked(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder but compiled bytecode, folders before what is in them."""
    for path in sorted(folder.iterdir()):
        if path.name != "__pycache__":
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _walked(path)


def _needed(folder: Path) -> str:
    files = (path for path in _walked(folder) if path.is_file() and not path.is_symlink())
    named: Sequence[Path] = [path for path in files if _may_be_elf(path)]
    return newest([needed_glibc(path) for path in named] or ["2.17"])


def _may_be_elf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _unlike(path: Path, digest: str) -> bool:
    # An environment's own note of its Python is written anew each time it is made ready.
    if path.name == "pyvenv.cfg":
        return not path.is_file()
    return not path.is_file() or _digest(path) != digest


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
