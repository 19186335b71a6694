"""A small plugin in front of real SGLang: looked up, and told of by SGLang itself."""

import os
import subprocess
from pathlib import Path

import pytest

from runners.stacks.plugin_check import plugin_check
from runners.stacks.plugin_lines import complaint
from service.formats.chosen_stacks import chosen
from service.formats.matrix_files import read_matrix
from tests.e2e.test_stacks import MATRIX, STACKS, built

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(1800)]

READ = """\
import sglang
plugin_hook("sglang.srt.managers.scheduler.Scheduler.process_input_requests")
plugin_hook("sglang.srt.managers.scheduler.Scheduler.gone_since")
register_triton_op("sglang.srt.layers.moe.topk", "fused_topk")
register_triton_op("sglang.srt.layers.moe.topk", "moved_elsewhere")
HookRegistry.register(NAMES[0], f)
"""
RUN = """\
from sglang.srt.plugins.hook_registry import HookRegistry, HookType
def register():
    HookRegistry.register("sglang.srt.environ.EnvField.gone", print, HookType.AFTER)
"""
LOADS = """\
import logging
logging.basicConfig(level=logging.INFO)
from sglang.srt.plugins import load_plugins
load_plugins()
"""


def python_of(stack: str) -> Path:
    return built(chosen(read_matrix(MATRIX), stack)).python


@pytest.mark.parametrize("stack", STACKS)
def test_a_plugin_is_looked_up_in_the_real_sglang(tmp_path: Path, stack: str) -> None:
    (tmp_path / "small_plugin.py").write_text(READ, encoding="utf-8")
    variables = {"PYTHONPATH": str(tmp_path)}

    told = plugin_check(python_of(stack), ["small-plugin"], variables=variables, limit_s=120)

    assert told.resolved == 2
    assert [line.partition(": ")[2].partition(" ")[0] for line in told.unresolved] == [
        "sglang.srt.managers.scheduler.Scheduler.gone_since",
        "sglang.srt.layers.moe.topk.moved_elsewhere",
    ]
    assert "small_plugin.py:6: a name that is put together as it runs" in told.unreadable[0]


def test_real_sglang_writes_the_lines_that_are_looked_for(tmp_path: Path) -> None:
    told = tmp_path / "hooks-0.1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks\nVersion: 0.1\n", "utf-8")
    (told / "entry_points.txt").write_text("[sglang.srt.plugins]\nk = k_hooks:register\n", "utf-8")
    (tmp_path / "k_hooks.py").write_text(RUN, "utf-8")

    answer = subprocess.run(
        [python_of(STACKS[-1]), "-c", LOADS],
        env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"},
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )

    assert "Executed general plugin: k" in answer.stderr
    seen = complaint(answer.stderr, plugins=("kunline-sglang-cpu",), expects=())
    assert seen is not None
    assert "Failed to apply hooks to sglang.srt.environ.EnvField.gone" in seen.finding
