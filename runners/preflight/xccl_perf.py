"""`xccl_perf`, the vendor's own measure of collectives: its table, where the tool is on the host.

Its layout is that of nccl-tests, in two variants (samples of other people's parsers, grade B).
Times are in microseconds and bandwidths in GB/s there, and seconds and bytes here.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

NAME = "xccl_perf"
LAUNCHER = "mpirun"
WORDS = ("-O", "allReduce", "-x", "1", "-b", "1024", "-e", "256m", "-f", "4", "-w", "2", "-n", "5")
# -c 1 checks values; without it the column #wrong says N/A, which proves nothing.
CHECKED = ("-c", "1", "-d", "float")
ERROR_CHARACTERS = 600

_ROW = re.compile(
    r"\s*(?P<size>\d+)\s+\d+\s+\w+\s+(?:\w+\s+(?:-?\d+\s+)?)?"
    r"(?P<time>[\d.]+)\s+(?P<algbw>[\d.]+)\s+(?P<busbw>[\d.]+)(?:\s+(?P<wrong>\d+|N/A))?(?:\s.*)?"
)


class XcclPerfError(ValueError):
    """The tool failed, or printed no table that is known."""


@dataclass(frozen=True, slots=True)
class PerfRow:
    """One size, out of place. wrong: values that were not right; None where none was looked at."""

    size_bytes: int
    seconds: float
    bus_bytes_s: float
    wrong: int | None


def rows_of(text: str) -> tuple[PerfRow, ...]:
    """Return the rows of a table, by size. Raises XcclPerfError for a text without any."""
    found = [
        PerfRow(
            int(match["size"]),
            float(match["time"]) / 1e6,
            float(match["busbw"]) * 1e9,
            None if match["wrong"] in {None, "N/A"} else int(match["wrong"]),
        )
        for line in text.splitlines()
        if not line.lstrip().startswith("#") and (match := _ROW.fullmatch(line))
    ]
    if not found:
        raise XcclPerfError(f"no row of a table: {text.strip()[:ERROR_CHARACTERS]!r}")
    return tuple(sorted(found, key=lambda row: row.size_bytes))


def program(variables: Mapping[str, str]) -> Sequence[str]:
    """Return the words that start the tool, empty where it or its launcher is not on this host."""
    path = variables.get("PATH", os.defpath)
    tool, launcher = (shutil.which(name, path=path) for name in (NAME, LAUNCHER))
    return (launcher, tool) if tool and launcher else ()


def measured(ranks: int, variables: Mapping[str, str], *, limit_s: float) -> tuple[PerfRow, ...]:
    """Return an all-reduce over the visible cards by size; nothing where the tool is not here.

    Raises XcclPerfError.
    """
    words = program(variables)
    if not words:
        return ()
    launcher, tool = words
    with subprocess.Popen(
        [launcher, "-np", str(ranks), tool, *WORDS, *CHECKED],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(variables),
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise XcclPerfError(f"{tool} was not done after {limit_s:.0f} s") from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        raise XcclPerfError(
            f"{tool} ended with {process.returncode}: {output.strip()[-ERROR_CHARACTERS:]}"
        )
    return rows_of(output)


def sentence(rows: Sequence[PerfRow]) -> str:
    """Return the table in one line, and whether its values were looked at."""
    if not rows:
        return ""
    shown = ", ".join(f"{row.bus_bytes_s / 1e9:.2f} GB/s at {row.size_bytes} B" for row in rows)
    unchecked = any(row.wrong is None for row in rows)
    return f"xccl_perf: {shown}" + ("; it checked no values" if unchecked else "")
