"""Which flags an installed release's server takes, and their defaults: asked of its own parser."""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from runners.stacks.measured import ProbeError
from service.formats.stack_differences import FlagsAnswer

PROBE = Path(__file__).parent / "inside" / "server_flags.py"
# Raised when the probe tells something else: what an older one told is then asked again.
PROBE_REVISION = 1
ERROR_CHARACTERS = 1500

# Importing a server takes seconds on a warm disk; a cold one is given its time.
_LIMIT_S = 300.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")


def server_flags(python: Path, *, cache: Path, variables: Mapping[str, str]) -> FlagsAnswer:
    """Return the flags of the server installed beside a Python.

    python: of a finished environment, which never changes: what it told once is kept below cache.
    variables: the runner's own, of which few are passed on. Raises ProbeError.
    """
    kept = cache / "flags" / f"{python.parents[1].name}-{PROBE_REVISION}.json"
    try:
        return FlagsAnswer.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        told = _asked(python, variables)
    # What cannot be kept, on a full or foreign disk, is asked again the next time.
    with suppress(OSError):
        _keep(told, kept)
    return told


def _keep(told: FlagsAnswer, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Two stacks may share an environment and be asked by two threads of one process.
    half = kept.with_suffix(f".{uuid4().hex}")
    half.write_text(told.model_dump_json(), encoding="utf-8")
    half.rename(kept)


def _asked(python: Path, variables: Mapping[str, str]) -> FlagsAnswer:
    passed_on = {name: variables[name] for name in _PASSED_ON if name in variables}
    try:
        answer = subprocess.run(
            [python, "-I", PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_LIMIT_S,
            env={**passed_on, "HF_HUB_OFFLINE": "1"},
        )
        return FlagsAnswer.model_validate_json(answer.stdout)
    except subprocess.CalledProcessError as error:
        end = error.stderr.decode(errors="replace").strip()[-ERROR_CHARACTERS:]
        raise ProbeError(f"{python} does not tell its server's flags: {end}") from error
    except (OSError, subprocess.SubprocessError, ValidationError) as error:
        raise ProbeError(f"{python} does not tell its server's flags: {error}") from error
