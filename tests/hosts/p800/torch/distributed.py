"""Emulated torch.distributed: ranks meet in a folder; what they say is the key of a ramp."""

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from emulated_host import FAULTS

_world: dict[str, Any] = {}
BYTES = 4


def init_process_group(
    backend: str, *, init_method: str, rank: int, world_size: int, timeout: timedelta
) -> None:
    folder = Path(init_method.removeprefix("file://") + ".ranks")
    folder.mkdir(exist_ok=True)
    _world.update(folder=folder, rank=rank, size=world_size, round=0)
    _world["until"] = time.monotonic() + timeout.total_seconds()
    _met(None)
    if "addr-window" in FAULTS:
        raise ValueError("addr_window not properly set; [INVALID PARAMETER]: error code=1")


def _met(said: Any) -> list[Any]:
    """Return what every rank says in this round."""
    _world["round"] += 1
    folder, number = _world["folder"], _world["round"]
    mine = folder / f"{number}-{_world['rank']}"
    half = mine.with_suffix(".half")
    half.write_text(json.dumps(said), encoding="utf-8")
    half.rename(mine)
    every = [folder / f"{number}-{rank}" for rank in range(_world["size"])]
    while not all(path.exists() for path in every):
        if time.monotonic() > _world["until"]:
            raise TimeoutError("emulated ranks did not meet")
        time.sleep(0.0005)
    return [json.loads(path.read_text(encoding="utf-8")) for path in every]


def all_reduce(tensor: Any) -> None:
    said = _met([tensor.scale, tensor.offset])
    tensor.scale, tensor.offset = (sum(each) for each in zip(*said, strict=True))
    if "wrong-sum" in FAULTS:
        tensor.offset += 1
    if "slow-link" in FAULTS:
        time.sleep(tensor.length * BYTES / 0.4e9)


def all_gather(gathered: list[Any], tensor: Any) -> None:
    for place, (scale, offset) in enumerate(_met([tensor.scale, tensor.offset])):
        gathered[place].scale, gathered[place].offset = scale, offset


def destroy_process_group() -> None:
    pass
