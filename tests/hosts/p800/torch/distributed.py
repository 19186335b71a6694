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


class Group:
    """Some of the ranks, which meet by themselves."""

    def __init__(self, ranks: list[int]) -> None:
        self.ranks, self.round = ranks, 0
        self.name = "_".join(map(str, ranks))


def new_group(ranks: list[int]) -> Group:
    return Group(ranks)


def _met(said: Any, group: Any = None) -> list[Any]:
    """Return what every rank, or every one of a group, says in this round."""
    if group is None:
        _world["round"] += 1
        number, ranks = _world["round"], range(_world["size"])
    else:
        group.round += 1
        number, ranks = f"{group.name}.{group.round}", group.ranks
    folder = _world["folder"]
    mine = folder / f"{number}-{_world['rank']}"
    half = folder / f"{mine.name}.half"
    half.write_text(json.dumps(said), encoding="utf-8")
    half.rename(mine)
    every = [folder / f"{number}-{rank}" for rank in ranks]
    while not all(path.exists() for path in every):
        if time.monotonic() > _world["until"]:
            raise TimeoutError("emulated ranks did not meet")
        time.sleep(0.001)
    return [json.loads(path.read_text(encoding="utf-8")) for path in every]


def all_reduce(tensor: Any, group: Any = None) -> None:
    said = _met([tensor.scale, tensor.offset], group)
    tensor.scale, tensor.offset = (sum(each) for each in zip(*said, strict=True))
    if "wrong-sum" in FAULTS:
        tensor.offset += 1
    if "slow-link" in FAULTS:
        time.sleep(tensor.length * BYTES / 0.4e9)
    if group is not None:
        # Slow enough for the turns of a busy test machine not to count among the links.
        slow = f"slow-pair:{group.name}" in FAULTS
        time.sleep(tensor.length * BYTES / (0.4e9 if slow else 5e9))


def all_gather(gathered: list[Any], tensor: Any) -> None:
    for place, (scale, offset) in enumerate(_met([tensor.scale, tensor.offset])):
        gathered[place].scale, gathered[place].offset = scale, offset


def destroy_process_group() -> None:
    pass
