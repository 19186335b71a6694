"""What is really installed in an environment, asked from inside it."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

_PROBE = Path(__file__).parent / "inside" / "versions.py"
_LIMIT_S = 60.0


class ProbeError(RuntimeError):
    """An environment's Python does not run, or says something else than its versions."""


def measured_versions(python: Path) -> Mapping[str, str]:
    """Return the version of each distribution by its settled name, and of 'python' itself.

    python: an environment's interpreter. Raises ProbeError.
    """
    try:
        answer = subprocess.run(
            [python, "-I", _PROBE], capture_output=True, check=True, text=True, timeout=_LIMIT_S
        )
        said = json.loads(answer.stdout)
        return {**said["versions"], "python": said["python"]}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise ProbeError(f"{python} does not tell its versions: {error}") from error
