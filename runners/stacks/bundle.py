"""One archive for a site without a network, and how it is made ready there.

It is a plain tar of a folder: a Python with the runner in it, the matrix, and measured environments
by content. Nothing of it is installed; it is unpacked anywhere, by anybody, and verified.
"""

import os
import platform
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from runners.stacks.bundle_parts import libraries_of_host, load_script
from runners.stacks.elf import OLDEST, needed_glibc, newest
from service.formats.bundles import (
    MANIFEST,
    NEEDS,
    BundleManifest,
    HostNeeds,
    PackedImage,
    PackedPlugin,
)

FOLDER = "kunline-bundle"
ENVIRONMENTS = "cache/environments"
ON_DEMAND = ("sglang/srt/rust_extensions/", "sglang/srt/mem_cache/rust_tree_core/")
Progress = Callable[[str], None]


class TooNewError(ValueError):
    """Parts of a bundle need a newer C library than the site has."""

    def __init__(self, wanted: str, needs: Mapping[str, str], files: Mapping[str, Path]) -> None:
        asking = ", ".join(
            f"{part}: {each} for {files[part].name}"
            for part, each in needs.items()
            if newest([wanted, each]) != wanted
        )
        super().__init__(
            f"glibc {wanted} is wanted, and parts need a newer one ({asking}); give a Python built "
            "for an older one with --python, and leave out stacks that are built for newer hosts"
        )


class BundleDamagedError(ValueError):
    """A bundle is not what was packed, or not for this host."""


class AlreadyThereError(FileExistsError):
    """A folder stands where a bundle is to be unpacked to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is there already: move it away, or unpack with --into elsewhere"
        )


class DiskTooSmallError(OSError):
    """There is not enough free disk to pack or unpack a bundle."""

    def __init__(self, folder: Path, *, needed: int, free: int) -> None:
        super().__init__(
            f"{needed / 1e9:.1f} GB are needed at {folder}, and {free / 1e9:.1f} GB are free"
        )


@dataclass(frozen=True, slots=True)
class Extras:
    """Files that go along as they are, by their place, and what they are.

    clients: environments that drive servers and serve nothing.
    """

    files: Mapping[str, Path] = field(default_factory=dict)
    clients: frozenset[str] = frozenset()
    images: tuple[PackedImage, ...] = ()
    plugins: tuple[PackedPlugin, ...] = ()


NOTHING_MORE = Extras()


def packed(
    tree: Path,
    environments: Mapping[str, Path],
    out: Path,
    *,
    python: Path,
    glibc: str | None,
    extras: Extras = NOTHING_MORE,
) -> tuple[BundleManifest, HostNeeds]:
    """Write a bundle and return what is in it, and what it needs of a host.

    tree: its own folder. environments: folders by digest, taken from where they lie. python: of
    the tree. glibc: the oldest one that it must run on, or None.
    Raises TooNewError and DiskTooSmallError.
    """
    members = [*_members(tree, environments, extras.clients), *extras.files.items()]
    needs, files_of = _needs(members, libraries_of_host(python.parents[1]))
    if glibc is not None and newest([glibc, needs.glibc]) != glibc:
        raise TooNewError(glibc, needs.parts, files_of)
    require_space(out.parent, needs.size_bytes)
    (tree / NEEDS).write_text(needs.model_dump_json(), encoding="utf-8")
    load_script(tree, needs)
    files: dict[str, str] = {}
    with _whole(out) as half, tarfile.open(half, "w") as archive:
        # Read by a host before the rest of it, which it may not be able to run.
        for place, path in (*((name, tree / name) for name in ("load", NEEDS)), *members):
            archive.add(path, f"{FOLDER}/{place}", recursive=False)
            if path.is_file() and not path.is_symlink():
                files[place] = _digest(path)
        manifest = BundleManifest(
            kunline=version("kunline"),
            python=str(python.relative_to(tree)),
            machine=needs.machine,
            glibc=needs.glibc,
            environments=tuple(environments),
            files=files,
            images=extras.images,
            plugins=extras.plugins,
        )
        told = tree / MANIFEST
        told.write_text(manifest.model_dump_json(), encoding="utf-8")
        archive.add(told, f"{FOLDER}/{MANIFEST}")
    return manifest, needs


def unpacked(bundle: Path, into: Path) -> Path:
    """Unpack a bundle into a folder and return where it lies there; whole, or not at all.

    A host that cannot run it is told so before anything is unpacked. Raises BundleDamagedError,
    AlreadyThereError and DiskTooSmallError.
    """
    root = into / FOLDER
    if root.exists():
        raise AlreadyThereError(root)
    into.mkdir(parents=True, exist_ok=True)
    half = into / f".{FOLDER}.{os.getpid()}"
    try:
        with tarfile.open(bundle) as archive:
            if needs := _told_first(archive):
                require_host(needs.machine, needs.glibc, needs.parts)
                require_space(into, needs.size_bytes)
            archive.extractall(half, filter="data")
        (half / FOLDER).rename(root)
    except (tarfile.TarError, EOFError, FileNotFoundError, ValidationError) as error:
        raise BundleDamagedError(f"{bundle} cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return root


def _told_first(archive: tarfile.TarFile) -> HostNeeds | None:
    """Return what a bundle needs, where it says so among its first files; older ones do not."""
    for _ in range(2):
        member = archive.next()
        stream = archive.extractfile(member) if member is not None else None
        if member is not None and stream is not None and member.name == f"{FOLDER}/{NEEDS}":
            return HostNeeds.model_validate_json(stream.read())
    return None


def ready(root: Path) -> BundleManifest:
    """Verify an unpacked bundle and let its environments stand on its own Python, where it lies.

    Raises BundleDamagedError.
    """
    try:
        manifest = BundleManifest.model_validate_json((root / MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise BundleDamagedError(f"{root} is no unpacked bundle: {error}") from error
    require_host(manifest.machine, manifest.glibc, {})
    changed = [place for place, digest in manifest.files.items() if _unlike(root / place, digest)]
    if changed:
        shown = ", ".join(changed[:5])
        raise BundleDamagedError(f"{len(changed)} files are not those packed: {shown}")
    for digest in manifest.environments:
        _stand(root / ENVIRONMENTS / digest, root / manifest.python)
    return manifest


def require_host(machine: str, glibc: str, parts: Mapping[str, str]) -> None:
    """Raise BundleDamagedError where this host cannot run what was packed. parts: as needed."""
    here = platform.libc_ver()[1] or "unknown"
    if platform.machine() != machine:
        raise BundleDamagedError(f"it is for {machine}, and this is {platform.machine()}")
    if here != "unknown" and newest([here, glibc]) != here:
        newer = _newer(parts, here)
        raise BundleDamagedError(
            f"it needs glibc {glibc}{f' ({newer})' if newer else ''}, and this host has {here}: "
            f"make it with --glibc {here} and a --python that was built for it"
        )


def require_space(folder: Path, needed: int) -> None:
    """Raise DiskTooSmallError where a folder's disk has not so many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DiskTooSmallError(folder, needed=needed, free=free)


@contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """Give a place to write to; it becomes the file once it is whole, and goes where it is not."""
    half = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        yield half
        half.rename(out)
    finally:
        half.unlink(missing_ok=True)


def _needs(
    members: Sequence[tuple[str, Path]], libraries: tuple[str, ...]
) -> tuple[HostNeeds, Mapping[str, Path]]:
    """Return what a host must have, and of each part the file that asks for most."""
    parts, asking = {"runner": OLDEST}, {"runner": Path("nothing")}
    for place, path in members:
        part = _part(place)
        needed = needed_glibc(path) if path.is_file() and not path.is_symlink() else OLDEST
        if part not in parts or newest([parts[part], needed]) != parts[part]:
            parts[part], asking[part] = needed, path
    needs = HostNeeds(
        machine=platform.machine(),
        glibc=newest(list(parts.values())),
        parts=parts,
        size_bytes=sum(path.lstat().st_size for _, path in members),
        libraries=libraries,
    )
    return needs, asking


def _part(place: str) -> str:
    """Return what a file of a bundle belongs to: an environment, or the runner and all else."""
    inside = place.removeprefix(f"{ENVIRONMENTS}/")
    return "runner" if inside == place else inside.split("/")[0][:12]


def _newer(parts: Mapping[str, str], here: str) -> str:
    newer = [f"{part}: {each}" for part, each in parts.items() if newest([here, each]) != here]
    return ", ".join(newer)


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


def _members(
    tree: Path, environments: Mapping[str, Path], clients: frozenset[str]
) -> Iterator[tuple[str, Path]]:
    for path in _walked(tree):
        yield str(path.relative_to(tree)), path
    for digest, root in environments.items():
        for path in _walked(root):
            inside = path.relative_to(root)
            # Of this host: they are written anew where the bundle is loaded.
            of_host = inside.parent.name == "bin" and inside.name.startswith("python")
            if not of_host and not (digest in clients and _serves_alone(inside)):
                yield f"{ENVIRONMENTS}/{digest}/{inside}", path


def _walked(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder but compiled bytecode, folders before what is in them."""
    for path in sorted(folder.iterdir()):
        if path.name != "__pycache__":
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _walked(path)


def _serves_alone(inside: Path) -> bool:
    """Return whether a file of SGLang's is a library that only a server loads, and only on demand.

    Its wheels are built for a newer C library than vendors' hosts have because of these alone.
    """
    return inside.suffix == ".so" and any(name in str(inside) for name in ON_DEMAND)


def _unlike(path: Path, digest: str) -> bool:
    # An environment's own note of its Python is written anew each time it is made ready.
    if path.name == "pyvenv.cfg":
        return not path.is_file()
    return not path.is_file() or _digest(path) != digest


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
