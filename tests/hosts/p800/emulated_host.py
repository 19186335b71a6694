"""What the emulated Python side knows of its host: which faults there are, and which card it is on.

Imported by the emulated torch only, from the folder that the emulated Python puts first.
"""

import json
import os
from pathlib import Path

_HOST = json.loads(Path(os.environ["EMULATED_P800"], "host.json").read_text(encoding="utf-8"))
FAULTS = frozenset(_HOST["faults"])


def here() -> str:
    """Return the first card that this process may see."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
