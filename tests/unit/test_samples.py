"""Every sample file there is: which tool wrote it, what it holds, and what that is worth.

The golden file was checked by hand against the samples; a change in it is a change in what people
read, and is to be read as one.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.domain.metric import METRICS
from service.domain.reading import Reading
from service.domain.validity import Severity
from service.formats.tools.registry import read_file
from tests.golden_file import assert_golden
from tests.shared_data import shared

ROOM = {"bench": "the public and the synthetic ones", "sglang-cpu": "a real server on a CPU"}
VALUES = ("output_throughput", "total_throughput", "ttft_p50", "tpot_p50", "itl_p50", "e2e_p50")


@pytest.mark.parametrize("folder", sorted(ROOM), ids=lambda folder: ROOM[folder])
def test_every_sample_gives_its_tool_its_results_and_their_worth(folder: str) -> None:
    root = shared(folder)
    files = sorted(path for path in root.rglob("*") if path.is_file())

    assert files
    assert_golden(f"read_samples_{folder}.txt", "\n".join(_lines(root, files)) + "\n")


def _lines(root: Path, files: list[Path]) -> Iterator[str]:
    for path in files:
        yield path.relative_to(root).as_posix()
        found = read_file(path)
        yield from (f"  {_told(reading)}" for reading in found.readings)
        for part in found.unreadable:
            where = "whole file" if part.line is None else f"line {part.line}"
            yield f"  unreadable {where}: {part.code}"
        if not found.readings and not found.unreadable:
            yield "  nothing"


def _told(reading: Reading) -> str:
    codes = [
        finding.code for finding in reading.findings if finding.severity is not Severity.UNKNOWN
    ]
    names = [name for name in (*VALUES, *sorted(METRICS)) if name in reading.metrics]
    values = [f"{name}={reading.metrics[name]:.6g}" for name in list(dict.fromkeys(names))[:6]]
    release = reading.tool_version or "-"
    head = f"{reading.line} {reading.tool} {release} definition {reading.definition}"
    return f"{head}: {reading.validity} {','.join(codes) or '-'}; {' '.join(values) or 'no values'}"
