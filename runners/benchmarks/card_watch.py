"""The sampler of the cards beside a load: once a second, in a thread of its own."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from subprocess import SubprocessError
from threading import Event, Thread

from runners.benchmarks.card_facts import (
    NO_CARDS,
    NOTHING_SEEN,
    CardsSeen,
    Moment,
    Samples,
    cards_seen,
)
from runners.devices.host import DeviceError

SAMPLE_S = 1.0
# Eight hours of eight cards are below what one artefact may hold; beyond, every second one counts.
MOMENTS_MAX = 28_800


class CardWatch:
    """A sampler of all cards beside a load. before: the cards as they were before the launch."""

    def __init__(
        self,
        samples: Callable[[], Samples],
        *,
        leased: Sequence[int],
        before: Samples | None,
        server_pids: Callable[[], Collection[int]],
        every_s: float = SAMPLE_S,
    ) -> None:
        self._samples = samples
        self._leased = tuple(leased)
        self._before = before
        self._server_pids = server_pids
        self._every_s = every_s
        self._moments: list[Moment] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sample once a second until the block is over; not at all where there are no cards."""
        self._moments = []
        if not self._before:
            yield
            return
        over = Event()
        sampler = Thread(target=self._sample_until, args=(over,), name="cards", daemon=True)
        sampler.start()
        try:
            yield
        finally:
            over.set()
            sampler.join(SAMPLE_S)

    def seen(self) -> CardsSeen:
        """Return what was seen in the last block."""
        if self._before is None:
            return NOTHING_SEEN
        if not self._before:
            return CardsSeen(NO_CARDS)
        return cards_seen(self._leased, self._before, tuple(self._moments))

    def _sample_until(self, over: Event) -> None:
        began, every_s = time.monotonic(), self._every_s
        while not over.is_set():
            at_s = time.monotonic() - began
            cards = sampled(self._samples)
            if cards:
                self._moments.append(Moment(at_s, cards, frozenset(self._server_pids())))
            if len(self._moments) >= MOMENTS_MAX:
                self._moments, every_s = self._moments[::2], 2 * every_s
            # In step with the clock: what a sample takes is not added to the time between two.
            over.wait(max(every_s - (time.monotonic() - began - at_s), 0.0))


def sampled(samples: Callable[[], Samples]) -> Samples | None:
    """Return the cards as they are now; None where the device fails to tell."""
    try:
        return samples()
    except (OSError, ValueError, SubprocessError, DeviceError):
        return None
