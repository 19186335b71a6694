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


class CardsTakenError(RuntimeError):
    """Other runners hold the cards that this one wants."""

    def __init__(self, *, wanted: int, free: int, folder: Path) -> None:
        super().__init__(
            f"{wanted} cards are wanted and {free} are free: another runner of this host holds "
            f"the locks in {folder}"
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
    folder.mkdir(parents=True, exist_ok=True)
    _open_to_all(folder, 0o1777)
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


def _held(locks: ExitStack, path: Path) -> bool:
    """Return whether the lock of a card is ours now; it is kept until the stack ends."""
    stream: IO[bytes] = path.open("ab")
    try:
        _open_to_all(path, 0o666)
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return False
    locks.enter_context(stream)
    return True


def _open_to_all(path: Path, mode: int) -> None:
    """Let runners of other users take part; only who made a file may say so, and does."""
    if path.stat().st_uid == os.getuid():
        path.chmod(mode)
