"""Checks that run inside the measured Python: a small script each, by path."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.preflight.layers import Breaks, Found, Skipped, Works

INSIDE = Path(__file__).with_name("inside")
# Revisions of the platform interface of ours that this runner knows how to check.
INTERFACES = frozenset({1})
ERROR_CHARACTERS = 1500


@dataclass(frozen=True, slots=True)
class MeasuredPython:
    """A measured environment's interpreter, and all the variables its scripts see."""

    python: Path
    variables: Mapping[str, str]

    def operator(self, limit_s: float) -> Found:
        """Check a small bfloat16 product, value by value."""
        remedy = "the stack's torch does not compute on this chip: check its build and the driver"
        return _found(self._said("bf16_product.py", (), limit_s), remedy)

    def collectives(self, ranks: int, limit_s: float) -> Found:
        """Check an all-reduce over as many ranks as cards are asked for."""
        if ranks < 2:  # noqa: PLR2004 — one rank has nobody to speak with
            return Skipped("one card speaks with no other")
        words = (str(ranks), str(limit_s * 0.8))
        remedy = "processes on this host cannot reach each other: check the loopback and firewall"
        return _found(self._said("all_reduce.py", words, limit_s), remedy)

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


def _found(said: Mapping[str, Any], remedy: str) -> Found:
    seen = str(said.get("seen", ""))
    return Works(seen) if said.get("works") else Breaks(seen, remedy)
