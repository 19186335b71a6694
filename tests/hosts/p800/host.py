"""An emulated P800 host in a folder: device files, `xpu-smi`, and a Python with a Kunlun stack.

No figure of it is a card's. What it answers is graded in each part: published samples (B), the
plugin's and SGLang's own source (A), field reports (C, D), and inference (I).
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DRIVER = "5.0.21.47"
# The versions of a combo that was seen together (facts K4 and K1), grade C and A.
DISTRIBUTIONS = {
    "torch": "2.9.0+cu129",
    "kunlun_ops": "0.1.205+223cef9e",
    "sglang": "0.5.17",
    "sglang_kunlun": "0.1.0+emulated",
}
SGLANG = "class GroupCoordinator:\n    def all_reduce(self, values):\n        return values\n"
HOOKS = """\
from sglang.srt.plugins.hook_registry import plugin_hook


@plugin_hook("sglang.srt.distributed.{target}")
def all_reduce(original, self, values):
    return original(self, values)
"""


@dataclass(frozen=True, slots=True)
class EmulatedHost:
    """Where it lies, and what a process must have in its environment to be on it."""

    folder: Path

    @property
    def python(self) -> Path:
        """The emulated Python."""
        return self.folder / "bin" / "python"

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment of a runner on this host."""
        return {
            "KUNLINE_HOST_ROOT": str(self.folder / "root"),
            "KUNLINE_XPU_SMI": str(self.folder / "bin" / "xpu-smi"),
            "KUNLINE_LOCK_DIR": str(self.folder / "locks"),
            "KUNLINE_CACHE_DIR": str(self.folder / "cache"),
            "KUNLINE_SPOOL_DIR": str(self.folder / "spool"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }


def emulated_host(
    folder: Path,
    *,
    cards: int = 2,
    faults: Iterable[str] = (),
    real_python: Path | None = None,
    beside: Path | None = None,
) -> EmulatedHost:
    """Make a host with so many cards. faults: see FAULTS in the tests; 'hot:1' is card 1.

    real_python: a Python with SGLang for this machine's CPU, which serves; without it nothing does.
    beside: a folder of packages that it finds beside its own.
    """
    wrong = tuple(faults)
    host = {"cards": cards, "faults": list(wrong), "real_python": str(real_python)}
    if beside is not None:
        host["beside"] = str(beside)
    _write(folder / "host.json", json.dumps(host))
    (folder / "processes").mkdir(parents=True, exist_ok=True)
    _device_files(folder / "root", cards, wrong)
    _distributions(folder / "site", wrong)
    _program(folder, "xpu-smi", "xpu_smi.py")
    _program(folder, "python", "python.py")
    _program(folder, "sglang-kunlun-launch", "launch.py")
    return EmulatedHost(folder)


def _device_files(root: Path, cards: int, wrong: tuple[str, ...]) -> None:
    for card in range(cards):
        if not {f"missing:{card}", f"node-gone:{card}"} & set(wrong):
            _write(root / f"dev/xpu{card}", "")
    _write(root / "dev/xpuctrl", "")
    driver = "5.0.21.8" if "wrong-driver" in wrong else DRIVER
    text = f"KUNLUN UNIX x86_64 Kernel Module for emulated hosts version {driver} of nobody\n"
    _write(root / "proc/kunlun/version", text)
    _write(root / "proc/cpuinfo", "model name : emulated\n")
    _write(root / "versions", "XRE_addr=emulated/xre/5.13.0.0\n")


def _distributions(site: Path, wrong: tuple[str, ...]) -> None:
    for name, version in DISTRIBUTIONS.items():
        drifted = name == "kunlun_ops" and "drifted-kernel" in wrong
        there = "0.0.1" if drifted else version
        info = site / f"{name}-{there}.dist-info"
        _write(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {there}\n")
        _write(info / "top_level.txt", f"{name}\n")
    for package in ("sglang", "sglang/srt", "sglang/srt/plugins", "sglang_kunlun", "kunlun_ops"):
        _write(site / package / "__init__.py", "")
    _write(site / "sglang/srt/distributed.py", SGLANG)
    _write(site / "sglang/srt/plugins/hook_registry.py", "def plugin_hook(target):\n    pass\n")
    gone = "hook-gone" in wrong
    target = "Gone.all_reduce" if gone else "GroupCoordinator.all_reduce"
    _write(site / "sglang_kunlun/hooks.py", HOOKS.format(target=target))
    points = "[sglang.srt.plugins]\nkunlun_hooks = sglang_kunlun.hooks:all_reduce\n"
    _write(site / "sglang_kunlun-0.1.0+emulated.dist-info/entry_points.txt", points)


def _program(folder: Path, name: str, script: str) -> None:
    words = [sys.executable, "-I", str(HERE / script), str(folder)]
    path = folder / "bin" / name
    _write(path, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
