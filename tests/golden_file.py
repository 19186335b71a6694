"""Golden files: what a person reads, kept as text and compared whole."""

import os
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Compare text with a golden file; `./dev golden` writes it anew instead."""
    path = GOLDEN / name
    if os.environ.get("KUNLINE_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
