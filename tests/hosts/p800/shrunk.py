"""The matrix of a P800 host with lengths that a CPU can do: the same plans, cells and reasons.

Only lengths, prompts, repeats and launches are smaller, and the model is the made-up one.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.hosts.p800.host import HERE

MATRIX = Path(__file__).parents[3] / "matrix"
STACK = "p800-emulated"
MODELS = ("qwen3-4b-instruct-2507", "mimo-v2-flash-w8a8")
# The longest prompt of the plans has 60 Ki tokens, and the made-up model a context of 4096.
SHRUNK = 64
CHUNK = 128
FEWER = {8: 3, 16: 2, 32: 5, 40: 6, 64: 7, 128: 8}
LEAST_TOKENS = 8
# Fewer arrive in so few pieces that the gap between pieces tells nothing of the time per token.
MORE_OUTPUT_TOKENS = 24


def shrunk_matrix(folder: Path, plans: Sequence[str], *, tp: int, launches: int = 1) -> Path:
    """Write a matrix with these plans of the real one and return it. tp: the only layout kept."""
    for name in ("workloads", "models", "plans", "stacks", "clients"):
        (folder / name).mkdir(parents=True)
    shutil.copy(MATRIX / "policy.yaml", folder)
    for lock in (MATRIX / "stacks").glob("cpu-sglang-0.5.23.*"):
        shutil.copy(lock, folder / "stacks")
    shutil.copy(MATRIX / "clients" / "sglang-0.5.23.yaml", folder / "clients")
    shutil.copy(HERE / f"{STACK}.yaml", folder / "stacks")
    for path in (MATRIX / "workloads").glob("*.yaml"):
        _written(folder / "workloads" / path.name, _workload(_read(path)))
    for name in MODELS:
        model = {**_read(MATRIX / "models" / "tiny-llama.yaml"), "name": name}
        model["server"] = {"arguments": {"dtype": "float32", "max-running-requests": 16}}
        _written(folder / "models" / f"{name}.yaml", model)
    for name in plans:
        plan = _plan(_read(MATRIX / "plans" / f"{name}.yaml"), tp, launches)
        _written(folder / "plans" / f"{name}.yaml", plan)
    return folder


def _workload(workload: dict[str, Any]) -> dict[str, Any]:
    shrunk = {name: max(workload.get(name, 0) // SHRUNK, LEAST_TOKENS) for name in _LENGTHS}
    shrunk["output_tokens"] += MORE_OUTPUT_TOKENS
    # A shared prefix and the rest of the prompt are told apart.
    prefix = shrunk["input_tokens"] - LEAST_TOKENS if "shared_prefix_tokens" in workload else 0
    return {
        **workload,
        **shrunk,
        "shared_prefix_tokens": prefix,
        "prompts": 4,
        "prompts_per_concurrency": 3,
        "warmup_requests": 1,
        "repeat_s": 5,
    }


_LENGTHS = ("input_tokens", "output_tokens")


def _plan(plan: dict[str, Any], tp: int, launches: int) -> dict[str, Any]:
    kept = {name: each for name, each in plan.get("layouts", {}).items() if each.get("tp") == tp}
    cells = [_cell(cell, kept) for cell in plan["cells"]]
    arguments = {"chunked-prefill-size": CHUNK}
    return {
        **{name: plan[name] for name in ("name", "model", "client")},
        # Two plans run on one host at once here.
        "cards": {**plan["cards"], "occupancy": "packed"},
        **({"layouts": kept} if kept else {}),
        "pool": "p800",
        "stacks": [STACK],
        "launches": launches,
        "repeats": 1,
        "seeds": plan["seeds"][:1],
        "policy": {"min_repeats": 1},
        "server": {"arguments": arguments},
        "limits": {"start_s": 300, "repeat_s": 120},
        "cells": [cell for cell in cells if cell is not None],
    }


def _cell(cell: dict[str, Any], layouts: dict[str, Any]) -> dict[str, Any] | None:
    """Return a cell in the layouts that are left, or None."""
    asked = cell.get("layouts")
    left = [name for name in asked if name in layouts] if asked else None
    if left == []:
        return None
    kept = {name: value for name, value in cell.items() if name not in {"layouts", "repeat_s"}}
    if "concurrency" in kept:
        kept["concurrency"] = [FEWER.get(value, value) for value in kept["concurrency"]]
    return {**kept, **({"layouts": left} if left else {})}


def _read(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def _written(path: Path, content: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
