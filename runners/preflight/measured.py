"""Checks that run inside the measured Python: a small script each, by path."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.devices.device import Probe
from runners.preflight.layers import Breaks, Found, Skipped, Works
from service.formats.known_failures import remedy_of

INSIDE = Path(__file__).with_name("inside")
# Revisions of the platform interface of ours that this runner knows how to check.
INTERFACES = frozenset({1})
ERROR_CHARACTERS = 1500
WRONG = (
    "no run on these cards can be trusted: check that kernel packages, torch and collectives are "
    "of one drop, then the links between the cards"
)
SLOW = (
    "look at the links between the cards (xpu-smi topo -m, xpulink) before any setting: a link "
    "that is down falls back to PCIe, or to the host's memory"
)


@dataclass(frozen=True, slots=True)
class MeasuredPython:
    """A measured environment's interpreter, and all the variables its scripts see."""

    python: Path
    variables: Mapping[str, str]

    def collectives(
        self,
        ranks: int,
        limit_s: float,
        *,
        probe: Probe,
        between: str = "",
        least_bytes_s: float = 0,
        heard: Callable[[Mapping[int, float]], None] = lambda _: None,
    ) -> Found:
        """Check all-reduce and all-gather over as many ranks as cards are asked for.

        between: how these cards are connected; it is said first of all, for a fault of a link is
        to be thought of before one of a setting. least_bytes_s: a slower one is broken.
        heard: told the seconds of an all-reduce by its size in bytes, where they work.
        """
        if ranks < 2:  # noqa: PLR2004 — one rank has nobody to speak with
            return Skipped("one card speaks with no other")
        words = (probe.torch_device, probe.collectives, str(ranks), str(limit_s * 0.8))
        said = dict(self._said("collectives.py", words, limit_s))
        said["seen"] = "\n".join(filter(None, (between, str(said.get("seen", "")))))
        found = _found(said, _remedy(str(said["seen"]), probe))
        best = max(said.get("bytes_per_s", {}).values(), default=None)
        if isinstance(found, Works) and best is not None and best < least_bytes_s:
            slow = f"{best / 1e9:.2f} GB/s at best, {least_bytes_s / 1e9:.1f} are the least"
            return Breaks(f"{found.finding}\n{slow}", SLOW)
        if isinstance(found, Works):
            heard({int(size): float(each) for size, each in said.get("seconds", {}).items()})
        return found

    def links(self, ranks: int, limit_s: float, *, probe: Probe) -> Mapping[tuple[int, int], float]:
        """Return bytes per second of each two ranks by themselves; nothing where that fails."""
        words = (probe.torch_device, probe.collectives, str(ranks), str(limit_s * 0.8), "pairs")
        said = self._said("collectives.py", words, limit_s).get("links", {})
        return {_pair(name): float(speed) for name, speed in said.items()}

    def uuids(self, limit_s: float) -> Mapping[int, str]:
        """Return the UUIDs of the cards that torch counts, by its number; none if it is silent."""
        told = self._said("card_numbers.py", (), limit_s).get("uuids", {})
        return {int(number): str(uuid) for number, uuid in told.items()}

    def plugin(self, distribution: str | None, limit_s: float) -> Found:
        """Check that SGLang will find the platform that the stack brings, and no other."""
        if distribution is None:
            return Skipped("the stack brings no platform plugin")
        said = self._said("platform_plugin.py", (distribution,), limit_s)
        remedy = "install the plugin that the stack pins, and no other; or set SGLANG_PLATFORM"
        found = _found(said, remedy)
        if isinstance(found, Works) and said.get("interface") not in {None, *INTERFACES}:
            speaks = f"the plugin speaks interface {said['interface']}"
            return Breaks(f"{speaks}; this runner knows {sorted(INTERFACES)}", remedy)
        return found

    def _said(self, script: str, words: Sequence[str], limit_s: float) -> Mapping[str, Any]:
        """Return what a script printed; what went wrong instead, in the same shape."""
        command = [str(self.python), "-I", str(INSIDE / script), *words]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(self.variables),
            start_new_session=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                return {"works": False, "seen": f"{script} was not done after {limit_s:.0f} s"}
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        try:
            return dict(json.loads(output.splitlines()[-1]))
        except (ValueError, IndexError, TypeError):
            end = errors.strip()[-ERROR_CHARACTERS:]
            return {"works": False, "seen": f"{script} ended with {process.returncode}: {end}"}


def _pair(name: str) -> tuple[int, int]:
    one, _, other = name.partition("-")
    return int(one), int(other)


def _remedy(seen: str, probe: Probe) -> str:
    if "a wrong" in seen:
        return WRONG
    if probe.torch_device == "cpu":
        return "processes on this host cannot reach each other: check the loopback and firewall"
    return remedy_of(seen, "look at the links between the cards first, then at the log above")


def _found(said: Mapping[str, Any], remedy: str) -> Found:
    seen = str(said.get("seen", ""))
    return Works(seen) if said.get("works") else Breaks(seen, remedy)
