"""Stacks that no runner builds: found on the host, or run in an image by a stand-in engine."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import psutil
import pytest

from runners.devices.device import Card
from runners.launched import require_overlay
from runners.preflight.layers import Check, Works, checked
from runners.run_job import LayerBrokenError, Prepared
from runners.stacks.container import Contained, EngineError, contained, end, ended, pids_of
from runners.stacks.host import NotOnHostError, host_program, host_python
from runners.stacks.overlay import laid_over
from runners.stacks.provision import Site, device_nodes, observed, overlay_of, provisioned
from service.cli.gate_wheels import wheel_of
from service.domain.layer import Layer
from service.formats.identities import ContainerOrder, HostOrder
from service.formats.launch_sections import LaunchSection
from tests.made_wheel import made_wheel
from tests.runner_orders import job
from tests.stand_in_engine import stand_in_engine

DIGEST = "sha256:" + "a" * 64
ORDER = ContainerOrder(image="xpu/sglang:1", digest=DIGEST, python=sys.executable)


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """Return the folder of a stand-in engine called docker, and of what it was asked."""
    return stand_in_engine(tmp_path / "engine")


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


def test_a_program_of_an_image_is_asked_through_its_stdin(engine: Path, tmp_path: Path) -> None:
    python = image(engine, tmp_path).program(ORDER.python, tmp_path / "launch")
    code = "import sys; print(sys.stdin.readline())"

    answer = subprocess.run(
        [python, "-c", code], input=b"memory\n", capture_output=True, check=True, timeout=60
    )

    assert answer.stdout.strip() == b"memory"


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


def test_wheels_are_laid_over_the_python_of_an_image_for_one_launch(
    engine: Path, tmp_path: Path
) -> None:
    held = image(engine, tmp_path)
    home = tmp_path / "launch"
    python = held.program(ORDER.python, home)
    wheel = made_wheel(tmp_path, "iniconfig", "99.1")
    named = wheel_of("iniconfig", str(wheel))
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": "/of/the/image"}
    build = ORDER.model_copy(update={"wheels": (named.order,)})
    order = job().stack.model_copy(update={"build": build})

    overlay = overlay_of(
        order,
        python,
        lambda digest: named.parts[digest],
        folder=home,
        variables=variables,
        progress=lambda *_: None,
    )

    assert overlay is not None
    assert overlay.path == f"{home / 'overlay'}{os.pathsep}/of/the/image"
    assert observed(order, python, variables, overlay)["iniconfig"] == named.order.version
    assert observed(order, python, variables)["iniconfig"] != named.order.version


@pytest.mark.parametrize(
    ("is_told", "found"),
    [
        pytest.param(True, nullcontext(), id="the overlay is on its path"),
        pytest.param(False, pytest.raises(LayerBrokenError, match="not loaded"), id="it is not"),
    ],
)
def test_a_server_in_a_container_is_seen_to_load_the_wheels_laid_over_it(
    engine: Path, tmp_path: Path, is_told: bool, found: AbstractContextManager[object]
) -> None:
    held = image(engine, tmp_path)
    home = tmp_path / "launch"
    python = held.program(ORDER.python, home)
    wheel = made_wheel(tmp_path, "iniconfig", "99.1")
    content, named = wheel.read_bytes(), wheel_of("iniconfig", str(wheel))
    variables = {"PATH": os.environ["PATH"]}
    overlay = laid_over(
        python,
        {named.order: content},
        folder=home,
        variables=variables,
        progress=lambda *_: None,
    )
    prepared = Prepared(python, python, home, home, {}, None, held, (), overlay)

    told = overlay.variables if is_told else {}
    client = subprocess.Popen([python, "-c", SLEEP], env={**variables, **told})
    until(held.pids)

    with ended(held), found:
        require_overlay(prepared, client.pid, variables=variables)
    client.wait(20)


def test_a_host_without_an_engine_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="neither docker nor podman"):
        image(tmp_path / "nowhere", tmp_path)
