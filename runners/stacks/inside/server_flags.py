"""Prints the flags that the server of this Python takes, and their defaults, as one line of JSON.

Run by path with a measured environment's Python and never installed there, so: the standard
library and SGLang alone, in the syntax of Python 3.8. The parser is asked and not the class of the
arguments, which is a dataclass in some releases and a record of its own kind in others.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import math
import signal
import sys
from importlib import metadata
from typing import Any

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Print the release and every option that can be given."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    out, sys.stdout = sys.stdout, sys.stderr  # what the import prints is no part of the answer
    server_args = importlib.import_module("sglang.srt.server_args")
    parser = argparse.ArgumentParser()
    server_args.ServerArgs.add_cli_args(parser)
    flags = [told(action) for action in parser._actions if is_given(action)]  # noqa: SLF001
    json.dump({"release": metadata.version("sglang"), "flags": flags}, out)


def is_given(action: argparse.Action) -> bool:
    """Return whether an option can still be given; some only say that they are gone."""
    return (
        bool(action.option_strings)
        and action.dest != "help"
        and type(action).__name__ != "DeprecatedAction"
    )


def told(action: argparse.Action) -> dict[str, Any]:
    """Return an option: its spellings, its default, and what a deprecated one names instead."""
    instead = getattr(action, "new_flag", None)
    return {
        "spellings": [word.lstrip("-") for word in action.option_strings],
        "default": plain(action.default),
        "instead": None if instead is None else str(instead).lstrip("-"),
    }


def plain(value: Any) -> Any:
    """Return a default as JSON can hold it; what is of another kind as Python writes it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


if __name__ == "__main__":
    main()
