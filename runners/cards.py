"""The cards of this host that are ours: one lock a card, held as long as the runner lives."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from runners.devices.device import Card

LOOK_S = 1.0
HOST_LOCK = "host.lock"


class HostTakenError(RuntimeError):
    """Another job of this host has all of its cards alone, or this one wants them so."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "another runner of this host measures, and one of the two is to have the host's cards "
            f"alone ({folder / HOST_LOCK}): wait for its end"
        )


class CardsTakenError(RuntimeError):
    """Other runners hold the cards that this one wants."""

    def __init__(self, *, wanted: int, free: int, folder: Path) -> None:
        super().__init__(
            f"{wanted} cards are wanted and {free} are free: another runner of this host holds "
            f"the locks in {folder}: end it, or wait longer for it with KUNLINE_CARDS_WAIT_S"
        )


@contextmanager
def held_cards(
    cards: Sequence[Card],
    *,
    chip: str,
    count: int,
    folder: Path,
    wait_s: float,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[Card, ...]]:
    """Hold that many of the cards while the block runs; two runners never share one.

    The locks die with this process, however it ends, and are not passed on to its children.
    wait_s: how long others are waited for. Raises CardsTakenError.
    """
    _shared_folder(folder)
    waited_s = 0.0
    while True:
        with ExitStack() as locks:
            mine: list[Card] = []
            for card in cards:
                if len(mine) < count and _held(locks, folder / f"{chip}-{card.number}.lock"):
                    mine.append(card)
            if len(mine) == count:
                yield tuple(mine)
                return
        if waited_s >= wait_s:
            raise CardsTakenError(wanted=count, free=len(mine), folder=folder)
        sleep(LOOK_S)
        waited_s += LOOK_S


@contextmanager
def held_host(
    folder: Path, *, alone: bool, wait: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the host's cards as a whole while the block runs: alone, or with others that share them.

    What the service hands out keeps jobs apart already; this does where it was wrong, because a
    job that it took for lost runs on. The lock dies with this process.
    wait: called again and again while it is not to be had; without it HostTakenError is raised.
    """
    _shared_folder(folder)
    with ExitStack() as locks:
        while not _held(locks, folder / HOST_LOCK, shared=not alone):
            if wait is None:
                raise HostTakenError(folder)
            wait()
        yield


def _held(locks: ExitStack, path: Path, *, shared: bool = False) -> bool:
    """Return whether a lock is ours now; it is kept until the stack ends."""
    stream = _lock_file(path)
    try:
        fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return False
    locks.enter_context(stream)
    return True


def _shared_folder(folder: Path) -> None:
    """Make the folder of all runners of a host; one that is there already is left as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    folder.chmod(0o1777)


def _lock_file(path: Path) -> IO[bytes]:
    """Open a card's lock, whichever user's runner made it, and never through a link.

    One that is there is opened without O_CREAT: in a folder of all, the kernel keeps everybody,
    root included, from creating a file that is another user's.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(path, flags), "r+b")
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT, 0o666)
    if os.fstat(descriptor).st_uid == os.getuid():
        os.fchmod(descriptor, 0o666)
    return os.fdopen(descriptor, "r+b")
