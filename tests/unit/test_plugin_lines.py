"""A server that is up with half its patches: lines that prove the plugin, and that disprove it."""

from pathlib import Path

import pytest

from runners.launched import require_plugin
from runners.run_job import LayerBrokenError
from runners.stacks.plugin_lines import complaint, plugins_of
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope

STACK = Stack(
    "p800",
    (
        Component("sglang-kunlun", "0.1.0+abc", Layer.PLUGIN, SwapScope.PROCESS),
        Component("sglang", "0.5.17", Layer.SERVER, SwapScope.PROCESS),
    ),
)
DONE = "[2026-08-03 10:00:00 TP0] Executed general plugin: kunlun_hooks\n"
UP = "The server is fired up and ready to roll!\n"


def found(log: str, *, expects: tuple[str, ...] = ()) -> tuple[Layer, str] | None:
    seen = complaint(log, plugins=plugins_of(STACK), expects=expects)
    return None if seen is None else (seen.layer, seen.finding)


@pytest.mark.parametrize(
    "line",
    [
        DONE,
        "sglang-kunlun: 12 hook modules registered, 40 triton ops and 9 jit ops installed\n",
        "Applied 2 hook(s) to sglang.srt.x.y (from: plugin=kunlun_hooks, dist=sglang-kunlun)\n",
    ],
    ids=["executed", "registered", "applied"],
)
def test_one_line_of_the_plugins_own_proves_it(line: str) -> None:
    assert found(line + UP) is None


def test_a_log_that_tells_of_plugins_and_not_of_its_own_is_broken_at_plugin() -> None:
    seen = found("INFO: Available plugins for group sglang.srt.plugins:\n" + UP)

    assert seen is not None
    assert seen[0] is Layer.PLUGIN
    assert "Executed general plugin: kunlun_hooks" in seen[1]


def test_a_log_that_begins_too_late_to_tell_of_plugins_accuses_nobody() -> None:
    assert found(UP) is None
    seen = found(UP, expects=("hook modules registered",))
    assert seen is not None
    assert seen[0] is Layer.PLUGIN


@pytest.mark.parametrize(
    ("line", "layer"),
    [
        ("Failed to load plugin kunlun_hooks from group sglang.srt.plugins", Layer.PLUGIN),
        ("Failed to execute general plugin: kunlun_hooks", Layer.PLUGIN),
        ("Failed to apply hooks to sglang.srt.managers.gone", Layer.PLUGIN),
        ("Failed to activate platform plugin: kunlun", Layer.PLUGIN),
        ("WARNING: hook error!", Layer.RUNTIME),
        ("import hook error: libcuda.so.1", Layer.RUNTIME),
        ("Libraries loaded from different directories!", Layer.RUNTIME),
        ("[XCCL] addr_window not properly set", Layer.COLLECTIVES),
        ("[XCCL] xpulink not active", Layer.COLLECTIVES),
        ("Fallback to PCIE, because no XPULINK ring found", Layer.COLLECTIVES),
        ("multiple devices are mapped to the same oam id", Layer.COLLECTIVES),
        ("kl3ChannelCheckErrors failed, line 3, status= 719", Layer.GRAPH),
        ("libxops_blocks.so: undefined symbol: moe_fc_fusion", Layer.RUNTIME),
    ],
)
def test_each_failure_line_breaks_a_server_that_is_up(line: str, layer: Layer) -> None:
    seen = found(DONE + line + "\n" + UP)

    assert seen is not None
    assert seen[0] is layer
    assert line in seen[1]


def test_all_failed_hooks_are_told_and_each_once() -> None:
    lines = [f"Failed to apply hooks to sglang.srt.m{number}" for number in (1, 2, 2)]

    seen = found(DONE + "\n".join(lines))

    assert seen is not None
    assert seen[1].splitlines()[1:] == lines[:2]


def test_a_text_that_the_stack_file_expects_must_be_there() -> None:
    assert found(DONE + "SYMBOL_REWRITE torch success", expects=("SYMBOL_REWRITE torch",)) is None
    seen = found(DONE, expects=("SYMBOL_REWRITE torch",))
    assert seen is not None
    assert seen[1].endswith("SYMBOL_REWRITE torch")


def test_the_line_of_all_arguments_accuses_nobody() -> None:
    assert found(DONE + "server_args={'tool': 'Failed to load plugin'}\n") is None


def test_a_stack_of_another_plugin_needs_no_marker() -> None:
    assert complaint(UP, plugins=("kunline-sglang-cpu",), expects=()) is None


def test_a_launch_with_a_failed_hook_is_a_broken_layer_with_a_remedy(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(DONE + "Failed to apply hooks to sglang.gone\n" + UP, encoding="utf-8")

    with pytest.raises(LayerBrokenError, match=r"sglang\.gone") as caught:
        require_plugin(log, stack=STACK, expects=())
    assert caught.value.layer is Layer.PLUGIN
    assert "Install the plugin commit" in caught.value.remedy
