"""The wheels that a person names for a gate: read, held to their names, built where asked for."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

import uv
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from service.domain.key import short
from service.formats.chosen_stacks import OverrideError
from service.formats.gate_answers import GateOverride
from service.formats.identities import WheelOrder

# An artefact holds 16 MiB; a wheel may be larger.
PART_BYTES = 8 * 2**20
WHEEL_BYTES_MAX = 2**31
GIT = "git:"
BUILD_LIMIT_S = 1800.0
GIT_LIMIT_S = 120.0
METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
METADATA_BYTES_MAX = 2**20
BROKEN_WHEELS = (
    BadZipFile,
    EOFError,
    InvalidVersion,
    NotImplementedError,  # zipfile's word for a member whose compression it does not know
    ValueError,
)


class GitRefusedError(OverrideError):
    """Git refused what it was asked; the message has its words."""


@dataclass(frozen=True, slots=True)
class NamedWheel:
    """A wheel in place of a component. parts: bytes by their SHA-256, put together in order."""

    order: WheelOrder
    parts: Mapping[str, bytes]
    told: GateOverride


def is_wheel(value: str) -> bool:
    """Return whether an override's value names a wheel rather than a version."""
    return value.endswith(".whl")


def wheel_of(component: str, value: str) -> NamedWheel:
    """Return the one wheel that a path names, or a pattern for its name. Raises OverrideError."""
    path = Path(value).expanduser()
    found = sorted(path.parent.glob(path.name))
    if len(found) != 1:
        seen = f"{len(found)} files: {', '.join(each.name for each in found[:5])}"
        raise OverrideError(
            f"{component}={value} is to be one wheel, and there "
            + (f"are {seen}" if found else "is no such file")
        )
    told = GateOverride(
        component=component, kind="wheel", asked=f"{component}={value}", version="-"
    )
    return _read(found[0], told)


def wheel_of_commit(component: str, value: str, *, source: Path) -> NamedWheel:
    """Return the wheel built from a commit of a repository, its files as they are in the commit.

    value: 'git:' and a commit, or whatever names one there. Raises OverrideError.
    """
    commit = _commit(value[len(GIT) :], source)
    with TemporaryDirectory(prefix="kunline-gate-") as scratch:
        tree, wheels = Path(scratch, "tree"), Path(scratch, "wheels")
        tree.mkdir()
        _unpacked(source, commit, tree)
        epoch = git(source, "show", "--no-patch", "--format=%ct", commit)
        _built(component, tree, wheels, epoch)
        (path,) = wheels.glob("*.whl")
        told = GateOverride(
            component=component,
            kind="git",
            asked=f"{component}={value}",
            version="-",
            commit=commit,
        )
        return _read(path, told)


def _commit(name: str, source: Path) -> str:
    try:
        git(source, "rev-parse", "--git-dir")
    except GitRefusedError as error:
        raise OverrideError(f"{error}; --source names the repository of the commit") from error
    try:
        return git(source, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except GitRefusedError as error:
        raise OverrideError(
            f"no such commit in {source}: {name!r}. A shallow clone needs its whole history: "
            "fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab; --source names another repository"
        ) from error


def git(source: Path, *words: str) -> str:
    """Return what git says in a repository, without the line's end. Raises OverrideError."""
    try:
        done = subprocess.run(
            ["git", "-C", str(source), *words],
            capture_output=True,
            check=True,
            text=True,
            timeout=GIT_LIMIT_S,
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip()
        raise GitRefusedError(f"git {words[0]} in {source}: {said}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise OverrideError(f"git {words[0]} in {source}: {error}") from error
    return done.stdout.strip()


def _unpacked(source: Path, commit: str, tree: Path) -> None:
    archive = tree.with_suffix(".tar")
    git(source, "archive", "--format=tar", f"--output={archive}", commit)
    try:
        subprocess.run(
            ["tar", "-xf", str(archive), "-C", str(tree)], check=True, timeout=GIT_LIMIT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise OverrideError(f"the files of {commit[:12]} cannot be unpacked: {error}") from error


def _built(component: str, tree: Path, wheels: Path, epoch: str) -> None:
    command: list[str | Path] = [uv.find_uv_bin(), "build", "--wheel", "--no-config"]
    command += ["--out-dir", wheels, tree]
    try:
        subprocess.run(
            command,
            capture_output=True,
            check=True,
            text=True,
            timeout=BUILD_LIMIT_S,
            env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        )
    except subprocess.CalledProcessError as error:
        end = error.stderr.strip()[-2000:]
        raise OverrideError(f"{component} cannot be built from that commit:\n{end}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise OverrideError(f"{component} cannot be built from that commit: {error}") from error


def _read(path: Path, told: GateOverride) -> NamedWheel:
    try:
        name, own, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise OverrideError(f"{path.name} is not named as wheels are: {error}") from error
    if name != canonicalize_name(told.component):
        raise OverrideError(f"{path.name} is a wheel of {name}, not of {told.component}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OverrideError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > WHEEL_BYTES_MAX:
        raise OverrideError(f"{path.name} is larger than {WHEEL_BYTES_MAX // 2**30} GiB")
    _require_wheel(path.name, content, name, own)
    digest = sha256(content).hexdigest()
    parts = {
        sha256(part).hexdigest(): part
        for part in (content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES))
    }
    version = f"{own}{'.' if own.local else '+'}whl.{short(digest)}"
    ordered = tuple(
        sha256(content[at : at + PART_BYTES]).hexdigest()
        for at in range(0, len(content), PART_BYTES)
    )
    order = WheelOrder(
        component=told.component, version=version, file=path.name, digest=digest, parts=ordered
    )
    return NamedWheel(order, parts, told.model_copy(update={"version": version, "digest": digest}))


def _require_wheel(file: str, content: bytes, name: str, version: Version) -> None:
    """Raise OverrideError unless bytes are the wheel that a file's name says."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            (place,) = [each for each in archive.namelist() if METADATA.fullmatch(each)]
            if archive.getinfo(place).file_size > METADATA_BYTES_MAX:
                raise OverrideError(f"{file} is no wheel: its METADATA is too large")
            said = BytesHeaderParser().parsebytes(archive.read(place))
            inside = canonicalize_name(said["Name"] or ""), Version(said["Version"] or "")
    except BROKEN_WHEELS as error:
        raise OverrideError(f"{file} is no wheel, or a damaged one: {error}") from error
    if inside != (name, version):
        raise OverrideError(f"{file} has {inside[0]} {inside[1]} in it: build it anew")
