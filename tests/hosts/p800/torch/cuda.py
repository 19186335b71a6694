"""Emulated torch.cuda: events that read 0, as on some of these stacks (grade C), and graphs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from emulated_host import FAULTS, visible

MIB = 2**20
_recording: list["CUDAGraph"] = []


def set_device(_name: str) -> None:
    pass


def synchronize() -> None:
    pass


def empty_cache() -> None:
    pass


def mem_get_info() -> tuple[int, int]:
    return 98272 * MIB, 98304 * MIB


def device_count() -> int:
    return len(visible())


def get_device_properties(name: str | int) -> SimpleNamespace:
    """Return the card's UUID without 'GPU-' (grade C)."""
    place = name if isinstance(name, int) else int(name.partition(":")[2])
    card = visible()[place] + (100 if "other-host" in FAULTS else 0)
    return SimpleNamespace(uuid=f"00000000-0000-4000-8000-{card:012d}")


class Stream:
    def synchronize(self) -> None:
        pass


class Event:
    def __init__(self, enable_timing: bool = False) -> None:
        pass

    def record(self, _stream: Any) -> None:
        pass

    def elapsed_time(self, _end: "Event") -> float:
        return 0.0


class CUDAGraph:
    def __init__(self) -> None:
        self.steps: list[Callable[[], None]] = []

    def replay(self) -> None:
        for step in self.steps:
            step()


def recorded(step: Callable[[], None]) -> None:
    """Keep what is done while a graph is captured."""
    for graph_now in _recording:
        graph_now.steps.append(step)


@contextmanager
def stream(_stream: Stream) -> Iterator[None]:
    yield


@contextmanager
def graph(captured: CUDAGraph) -> Iterator[None]:
    _recording.append(captured)
    try:
        yield
    finally:
        _recording.remove(captured)
