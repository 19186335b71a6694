"""What a plugin asks of SGLang and kernel libraries of each other, looked up without a card."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runners.stacks.measured import ProbeError
from runners.stacks.plugin_check import PluginSeen, kernel_check, plugin_check

HERE = Path(sys.executable)
SGLANG = {
    "sglang/__init__.py": "",
    "sglang/srt/__init__.py": "",
    "sglang/srt/scheduler.py": """
from sglang.srt.mixin import Receiver
from sglang.srt.outside import *

class Scheduler(Receiver):
    limit = 3
    unset: int

    def schedule(self): ...

def helper(): ...
""",
    "sglang/srt/mixin.py": "class Receiver:\n    def receive(self): ...\n",
    "sglang/srt/outside.py": "if True:\n    def starred(): ...\n",
    "sglang/srt/lazy.py": "def __getattr__(name): ...\n",
}
HEAD = "from sglang.srt.plugins import HookRegistry, plugin_hook\nBASE = 'sglang.srt.scheduler'\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def seen(root: Path, code: str) -> PluginSeen:
    files = {**SGLANG, "sglang/srt/plugins.py": "class HookRegistry: ...\ndef plugin_hook(): ...\n"}
    tree(root, {**files, "my_plugin/hooks/__init__.py": "", "my_plugin/hooks/all.py": HEAD + code})
    return plugin_check(HERE, ["my-plugin"], variables={"PYTHONPATH": str(root)}, limit_s=60)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("@plugin_hook('sglang.srt.scheduler.helper')\ndef f(): ...", id="a function"),
        pytest.param("@plugin_hook(BASE + '.Scheduler.schedule')\ndef f(): ...", id="a method"),
        pytest.param("plugin_hook(f'{BASE}.Scheduler.receive')", id="an inherited method"),
        pytest.param("HookRegistry.register('sglang.srt.scheduler.starred', f)", id="by a star"),
        pytest.param("HookRegistry.register(target=f'{BASE}.Receiver.receive')", id="re-exported"),
        pytest.param("@register_triton_op(BASE, 'helper')\ndef f(): ...", id="a replaced symbol"),
        pytest.param("plugin_hook('sglang.srt.scheduler.Scheduler.limit')", id="a class's value"),
    ],
)  # fmt: skip
def test_what_the_installed_sglang_has_is_resolved(tmp_path: Path, code: str) -> None:
    found = seen(tmp_path, code)

    assert (found.unresolved, found.unreadable) == ((), ())
    assert found.resolved == 3


@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param(
            "\nplugin_hook(f'{BASE}.Scheduler.gone')",
            "all.py:4: sglang.srt.scheduler.Scheduler.gone (hook: sglang.srt.scheduler.Scheduler "
            "has no gone)",
            id="a hook that is gone",
        ),
        pytest.param(
            "@register_jit_op(BASE, 'moved')\ndef f(): ...",
            "all.py:3: sglang.srt.scheduler.moved (replaced symbol: sglang.srt.scheduler has no "
            "moved)",
            id="a symbol that moved away",
        ),
        pytest.param(
            "plugin_hook('sglang.srt.no.such.module')",
            "all.py:3: sglang.srt.no.such.module (hook: sglang.srt has no no)",
            id="a module that is gone",
        ),
        pytest.param(
            "from sglang.srt.scheduler import other",
            "all.py:3: sglang.srt.scheduler.other (import: sglang.srt.scheduler has no other)",
            id="an import that will fail",
        ),
        pytest.param(
            "plugin_hook('sglang.srt.scheduler.Scheduler.unset')",
            "all.py:3: sglang.srt.scheduler.Scheduler.unset (hook: sglang.srt.scheduler.Scheduler "
            "has no unset)",
            id="a name that is declared and has no value",
        ),
    ],
)
def test_what_it_has_not_is_told_with_file_and_line(tmp_path: Path, code: str, said: str) -> None:
    found = seen(tmp_path, code)

    assert [line[line.index("all.py") :] for line in found.unresolved] == [said]
    assert said in found.sentence


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("for name in NAMES:\n    plugin_hook(name)", id="a name from a loop"),
        pytest.param("plugin_hook('sglang.srt.lazy.anything')", id="a module of lazy names"),
        pytest.param("def f():\n    from sglang.srt.scheduler import other", id="imported later"),
        pytest.param("plugin_hook('torch.nn.Linear.forward')", id="of another package"),
    ],
)  # fmt: skip
def test_what_only_running_tells_is_said_to_be_unreadable(tmp_path: Path, code: str) -> None:
    found = seen(tmp_path, code)

    assert found.unresolved == ()
    assert len(found.unreadable) == 1
    assert "cannot be read without running the plugin" in found.sentence


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    from sglang.srt.scheduler import other\nexcept ImportError:\n    other = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sglang.srt.no import other",
        "@register_jit_op('flashinfer.prefill', 'other')\ndef f(): ...",
    ],
    ids=["tried", "for a type checker", "planted into another package"],
)
def test_what_may_be_missing_is_not_told(tmp_path: Path, code: str) -> None:
    found = seen(tmp_path, code)

    assert (found.unresolved, found.unreadable) == ((), ())


def test_code_that_does_not_parse_is_said_not_to_be_read(tmp_path: Path) -> None:
    assert "not read" in seen(tmp_path, "def broken(:").unreadable[0]


def test_a_python_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match=r"plugin_targets.py tells nothing"):
        plugin_check(tmp_path / "python", ["p"], variables={}, limit_s=5)


# CI brings a compiler (.ci/run); elsewhere whoever has none is told how to get one.
needs_compiler = pytest.mark.skipif(  # a person may have no compiler; CI always has
    shutil.which("cc") is None and not os.environ.get("CI"),
    reason="the libraries are compiled here: apt-get install gcc libc6-dev",
)


def library(folder: Path, name: str, code: str, *words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source.c"
    source.write_text(code, encoding="utf-8")
    output = ["-o", str(folder / name)]
    subprocess.run(["cc", "-shared", "-fPIC", str(source), *output, *words], check=True, timeout=60)


@needs_compiler
def test_a_symbol_that_no_library_has_is_told(tmp_path: Path) -> None:
    code = "int moe_fc_fusion(int); int run(int n) { return moe_fc_fusion(n); }"
    library(tmp_path / "kunlun_ops", "libxops_blocks.so", code)

    found = kernel_check(HERE, ["kunlun-ops"], variables={"PYTHONPATH": str(tmp_path)}, limit_s=60)

    assert len(found.unresolved) == 1
    assert found.unresolved[0].endswith("libxops_blocks.so: moe_fc_fusion (undefined symbol)")


@needs_compiler
def test_a_symbol_of_a_library_on_the_loaders_path_is_resolved(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    library(runtime, "libxpurt.so", "int launch(int n) { return n; }")
    code = "int launch(int); int run(int n) { return launch(n); }"
    library(tmp_path / "kunlun_ops", "libops.so", code, f"-L{runtime}", "-lxpurt")
    variables = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": str(runtime)}

    there = kernel_check(HERE, ["kunlun_ops"], variables=variables, limit_s=60)
    variables["LD_LIBRARY_PATH"] = os.devnull
    gone = kernel_check(HERE, ["kunlun_ops"], variables=variables, limit_s=60)

    assert there.unresolved == ()
    assert gone.unresolved[0].endswith("libxpurt.so (a library that is nowhere)")


@needs_compiler
def test_an_operator_that_no_library_registers_is_told(tmp_path: Path) -> None:
    ops = tmp_path / "xspeedgate_ops"
    code = 'const char *schema = "gather_paged_scale(Tensor cache) -> Tensor";'
    library(ops, "libgate.so", code)
    calls = "import torch\ntorch.ops.xspeedgate_ops.{0}\n"
    tree(ops, {
        "__init__.py": calls.format("gather_paged_scale"),
        "other.py": calls.format("scatter_paged_scale"),
    })  # fmt: skip

    found = kernel_check(
        HERE, ["xspeedgate_ops"], variables={"PYTHONPATH": str(tmp_path)}, limit_s=60
    )

    assert len(found.unresolved) == 1
    assert "other.py:2: xspeedgate_ops::scatter_paged_scale" in found.unresolved[0]


def test_a_file_that_is_no_library_breaks_nothing(tmp_path: Path) -> None:
    tree(tmp_path, {"kunlun_ops/libdamaged.so": "\x7fELF not really"})

    found = kernel_check(HERE, ["kunlun_ops"], variables={"PYTHONPATH": str(tmp_path)}, limit_s=60)

    assert found == PluginSeen(0, (), ())
