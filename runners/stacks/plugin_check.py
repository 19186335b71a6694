"""What an installed plugin asks of the installed SGLang and does not find, told without a card."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.stacks.measured import ProbeError

TARGETS = Path(__file__).parent / "inside" / "plugin_targets.py"
SYMBOLS = Path(__file__).parent / "inside" / "kernel_symbols.py"
ERROR_CHARACTERS = 1500
SHOWN_MAX = 20


@dataclass(frozen=True, slots=True)
class PluginSeen:
    """What reading a plugin, and the kernel libraries beside it, has shown.

    resolved: how many names were found. unresolved: those that were not, each with its file and
    line. unreadable: those that only running would show, the same.
    """

    resolved: int
    unresolved: tuple[str, ...]
    unreadable: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What was seen, in words for a person."""
        told = [f"{self.resolved} names resolved"]
        for lines, what in (
            (self.unresolved, "not found"),
            (self.unreadable, "cannot be read without running the plugin"),
        ):
            if lines:
                more = len(lines) - SHOWN_MAX
                shown = [*lines[:SHOWN_MAX], *([f"and {more} more"] if more > 0 else [])]
                told.append(f"{len(lines)} {what}:\n  " + "\n  ".join(shown))
        return "; ".join(told)


def plugin_check(
    python: Path, plugins: Sequence[str], *, variables: Mapping[str, str], limit_s: float
) -> PluginSeen:
    """Return what distributions hook, replace and import of SGLang, looked up where it lies.

    python: the measured one. variables: those of the launch, of which PYTHONPATH counts.
    SGLang itself only logs a hook that does not apply, and serves on. Raises ProbeError.
    """
    words = (variables.get("PYTHONPATH", ""), *plugins)
    return _seen(_said(python, TARGETS, words, variables=variables, limit_s=limit_s))


def kernel_check(
    python: Path, packages: Sequence[str], *, variables: Mapping[str, str], limit_s: float
) -> PluginSeen:
    """Return the symbols that kernel packages' libraries want and no library beside them has.

    variables: those of the launch, of which PYTHONPATH and LD_LIBRARY_PATH count. A package that
    is not installed has no libraries. Raises ProbeError.
    """
    words = (
        variables.get("PYTHONPATH", ""),
        variables.get("LD_LIBRARY_PATH", ""),
        *packages,
    )
    return _seen(_said(python, SYMBOLS, words, variables=variables, limit_s=limit_s))


def _seen(told: Mapping[str, Any]) -> PluginSeen:
    return PluginSeen(
        int(told["resolved"]),
        tuple(_line(each) for each in told["unresolved"]),
        tuple(_line(each) for each in told["unreadable"]),
    )


def _line(told: Mapping[str, Any]) -> str:
    where = f"{told['file']}:{told['line']}" if told["line"] else told["file"]
    return f"{where}: {told['target']} ({told['why']})"


def _said(
    python: Path,
    script: Path,
    words: Sequence[str],
    *,
    variables: Mapping[str, str],
    limit_s: float,
) -> Mapping[str, Any]:
    passed_on = {name: variables[name] for name in ("PATH", "HOME", "TMPDIR") if name in variables}
    try:
        answer = subprocess.run(
            [python, "-I", script, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=limit_s,
            env=passed_on,
        )
        return dict(json.loads(answer.stdout.splitlines()[-1]))
    except subprocess.CalledProcessError as error:
        end = error.stderr.decode(errors="replace").strip()[-ERROR_CHARACTERS:]
        raise ProbeError(f"{script.name} ended with {error.returncode}: {end}") from error
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise ProbeError(f"{script.name} tells nothing: {error}") from error
