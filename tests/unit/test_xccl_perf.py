"""The vendor's table of collectives: both variants, and what is no table."""

from pathlib import Path

import pytest

from runners.preflight.xccl_perf import XcclPerfError, measured, rows_of, sentence

# The layout of published samples (grade B); these figures are fixtures and nobody's measurement.
NEWER = """\
#   size      count    type  redop root           out-of-place                       in-place
#    (B)   (elements)                         time  algbw  busbw #wrong      time  algbw  busbw
134217728     33554432 float sum -1           2073  64.73 113.29 N/A        2081  64.47 112.82 N/A
1024     256 float sum -1           20.5  0.05 0.09 0        20.1  0.05 0.09 0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 41.9883
"""
OLDER = """\
size(B) count type op time(us) algbw(GB/s) busbw(GB/s)
1048576 262144 float sum 100.0 10.49 18.35
"""


def test_the_newer_table_is_read_by_size_and_says_whether_values_were_checked() -> None:
    rows = rows_of(NEWER)

    assert [(row.size_bytes, row.wrong) for row in rows] == [(1024, 0), (134217728, None)]
    assert [row.seconds for row in rows] == pytest.approx([20.5e-6, 2073e-6])
    assert [row.bus_bytes_s for row in rows] == pytest.approx([0.09e9, 113.29e9])
    assert sentence(rows).endswith("it checked no values")


def test_the_older_table_is_read() -> None:
    (row,) = rows_of(OLDER)

    assert (row.size_bytes, row.wrong) == (1048576, None)
    assert row.bus_bytes_s == pytest.approx(18.35e9)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(XcclPerfError, match="addr_window"):
        rows_of("addr_window not properly set\n")


def test_a_host_without_the_tool_has_no_rows(tmp_path: Path) -> None:
    assert measured(2, {"PATH": str(tmp_path)}, limit_s=1) == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("echo no card; exit 3", "ended with 3: no card", id="it fails"),
        pytest.param("exec /bin/sleep 60", "was not done after 1 s", id="it hangs"),
    ],
)
def test_a_tool_that_fails_is_told(tmp_path: Path, body: str, said: str) -> None:
    for name in ("mpirun", "xccl_perf"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    with pytest.raises(XcclPerfError, match=said):
        measured(2, {"PATH": str(tmp_path)}, limit_s=1)
