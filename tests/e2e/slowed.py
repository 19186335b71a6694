"""What makes real SGLang slower: a wheel of our platform, or a folder on a stack's PYTHONPATH."""

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
    """Build the wheel into a folder and return it; by nothing, it is the platform as it is."""
    tree = folder / PLATFORM
    shutil.copytree(platform_folder(PLATFORM), tree)
    if by:
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


# A pass of the model takes longer by a share of itself, by SGLang's own hooks.
SLOWER = """\
import time
from sglang.srt.plugins.hook_registry import HookRegistry, HookType


def slower(forward, *words, **named):
    begun = time.perf_counter()
    done = forward(*words, **named)
    time.sleep({by} * (time.perf_counter() - begun))
    return done


def register():
    target = "sglang.srt.model_executor.model_runner.ModelRunner.forward"
    HookRegistry.register(target, slower, HookType.AROUND)
"""
# SGLang's processes begin as copies of the first instead of importing torch once more, each alone,
# models that nobody serves are not imported, and a sign to end is seen at once instead of within
# five seconds.
SOONER = """\
import asyncio
import gc
import multiprocessing
import os
import pkgutil
from sglang.srt import models
from sglang.srt.plugins.hook_registry import HookRegistry, HookType

SERVED = "llama"


def copied(*_, **__):
    gc.freeze()
    gc.enable()
    multiprocessing.set_start_method("fork", force=True)


async def seen(watched, manager):
    while not manager.gracefully_exit:
        await asyncio.sleep(0.1)
    await watched(manager)


def register():
    others = {found.name for found in pkgutil.iter_modules(models.__path__)} - {SERVED}
    os.environ["SGLANG_DISABLED_MODEL_ARCHS"] = ",".join(sorted(others))
    target = "sglang.srt.entrypoints.engine._set_envs_and_config"
    HookRegistry.register(target, copied, HookType.AFTER)
    target = "sglang.srt.managers.tokenizer_manager.TokenizerManager.sigterm_watchdog"
    HookRegistry.register(target, seen, HookType.AROUND)
"""
# What a server imports stays, and is not looked through for what may go while it is imported.
UNCOLLECTED = "import gc\n\ngc.disable()\n"


def slowed_path(folder: Path, *, by: float) -> Path:
    """Write a plugin that slows SGLang into a folder and return what PYTHONPATH is to name."""
    return _plugin(folder, "kunline_slower", SLOWER.replace("{by}", str(by)))


def sooner_path(folder: Path) -> Path:
    """Write a plugin that lets a server come up and end sooner and serve as ever, into a folder."""
    path = _plugin(folder, "kunline_sooner", SOONER)
    (path / "sitecustomize.py").write_text(UNCOLLECTED, "utf-8")
    return path


def sooner_stack(root: Path, name: str) -> None:
    """Let the servers of a stack of a matrix come up and end sooner, and serve as ever."""
    file = root / "stacks" / f"{name}.yaml"
    found = f'environment: {{PYTHONPATH: "{sooner_path(root.parent)}"}}'
    file.write_text(file.read_text("utf-8").replace("environment: {}", found), "utf-8")


def _plugin(folder: Path, name: str, text: str) -> Path:
    told = folder / name / f"{name}-0.1.dist-info"
    told.mkdir(parents=True, exist_ok=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n", "utf-8")
    points = f"[sglang.srt.plugins]\n{name} = {name}:register\n"
    (told / "entry_points.txt").write_text(points, "utf-8")
    (folder / name / f"{name}.py").write_text(text, "utf-8")
    return folder / name
