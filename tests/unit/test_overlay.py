"""Wheels laid over a Python that nothing is installed into, and how it is seen that they count."""

import os
import platform
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from runners.stacks.overlay import Overlay, OverlayError, laid_over, require_served, seen_in
from runners.stacks.provision import observed
from runners.stacks.provision import overlay_of as overlay_for
from service.cli.gate_wheels import wheel_of
from service.formats.identities import HostOrder
from tests.hosts.p800.host import emulated_host
from tests.made_wheel import made_wheel
from tests.runner_orders import job

PYTHON = Path(sys.executable)
# Installed beside these tests, so that the overlay has something to come before.
NAME, VERSION = "iniconfig", "99.1"
VARIABLES = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
WAITS = "import sys; print('up', flush=True); sys.stdin.read()"
# What setproctitle does to the kernel's view of a process. Of its stat, the 48th field is where its
# arguments begin, the 50th where its variables do; they are counted from the third here.
TITLED = """
import ctypes
with open("/proc/self/stat", "rb") as stream:
    told = stream.read().rpartition(b")")[2].split()
with open("/proc/self/environ", "rb") as stream:
    variables = stream.read()
begin, environment = int(told[45]), int(told[47])
left = variables.index(LEFT) if LEFT in variables else len(variables)
title = b"sglang::scheduler"
ctypes.memmove(begin, title.ljust(environment + left - begin, bytes(1)), environment + left - begin)
"""


@pytest.fixture(scope="module")
def overlay(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    return overlay_of(tmp_path_factory.mktemp("launch"))


def overlay_of(
    folder: Path,
    files: Mapping[str, str] | None = None,
    *,
    tag: str = "py3-none-any",
    variables: Mapping[str, str] = VARIABLES,
) -> Overlay:
    path = made_wheel(folder, NAME, VERSION, files, tag=tag)
    wheel = wheel_of(NAME, str(path)).order
    return laid_over(
        PYTHON,
        {wheel: path.read_bytes()},
        folder=folder,
        variables=variables,
        progress=lambda *_: None,
    )


@contextmanager
def running(
    variables: Mapping[str, str], words: Sequence[str] = ("-c", WAITS)
) -> Iterator[frozenset[int]]:
    """Run a Python that waits, as a server does, and yield its process."""
    with subprocess.Popen(
        [PYTHON, *words],
        env={**VARIABLES, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield frozenset({process.pid})
        process.communicate()


def titled(left: bytes) -> tuple[str, str]:
    """Return words for a Python that writes a title over what is before one of its variables."""
    return "-c", TITLED.replace("LEFT", repr(left)) + WAITS


def test_what_a_wheel_brings_is_loaded_in_place_of_what_is_installed(overlay: Overlay) -> None:
    told = seen_in(overlay, PYTHON, VARIABLES)
    said = subprocess.run(
        [PYTHON, "-c", f"import {NAME}; print({NAME}.__file__)"],
        env={**VARIABLES, **overlay.variables},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )

    assert told == {NAME: overlay.wheels[0].version}
    assert Path(said.stdout.strip()).is_relative_to(overlay.root)
    assert overlay.modules == (NAME,)


def test_nothing_is_installed_into_the_python_itself(overlay: Overlay) -> None:
    code = f"from importlib import metadata; print(metadata.version({NAME!r}))"
    said = subprocess.run(
        [PYTHON, "-c", code],
        env=VARIABLES,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )

    assert overlay.root.is_dir()
    assert said.stdout.strip() != VERSION


def test_what_is_compiled_in_an_environment_is_compiled_in_an_overlay_too(
    overlay: Overlay,
) -> None:
    assert list(overlay.root.rglob("*.pyc"))


def test_the_path_that_a_stack_has_already_comes_after_the_overlay(tmp_path: Path) -> None:
    found = overlay_of(tmp_path, variables={**VARIABLES, "PYTHONPATH": "/of/the/stack"})

    assert found.path == f"{found.root}{os.pathsep}/of/the/stack"


def test_a_server_that_was_started_with_the_overlay_passes(overlay: Overlay) -> None:
    with running(overlay.variables) as pids:
        require_served(overlay, pids, PYTHON, VARIABLES)


def test_a_program_that_puts_a_harmless_folder_first_passes(
    overlay: Overlay, tmp_path: Path
) -> None:
    with running({"PYTHONPATH": f"{tmp_path}{os.pathsep}{overlay.path}"}) as pids:
        require_served(overlay, pids, PYTHON, VARIABLES)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("", f"{NAME} .* is found in", id="a server without the overlay"),
        pytest.param("{old}", f"module {NAME} is found at", id="a checkout comes before it"),
    ],
)
def test_a_server_that_loads_something_else_is_broken(
    overlay: Overlay, tmp_path: Path, path: str, said: str
) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "__init__.py").write_text("", encoding="utf-8")
    told = path.format(old=f"{tmp_path}{os.pathsep}{overlay.path}")

    with running({"PYTHONPATH": told}) as pids, pytest.raises(OverlayError, match=said):
        require_served(overlay, pids, PYTHON, VARIABLES)


def test_a_server_that_ignores_its_path_is_broken(overlay: Overlay) -> None:
    words = ("-s", "-E", "-c", WAITS)
    with (
        running(overlay.variables, words) as pids,
        pytest.raises(OverlayError, match="with -I or -E"),
    ):
        require_served(overlay, pids, PYTHON, VARIABLES)


def test_a_server_that_nobody_may_look_into_is_not_taken_for_a_good_one(overlay: Overlay) -> None:
    with pytest.raises(OverlayError, match="tells its path"):
        require_served(overlay, frozenset({2**22 + 1}), PYTHON, VARIABLES)


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(b"SET_ANEW=", id="over all variables up to one"),
        pytest.param(b"(none)", id="over all variables"),
    ],
)
def test_a_process_with_a_title_over_its_path_is_judged_by_its_parents(
    overlay: Overlay, left: bytes
) -> None:
    variables = {**overlay.variables, "SET_ANEW": "1"}
    with running(variables) as parent, running(variables, titled(left)) as child:
        require_served(overlay, parent | child, PYTHON, VARIABLES)

        with pytest.raises(OverlayError, match="tells its path"):
            require_served(overlay, child, PYTHON, VARIABLES)


def test_a_path_that_a_title_has_left_is_judged(overlay: Overlay, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.py").write_text("", encoding="utf-8")
    variables = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{overlay.path}"}
    with (
        running(overlay.variables) as parent,
        running(variables, titled(b"PYTHONPATH=")) as child,
        pytest.raises(OverlayError, match=f"module {NAME} is found at"),
    ):
        require_served(overlay, parent | child, PYTHON, VARIABLES)


def test_a_library_of_the_same_name_from_elsewhere_is_the_old_one(tmp_path: Path) -> None:
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    name = next(Path(line.split()[-1]).name for line in maps if "/libc.so" in line)
    found = overlay_of(tmp_path, {f"{NAME}/__init__.py": ""})
    brings = Overlay(found.root, found.path, found.wheels, found.modules, frozenset({name}))

    with (
        running(found.variables) as pids,
        pytest.raises(OverlayError, match="loaded in their place"),
    ):
        require_served(brings, pids, PYTHON, VARIABLES)


def test_a_plugin_of_a_pull_request_is_laid_over_that_of_a_p800_host(tmp_path: Path) -> None:
    host = emulated_host(tmp_path / "host")
    files = {"sglang_kunlun/__init__.py": "", "sglang_kunlun/hooks.py": "CHANGED = True\n"}
    path = made_wheel(tmp_path, "sglang-kunlun", "0.1.0", files)
    named = wheel_of("sglang-kunlun", str(path))
    variables = {**VARIABLES, **host.variables}
    order = job().stack
    build = HostOrder(python=str(host.python), wheels=(named.order,))
    stack = order.model_copy(update={"build": build})

    overlay = overlay_for(
        stack,
        host.python,
        lambda digest: named.parts[digest],
        folder=tmp_path,
        variables=variables,
        progress=lambda *_: None,
    )

    assert observed(stack, host.python, variables)["sglang-kunlun"].startswith("0.1.0+emulated")
    assert observed(stack, host.python, variables, overlay)["sglang-kunlun"] == named.order.version


def test_a_wheel_for_this_very_python_and_machine_is_laid_over(tmp_path: Path) -> None:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"

    found = overlay_of(tmp_path, tag=f"{python}-{python}-linux_{platform.machine()}")

    assert found.modules == (NAME,)


def test_what_python_reads_as_it_starts_may_be_what_is_installed_already(tmp_path: Path) -> None:
    installed = next(Path(site.getsitepackages()[0]).glob("*.pth"))
    files = {f"{NAME}/__init__.py": "", installed.name: installed.read_text(encoding="utf-8")}

    assert overlay_of(tmp_path, files).modules == (NAME,)


@pytest.mark.parametrize(
    ("files", "tag", "said"),
    [
        pytest.param(None, "cp27-cp27m-manylinux1_x86_64", "unpacking", id="another Python's"),
        pytest.param({"early.pth": "import os"}, "py3-none-any", "early.pth", id="a .pth file"),
    ],
)
def test_a_wheel_that_cannot_be_laid_over_is_refused(
    tmp_path: Path, files: Mapping[str, str] | None, tag: str, said: str
) -> None:
    with pytest.raises(OverlayError, match=said):
        overlay_of(tmp_path, files, tag=tag)
