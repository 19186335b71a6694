"""Weights brought to the host's own disk: copied once, hashed meanwhile, and looked at cheaply.

A copy that was broken off goes on where it stopped. A folder that bears its final name is whole.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from service.formats.staged_weights import StagedFile, StagedWeights

NOTE = ".kunline-staged.json"
PIECE_BYTES = 8 * 2**20
# What the disk must keep free besides.
MARGIN_BYTES = 2**28
LEFT_OUT = frozenset({".git", ".cache"})

# How many bytes are done, of how many.
Progress = Callable[[int, int], None]


class StagingError(RuntimeError):
    """Weights cannot be staged, and the message says what to do."""


@dataclass(frozen=True, slots=True)
class Original:
    """A file where it comes from."""

    path: Path
    size: int
    mtime_ns: int


def staged(source: Path, into: Path, *, progress: Progress) -> tuple[StagedWeights, int]:
    """Bring a folder's files to another, and return its note and how many bytes were copied.

    One that was staged from the same files is left as it is. Raises StagingError and OSError.
    """
    originals = _originals(source)
    if into.exists():
        return _there_already(source, into, originals), 0
    work = into.with_name(f".{into.name}.staging")
    work.mkdir(parents=True, exist_ok=True)
    with _alone(work):
        _require_space(work, originals)
        note, copied = _brought(source, work, originals, progress)
        _drop_others(work, originals)
        work.rename(into)
    return note, copied


def _brought(
    source: Path, work: Path, originals: Mapping[str, Original], progress: Progress
) -> tuple[StagedWeights, int]:
    """Copy what is not there yet; after each file the note knows it, for whoever goes on."""
    before = noted(work)
    files = {} if before is None else dict(before.files)
    total, done, copied = sum(each.size for each in originals.values()), 0, 0
    for name, original in originals.items():
        if not _is_copy(work / name, files.get(name), original):
            told = partial(_told, progress, done, total)
            files[name], fresh = _copied(original, work / name, told)
            copied += fresh
            _write(work, StagedWeights(source=str(source), files=files))
        done += original.size
        progress(done, total)
    note = StagedWeights(source=str(source), files={name: files[name] for name in originals})
    _write(work, note)
    return note, copied


def _told(progress: Progress, before: int, total: int, more: int) -> None:
    progress(before + more, total)


def noted(folder: Path) -> StagedWeights | None:
    """Return the note of a staged folder; None where it has none that can be read."""
    try:
        return StagedWeights.model_validate_json((folder / NOTE).read_bytes())
    except (OSError, ValidationError):
        return None


def unlike(folder: Path, note: StagedWeights) -> tuple[str, ...]:
    """Return what is not as it was staged, by size, time of change and inode: nothing is read."""
    return tuple(
        f"{name}: {why}"
        for name, file in note.files.items()
        if (why := _changed(folder / name, file))
    )


def read_again(
    folder: Path, note: StagedWeights, *, progress: Progress
) -> tuple[StagedWeights, tuple[str, ...]]:
    """Read every file and return the note, and what has another content than was staged.

    What was moved or restored with its content is as staged again: the note knows it from now on.
    """
    found: list[str] = []
    files: dict[str, StagedFile] = {}
    total, done = sum(file.size for file in note.files.values()), 0
    for name, file in note.files.items():
        try:
            with (folder / name).open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
            files[name] = _file(folder / name, digest, file.source_mtime_ns)
        except OSError as error:
            digest, why = "", error.strerror or "it cannot be read"
        else:
            why = "another content"
        if digest != file.sha256:
            found.append(f"{name}: {why}")
        done += file.size
        progress(done, total)
    if not found:
        note = note.model_copy(update={"files": files})
        _write(folder, note)
    return note, tuple(found)


def _originals(source: Path) -> Mapping[str, Original]:
    """Return every file of a folder by its place, through links: a hub's cache is made of them."""
    found = {}
    for path in sorted(source.rglob("*")):
        place = path.relative_to(source)
        if path.is_file() and not LEFT_OUT.intersection(place.parts) and path.name != NOTE:
            told = path.stat()
            found[str(place)] = Original(path, told.st_size, told.st_mtime_ns)
    if not found:
        raise StagingError(f"there are no files in {source}")
    return found


def _there_already(source: Path, into: Path, originals: Mapping[str, Original]) -> StagedWeights:
    """Return the note of a folder that holds these files. Raises StagingError."""
    if (note := noted(into)) is None:
        raise StagingError(f"{into} is there and was not staged: move it away, or stage elsewhere")
    if changed := unlike(into, note):
        raise StagingError(f"{into} was changed since ({changed[0]}): move it away, stage anew")
    files = {name: (file.size, file.source_mtime_ns) for name, file in note.files.items()}
    if files != {name: (each.size, each.mtime_ns) for name, each in originals.items()}:
        raise StagingError(
            f"{into} holds other files than {source} has now: stage them under another name, so "
            "that what was measured with the old ones can still be told"
        )
    return note


def _is_copy(path: Path, file: StagedFile | None, original: Original) -> bool:
    """Return whether a file was copied from an original that has not changed since."""
    if file is None or (file.size, file.source_mtime_ns) != (original.size, original.mtime_ns):
        return False
    return not _changed(path, file)


def _changed(path: Path, file: StagedFile) -> str:
    try:
        told = path.stat()
    except OSError as error:
        return error.strerror or "it cannot be seen"
    if told.st_size != file.size:
        return f"{told.st_size} bytes, and {file.size} were staged"
    if (told.st_mtime_ns, told.st_ino) != (file.mtime_ns, file.inode):
        return "written to or replaced since"
    return ""


def _copied(
    original: Original, target: Path, progress: Callable[[int], None]
) -> tuple[StagedFile, int]:
    """Copy a file and return it, and how many bytes were copied; what is there already is kept.

    Raises StagingError where the original changed meanwhile.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # Named after the original as it is now: half of another version is never gone on with.
    half = target.with_name(f".{target.name}.{original.size}-{original.mtime_ns}.part")
    digest = sha256()
    with original.path.open("rb") as here, half.open("a+b") as there:
        there.seek(0)
        kept = _each_piece(there, digest.update)
        here.seek(kept)

        def take(piece: bytes) -> None:
            digest.update(piece)
            there.write(piece)
            there.flush()
            progress(there.tell())

        fresh = _each_piece(here, take)
        os.fsync(there.fileno())
    told = original.path.stat()
    if (told.st_size, told.st_mtime_ns) != (original.size, original.mtime_ns) or (
        kept + fresh != original.size
    ):
        half.unlink()
        raise StagingError(f"{original.path} was changed while it was copied: stage it again")
    half.rename(target)
    return _file(target, digest.hexdigest(), original.mtime_ns), fresh


def _each_piece(stream: IO[bytes], take: Callable[[bytes], Any]) -> int:
    size = 0
    while piece := stream.read(PIECE_BYTES):
        take(piece)
        size += len(piece)
    return size


def _file(path: Path, digest: str, source_mtime_ns: int) -> StagedFile:
    told = path.stat()
    return StagedFile(
        size=told.st_size,
        sha256=digest,
        mtime_ns=told.st_mtime_ns,
        inode=told.st_ino,
        source_mtime_ns=source_mtime_ns,
    )


def _write(folder: Path, note: StagedWeights) -> None:
    half = folder / f"{NOTE}.part"
    half.write_text(note.model_dump_json(indent=1), encoding="utf-8")
    half.rename(folder / NOTE)


def _drop_others(work: Path, originals: Mapping[str, Original]) -> None:
    """Remove what an earlier try left of files that the source no longer has like this."""
    for path in [path for path in work.rglob("*") if path.is_file()]:
        if str(path.relative_to(work)) not in originals and path.name != NOTE:
            path.unlink()


def _require_space(work: Path, originals: Mapping[str, Original]) -> None:
    there = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    needed = sum(each.size for each in originals.values()) - there + MARGIN_BYTES
    free = shutil.disk_usage(work).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"{needed / 1e9:.1f} GB are needed at {work.parent}, and {free / 1e9:.1f} are free",
        )


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Hold a folder while the block runs; the lock dies with this process. Raises StagingError."""
    held = os.open(work, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise StagingError(f"another process stages into {work}: wait for its end") from error
    finally:
        os.close(held)
