"""Sample files that lie beside the checkout, and not in it, because they are other people's."""

import os
from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of a sample file; skip the test where there are none, but fail in CI."""
    path = SHARED_DATA / name
    if SHARED_DATA.is_dir():
        return path
    reason = f"the sample files are not at {SHARED_DATA.parent.name}/{SHARED_DATA.name}"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI must have them")
    pytest.skip(reason)
