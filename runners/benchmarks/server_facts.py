"""What a launch's server settled that the gates ask of every repeat in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.domain.resolution import Fact

# As many launches' capacities as are remembered.
CAPACITIES_KEPT = 500


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What holds for all repeats of a launch; None is not known.

    graphs_asked: whether decoding was to run as graphs. kv_capacity: tokens, of one data parallel
    rank. kv_capacity_before: in the session's first launch of the same stack and arguments here.
    """

    graphs_asked: bool | None = None
    kv_capacity: int | None = None
    kv_capacity_before: int | None = None


def server_facts(resolution: Mapping[str, Fact], *, before: int | None = None) -> ServerFacts:
    """Return the facts in a server's resolution."""
    room = resolution.get("max_total_num_tokens")
    return ServerFacts(
        graphs_asked=_graphs_asked(resolution),
        kv_capacity=room if isinstance(room, int) and not isinstance(room, bool) else None,
        kv_capacity_before=before,
    )


def capacity_before(folder: Path, name: str, now: int | None) -> int | None:
    """Return the capacity remembered under a name, else remember this one and return None.

    folder: of this host, where a file a name lies; the oldest are dropped.
    """
    kept = folder / name
    try:
        return int(kept.read_text(encoding="ascii"))
    except (OSError, ValueError):
        if now is None:
            return None
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / f".{name}.{os.getpid()}"
    half.write_text(str(now), encoding="ascii")
    half.rename(kept)
    every = sorted(folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in every[CAPACITIES_KEPT:]:
        old.unlink(missing_ok=True)
    return None


def _graphs_asked(resolution: Mapping[str, Fact]) -> bool | None:
    """Return whether decoding was to run as graphs: a CPU has them only as a compiled model."""
    backend, disabled = (
        resolution.get("cuda_graph_backend_decode"),
        resolution.get("disable_cuda_graph"),
    )
    if disabled is True or backend == "disabled":
        return False
    if resolution.get("device") == "cpu" and not resolution.get("enable_torch_compile"):
        return False
    return None if disabled is None and backend is None else True
