"""Pieces of answers that are kept, so that an answer after one more run costs what that changed."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, Protocol, TypeVar

import orjson

from service.formats.messages import Message


class Piece(Protocol):
    """What is kept."""

    @property
    def weight(self) -> int:
        """About how many bytes it takes, with its name."""


Thing = TypeVar("Thing", bound=Piece)

# As many bytes of one kind of piece as a process keeps.
KEPT_BYTES = 64 * 2**20
_NOT_KEPT = object()


@dataclass(slots=True)
class Pieces(Generic[Thing]):
    """Things that were told, each under a name that holds all it rests on.

    What rests on something else has another name, so none is ever stale; what was told longest ago
    is let go of.
    """

    bytes_max: int = KEPT_BYTES
    _kept: dict[Hashable, Thing] = field(default_factory=dict)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def told(
        self, names: Sequence[Hashable], tell: Callable[[Sequence[int]], Sequence[Thing]]
    ) -> list[Thing]:
        """Return the thing of each name, in order.

        tell: returns those that are not kept, by their places among the names; called once.
        """
        with self._lock:
            found = [self._kept.get(name, _NOT_KEPT) for name in names]
        missing = [place for place, thing in enumerate(found) if thing is _NOT_KEPT]
        if missing:
            for place, thing in zip(missing, tell(missing), strict=True):
                found[place] = thing
                self._keep(names[place], thing)
        return found  # type: ignore[return-value]  # what was not kept is told by now

    def _keep(self, name: Hashable, thing: Thing) -> None:
        with self._lock:
            if name in self._kept:
                return
            self._kept[name] = thing
            self._bytes += thing.weight
            while self._bytes > self.bytes_max:
                self._bytes -= self._kept.pop(next(iter(self._kept))).weight


def joined(message: Message, field_name: str, pieces: Sequence[bytes]) -> bytes:
    """Return a message as JSON, with some pieces of JSON as one of its lists."""
    told = message.model_dump(mode="json")
    return orjson.dumps({**told, field_name: [orjson.Fragment(piece) for piece in pieces]})
