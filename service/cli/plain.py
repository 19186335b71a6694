"""Text from elsewhere as it may be printed: what would command a terminal is shown instead."""

import re
import sys

FOUR_DIGITS_FROM = 0x100
# Control characters, line ends among them, and those that turn the direction of what follows.
_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Return one line of text in which nothing commands a terminal: an escape reads \x1b.

    Names of files, keys in them, reasons and the words of servers were written by others.
    """
    return _COMMANDS.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < FOUR_DIGITS_FROM else f"\\u{code:04x}"


def complain(message: str) -> None:
    """Print a message for a person to stderr; stdout belongs to the answer."""
    lines = "\n".join(map(plain, message.split("\n")))
    print(f"kunline: {lines}", file=sys.stderr, flush=True)  # noqa: T201 — the CLI's voice
