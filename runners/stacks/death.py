"""How a server died: the last line of Python that ran, and what the kernel wrote of a card."""

import os
import re
from pathlib import Path

KMSG = Path("/dev/kmsg")
KMSG_RECORDS_MAX = 20_000
RECORD_BYTES = 8192
NOT_ALLOWED = "unknown(permission)"
UNKNOWN = "unknown"

_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+),? in (\S+)')
_TRACEBACK = "Traceback (most recent call last)"
# faulthandler's words for a thread that a signal ended, most recent call first.
_FATAL = re.compile(r"^(Fatal Python error|Current thread 0x)")
_OF_A_CARD = re.compile(r"KLRM|KL_XID|XPUERR_|kl3_|err task, pid=")


def last_frame(log: str) -> str | None:
    """Return the Python frame that was running when a process died, from the end of its log.

    A traceback's last frame, or the first one below faulthandler's fatal error. None where the log
    has neither.
    """
    frame: str | None = None
    takes_first = False
    for line in log.splitlines():
        if _TRACEBACK in line:
            takes_first = False
        elif _FATAL.match(line.strip()):
            takes_first, frame = True, None
        elif (found := _FRAME.match(_unprefixed(line))) and not (takes_first and frame):
            frame = f"{found[1]}:{found[2]} in {found[3]}"
    return frame


def kernel_line(kmsg: Path = KMSG) -> str | None:
    """Return the kernel log's last line on a card; None for none, and 'unknown' where unreadable.

    Nothing here needs root: a kernel log that only root may read is unknown(permission).
    """
    try:
        handle = os.open(kmsg, os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:
        return NOT_ALLOWED
    except OSError:
        return UNKNOWN
    try:
        return _last_of_a_card(handle)
    except PermissionError:
        return NOT_ALLOWED
    except OSError:
        return UNKNOWN
    finally:
        os.close(handle)


def death(log: str, *, kmsg: Path = KMSG) -> str:
    """Return how a server died, in words that stand below its finding."""
    kernel = kernel_line(kmsg)
    told = [
        f"last Python frame: {last_frame(log) or 'none in its log'}",
        f"kernel log: {kernel or 'nothing of a card'}",
    ]
    return "\n".join(told)


def _last_of_a_card(handle: int) -> str | None:
    last = None
    for _ in range(KMSG_RECORDS_MAX):
        try:
            record = os.read(handle, RECORD_BYTES)
        except BlockingIOError:
            break
        except BrokenPipeError:
            continue  # records were overwritten before they were read
        if not record:
            break
        for line in record.decode(errors="replace").splitlines():
            if _OF_A_CARD.search(line):
                last = line.partition(";")[2] or line
    return last


def _unprefixed(line: str) -> str:
    """Return a line without the time that a server writes before it."""
    return re.sub(r"^\[[^\]]*\]\s?", "", line)
