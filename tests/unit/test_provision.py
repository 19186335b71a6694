"""Stacks that no runner builds: found on the host, or run in an image by a stand-in engine.

The engine of these tests is a stand-in: a small program that records its words and runs the
command as a child of its own, as a container engine's daemon does; there is no container.
"""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from runners.devices.device import Card
from runners.preflight.layers import Check, Works, checked
from runners.stacks.container import Contained, EngineError, contained, end, ended, pids_of
from runners.stacks.host import NotOnHostError, host_program, host_python
from runners.stacks.provision import Site, device_nodes, provisioned
from service.domain.layer import Layer
from service.formats.identities import ContainerOrder, HostOrder
from service.formats.launch_sections import LaunchSection

DIGEST = "sha256:" + "a" * 64
ORDER = ContainerOrder(image="xpu/sglang:1", digest=DIGEST, python=sys.executable)
# What `run` starts is detached from the engine's client, so that killing the client leaves it.
ENGINE = """\
#!{python}
import json, os, signal, subprocess, sys
from pathlib import Path

state = Path({state!r})
words = sys.argv[1:]
with (state / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")


def living():
    for file in state.glob("*.container"):
        told = json.loads(file.read_text())
        if os.path.exists(f"/proc/{{told['pid']}}"):
            yield file.stem, told


if words[0] == "image" and not (state / "pulled").exists():
    sys.exit("Error: no such image")
if words[0] == "pull":
    (state / "pulled").touch()
if words[0] == "run":
    labels = [words[at + 1] for at, word in enumerate(words) if word == "--label"]
    names = [words[at + 1] for at, word in enumerate(words) if word == "--env"]
    pairs = [name.partition("=") for name in names]
    variables = {{name: value if sign else os.environ[name] for name, sign, value in pairs}}
    at = next(at for at, word in enumerate(words) if "@sha256:" in word)
    child = subprocess.Popen(words[at + 1 :], env=variables, start_new_session=True)
    file = state / f"c{{child.pid}}.container"
    file.write_text(json.dumps({{"labels": labels, "pid": child.pid}}))
    code = child.wait()
    file.unlink(missing_ok=True)
    sys.exit(code if code >= 0 else 128 - code)
if words[0] == "ps":
    label = words[-1].partition("=")[2]
    print("\\n".join(name for name, told in living() if label in told["labels"]))
if words[0] == "inspect":
    print("\\n".join(str(told["pid"]) for name, told in living() if name in words))
if words[0] in ("stop", "rm"):
    for name, told in list(living()):
        if name in words:
            os.kill(told["pid"], signal.SIGTERM if words[0] == "stop" else signal.SIGKILL)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """Return the folder of a stand-in engine called docker, and of what it was asked."""
    folder = tmp_path / "engine"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(ENGINE.format(python=sys.executable, state=str(folder)), encoding="utf-8")
    program.chmod(0o755)
    return folder


def image(engine: Path, tmp_path: Path, *, registry: str = "") -> Contained:
    home = tmp_path / "launch"
    home.mkdir()
    return contained(
        ORDER,
        launch="launch-1",
        registry=registry,
        devices=("/dev/xpu2", "/dev/xpuctrl"),
        home=home,
        folders=(tmp_path / "models",),
        variables={"PATH": str(engine)},
    )


def calls(engine: Path) -> list[list[str]]:
    return [json.loads(line) for line in (engine / "calls.jsonl").read_text("utf-8").splitlines()]


def until(true: object, *, limit_s: float = 20.0) -> None:
    deadline = time.monotonic() + limit_s
    while not true():  # type: ignore[operator]  # a function without arguments
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_hosts_python_is_found_by_path_or_by_name(tmp_path: Path) -> None:
    named = tmp_path / "python-of-the-stack"
    named.symlink_to(sys.executable)

    assert host_python(str(named), {}) == named
    assert host_python(named.name, {"PATH": str(tmp_path)}) == named


@pytest.mark.parametrize("name", ["no-such-python", "false"])
def test_a_python_that_is_not_there_or_does_not_run_is_told(name: str) -> None:
    with pytest.raises(NotOnHostError, match="installs nothing"):
        host_python(name, {"PATH": os.environ["PATH"]})


def test_the_launch_program_beside_the_python_wins_over_the_paths(tmp_path: Path) -> None:
    for folder in ("env", "path"):
        program = tmp_path / folder / "sglang-kunlun-launch"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
    variables = {"PATH": str(tmp_path / "path")}

    python = tmp_path / "env" / "python"
    assert host_program("sglang-kunlun-launch", python, variables).parent == tmp_path / "env"
    python = tmp_path / "other" / "python"
    assert host_program("sglang-kunlun-launch", python, variables).parent == tmp_path / "path"
    with pytest.raises(NotOnHostError, match="launch program 'other'"):
        host_program("other", python, variables)


def test_a_stack_on_the_host_brings_its_own_programs(tmp_path: Path) -> None:
    site = Site("launch-1", "", (), tmp_path, (), {"PATH": os.environ["PATH"]})
    launch = LaunchSection(program=Path(sys.executable).name)

    there = provisioned(HostOrder(python=sys.executable), launch, site)

    assert there.python == Path(sys.executable)
    assert there.program == Path(sys.executable)
    assert there.contained is None


def test_a_container_sees_its_cards_nodes_and_the_control_node() -> None:
    cards = (Card(1, "P800", "OAM", minor=2), Card(5, "P800", "OAM"))

    assert device_nodes("kunlun", cards) == ("/dev/xpu2", "/dev/xpu5", "/dev/xpuctrl")
    assert device_nodes("cpu", cards) == ()


def test_an_image_is_fetched_by_its_digest_from_the_runners_registry(
    engine: Path, tmp_path: Path
) -> None:
    image(engine, tmp_path, registry="registry.example.com:5000")

    wanted = f"registry.example.com:5000/xpu/sglang@{DIGEST}"
    assert [words[0] for words in calls(engine)] == ["image", "pull"]
    assert all(words[-1] == wanted for words in calls(engine))


def test_a_program_of_an_image_runs_with_the_variables_it_is_given(
    engine: Path, tmp_path: Path
) -> None:
    python = image(engine, tmp_path).program(ORDER.python, tmp_path / "launch")
    code = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], sys.stdout)"
    variables = {"BKCL_DEBUG": "1", "API_TOKEN": "hunter2", "LD_LIBRARY_PATH": "/of/the/host"}

    answer = subprocess.run(
        [python, "-c", code, "a word"], env=variables, capture_output=True, check=True, timeout=60
    )
    words, seen = json.loads(answer.stdout)

    assert words == ["a word"]
    assert (seen["BKCL_DEBUG"], seen["HOME"]) == ("1", str(tmp_path / "launch"))
    assert "LD_LIBRARY_PATH" not in seen
    run = calls(engine)[-1]
    assert "hunter2" not in str(run)
    assert f"xpu/sglang@{DIGEST}" in run
    assert [run[at + 1] for at, word in enumerate(run) if word == "--device"] == [
        "/dev/xpu2",
        "/dev/xpuctrl",
    ]
    assert f"{tmp_path / 'models'}:{tmp_path / 'models'}" in run


def test_the_exit_code_of_a_contained_program_is_its_own(engine: Path, tmp_path: Path) -> None:
    python = image(engine, tmp_path).program(ORDER.python, tmp_path / "launch")

    assert (
        subprocess.run([python, "-c", "raise SystemExit(7)"], check=False, timeout=60).returncode
        == 7
    )


SLEEP = "import time; time.sleep(600)"


def test_term_takes_the_container_down_that_no_signal_would_reach(
    engine: Path, tmp_path: Path
) -> None:
    held = image(engine, tmp_path)
    python = held.program(ORDER.python, tmp_path / "launch")
    client = subprocess.Popen([python, "-c", SLEEP])
    until(held.pids)
    (pid,) = held.pids()

    client.send_signal(signal.SIGTERM)

    assert client.wait(20) == 128 + signal.SIGTERM
    until(lambda: not psutil.pid_exists(pid))
    assert any(words[0] == "stop" for words in calls(engine))


def test_a_container_whose_client_was_killed_ends_with_its_launch(
    engine: Path, tmp_path: Path
) -> None:
    held = image(engine, tmp_path)
    python = held.program(ORDER.python, tmp_path / "launch")
    client = subprocess.Popen([python, "-c", SLEEP])
    until(held.pids)
    (pid,) = held.pids()

    with ended(held):
        assert pid in pids_of(os.getpid(), held)
        client.kill()
        client.wait(20)
        assert psutil.pid_exists(pid)

    until(lambda: not psutil.pid_exists(pid))


def test_what_a_check_was_killed_with_ends_when_the_checks_do(engine: Path, tmp_path: Path) -> None:
    held = image(engine, tmp_path)
    python = held.program(ORDER.python, tmp_path / "launch")
    client = subprocess.Popen([python, "-c", SLEEP])
    until(held.pids)
    client.kill()
    client.wait(20)

    found = checked([Check(Layer.OPERATOR, lambda _: Works(), end=partial(end, held))])

    assert found[0].state == "works"
    until(lambda: not held.pids())


def test_a_host_without_an_engine_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="neither docker nor podman"):
        image(tmp_path / "nowhere", tmp_path)
