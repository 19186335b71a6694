"""A wheel of our CPU platform that makes SGLang slower, as a plugin's pull request might."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from runners.stacks.platform_tree import platform_folder

PLATFORM = "kunline_sglang_cpu"
COMPONENT = "kunline-sglang-cpu"
VERSION = "0.1.1"
# Every pass of the model takes longer by this share of itself.
SLOWED = '''


def _slowed(by: float) -> None:
    """Let every pass of the model take longer by a share of itself."""
    import time

    from sglang.srt.model_executor.model_runner import ModelRunner

    forward = ModelRunner.forward
    if getattr(forward, "slowed", False):
        return

    def slower(self, *words, **named):
        begun = time.perf_counter()
        done = forward(self, *words, **named)
        time.sleep(by * (time.perf_counter() - begun))
        return done

    slower.slowed = True
    ModelRunner.forward = slower


_dispatch_key_name = CpuPlatform.get_dispatch_key_name


def _asked(self):
    _slowed({by})
    return _dispatch_key_name(self)


CpuPlatform.get_dispatch_key_name = _asked
'''


def slowed_wheel(folder: Path, *, by: float) -> Path:
    """Build the wheel into a folder and return it."""
    tree = folder / PLATFORM
    shutil.copytree(platform_folder(PLATFORM), tree)
    with (tree / PLATFORM / "platform.py").open("a", encoding="utf-8") as platform:
        platform.write(SLOWED.replace("{by}", str(by)))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=tree,
        env={**os.environ, "KUNLINE_PLATFORM_VERSION": VERSION},
        check=True,
        timeout=120,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel
