"""How a server died: its last Python frame, and the kernel's line on a card."""

from pathlib import Path

import pytest

from runners.stacks.death import KMSG, death, kernel_line, last_frame
from runners.stacks.server import ServerError
from service.domain.layer import Layer

TRACEBACK = """\
[2026-08-03 10:00:01 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/srt/managers/scheduler.py", line 100, in run
    self.step()
  File "/srt/layers/attention.py", line 7, in forward
    out = torch.ops.xspeedgate_ops.attention(q)
RuntimeError: speculative_attention failed
"""
FATAL = """\
Fatal Python error: Aborted

Current thread 0x00007f (most recent call first):
  File "/srt/layers/moe.py", line 9 in kernel
  File "/srt/managers/scheduler.py", line 100 in run
"""
XID = "KLRM: Xid (PCI:0000:16:00): 0, pid=4711, name=python, KL_XID_KERNEL_EXCEPTION, ch=0"


@pytest.mark.parametrize(
    ("log", "frame"),
    [
        pytest.param(TRACEBACK, "/srt/layers/attention.py:7 in forward", id="a traceback's last"),
        pytest.param(TRACEBACK + FATAL, "/srt/layers/moe.py:9 in kernel", id="a fatal one's first"),
        pytest.param(FATAL + TRACEBACK, "/srt/layers/attention.py:7 in forward", id="the later"),
        pytest.param("Killed\n", None, id="neither"),
    ],
)
def test_the_frame_that_ran_last_is_told(log: str, frame: str | None) -> None:
    assert last_frame(log) == frame


def test_the_kernels_last_line_on_a_card_is_told(tmp_path: Path) -> None:
    kmsg = tmp_path / "kmsg"
    kmsg.write_text(f"6,1,2,-;eth0: link up\n4,2,3,-;{XID}\n6,3,4,-;usb 1-1: new\n", "utf-8")

    assert kernel_line(kmsg) == XID
    assert death(TRACEBACK, kmsg=kmsg).endswith(f"kernel log: {XID}")


def test_a_kernel_log_without_a_card_in_it_says_nothing_of_one(tmp_path: Path) -> None:
    kmsg = tmp_path / "kmsg"
    kmsg.write_text("6,1,2,-;eth0: link up\n", "utf-8")

    assert kernel_line(kmsg) is None


def test_a_kernel_log_that_cannot_be_read_is_unknown_and_never_a_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise PermissionError

    assert kernel_line(tmp_path / "none") == "unknown"
    monkeypatch.setattr("runners.stacks.death.os.open", refused)
    assert kernel_line(KMSG) == "unknown(permission)"


def test_a_death_in_an_operator_names_its_layer_its_frame_and_what_to_do(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(TRACEBACK, encoding="utf-8")

    error = ServerError("the server ended with 134", log=log)

    assert error.layer is Layer.OPERATOR
    assert "last Python frame: /srt/layers/attention.py:7 in forward" in str(error)
    assert "kernel log: " in str(error)
    assert "Lower max-running-requests" in error.remedy
