"""The client process: it imports once, forks a pass, and leaves nothing behind."""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from runners.benchmarks import client as client_module
from runners.benchmarks.client import (
    Call,
    Client,
    ClientBrokenError,
    Pass,
    Tool,
    client,
    client_environment,
)
from runners.benchmarks.client_cpu import cpu_share
from runners.benchmarks.standing_client import StandingClient

TOOL = Tool("serving", ("sglang.benchmark.serving", "sglang.bench_serving"))
# Stands in for the real tool: counts its imports, and does what its first argument says.
MODULE = """
import json, os, pathlib, subprocess, sys, time
with open(os.environ["IMPORTS"], "a") as stream:
    stream.write("imported\\n")

def cli_main():
    what, where = sys.argv[1:3]
    print("console of", what, flush=True)
    if what == "sleep":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        pathlib.Path(where).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(60)
    if what == "exit":
        sys.exit("the server is not there")
    if what == "raise":
        raise IndexError("no successful request")
    if what.startswith("burn"):
        end = time.process_time() + (1.2 if "while" in what else 0.2)
        while time.process_time() < end:
            pass
    pathlib.Path(where).write_text(json.dumps({"argv": sys.argv, "folder": os.getcwd()}))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    package = tmp_path / "site" / "sglang" / "benchmark"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    (package / "serving.py").write_text(MODULE, encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    return client_environment(os.environ, home=home) | {
        "PYTHONPATH": str(tmp_path / "site"),
        "IMPORTS": str(tmp_path / "imports"),
    }


@contextmanager
def started(environment: dict[str, str], folder: Path, tool: Tool = TOOL) -> Iterator[Client]:
    log = folder / "client.log"
    with client(Path(sys.executable), [tool], environment=environment, log=log) as running:
        running.wait_ready(limit_s=30, stopped=lambda: False)
        yield running


def passed(
    running: Client, folder: Path, what: str, *, limit_s: float = 30, stop_after_s: float = 1e9
) -> Pass:
    until = time.monotonic() + stop_after_s
    call = Call((what, str(folder / what)), folder, folder / f"{what}.log", limit_s)
    return running.run(TOOL, call, stopped=lambda: time.monotonic() >= until)


def test_many_passes_pay_for_one_import(environment: dict[str, str], tmp_path: Path) -> None:
    with started(environment, tmp_path) as running:
        ended = [passed(running, tmp_path, what) for what in ("one", "two", "three")]

    assert [one.rc for one in ended] == [0, 0, 0]
    assert (tmp_path / "imports").read_text() == "imported\n"
    assert json.loads((tmp_path / "two").read_text()) == {
        "argv": ["sglang.benchmark.serving", "two", str(tmp_path / "two")],
        "folder": str(tmp_path),
    }
    assert (tmp_path / "two.log").read_text() == "console of two\n"


def test_the_cpu_time_of_a_pass_is_its_own(environment: dict[str, str], tmp_path: Path) -> None:
    with started(environment, tmp_path) as running:
        burnt, idle = passed(running, tmp_path, "burn"), passed(running, tmp_path, "one")

    assert burnt.cpu_s >= 0.2
    assert idle.cpu_s < burnt.cpu_s
    assert burnt.ended - burnt.started >= 0.2


def test_the_cpu_time_of_a_pass_is_sampled_while_it_runs(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with started(environment, tmp_path) as running:
        ended = passed(running, tmp_path, "burn a while")

    moments = [moment for moment, _ in ended.cpu_samples]
    used = [cpu_s for _, cpu_s in ended.cpu_samples]
    assert len(ended.cpu_samples) >= 3
    assert moments == sorted(moments)
    assert used == sorted(used)
    assert used[-1] <= ended.cpu_s + 0.02
    share = cpu_share(ended, load_s=1.0, load_ended=ended.ended)
    assert share is not None
    assert 0 < share < 1.1


@pytest.mark.parametrize(
    ("what", "said"),
    [
        pytest.param("exit", "the server is not there", id="it says why it exits"),
        pytest.param("raise", "IndexError: no successful request", id="it raises"),
    ],
)
def test_a_tool_that_fails_has_a_code_and_a_console(
    environment: dict[str, str], tmp_path: Path, what: str, said: str
) -> None:
    with started(environment, tmp_path) as running:
        ended = passed(running, tmp_path, what)
        after = passed(running, tmp_path, "one")

    assert (ended.rc, ended.ended_by) == (1, "itself")
    assert said in (tmp_path / f"{what}.log").read_text()
    assert after.rc == 0


@pytest.mark.parametrize(
    ("limits", "ended_by"),
    [
        pytest.param({"limit_s": 1.5}, "timeout", id="its time is over"),
        pytest.param({"stop_after_s": 1.5}, "stop", id="the launch is to stop"),
    ],
)
def test_a_killed_pass_leaves_no_process(
    environment: dict[str, str], tmp_path: Path, limits: dict[str, float], ended_by: str
) -> None:
    with started(environment, tmp_path) as running:
        ended = passed(running, tmp_path, "sleep", **limits)
        after = passed(running, tmp_path, "one")

    pids = [int(word) for word in (tmp_path / "sleep").read_text().split()]
    assert (ended.rc, ended.ended_by) == (-9, ended_by)
    assert after.rc == 0
    assert not any(alive(pid) for pid in pids)


def test_a_client_that_cannot_import_says_what(environment: dict[str, str], tmp_path: Path) -> None:
    absent = Tool("serving", ("sglang.nowhere",))

    with (
        pytest.raises(ClientBrokenError, match=r"No module named .sglang.nowhere"),
        started(environment, tmp_path, absent),
    ):
        pass


def test_an_older_name_of_the_tool_is_found(environment: dict[str, str], tmp_path: Path) -> None:
    tool = Tool("serving", ("sglang.newer.serving", "sglang.benchmark.serving"))

    with started(environment, tmp_path, tool) as running:
        assert passed(running, tmp_path, "one").rc == 0


def test_a_client_that_is_killed_is_noticed(environment: dict[str, str], tmp_path: Path) -> None:
    with started(environment, tmp_path) as running:
        running._process.kill()

        with pytest.raises(ClientBrokenError, match="gone"):
            passed(running, tmp_path, "one")


def test_a_client_sees_little_of_the_runners_environment(tmp_path: Path) -> None:
    seen = client_environment(
        {"PATH": "/bin", "KUNLINE_TOKEN": "secret", "SGLANG_IS_IN_CI": "1", "PYTHONPATH": "/x"},
        home=tmp_path,
    )

    assert seen["PATH"] == "/bin"
    assert seen["HOME"] == str(tmp_path)
    assert not {"KUNLINE_TOKEN", "SGLANG_IS_IN_CI", "PYTHONPATH"} & set(seen)


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@contextmanager
def taken(
    standing: StandingClient, folder: Path, environment: dict[str, str], tool: Tool = TOOL
) -> Iterator[Client]:
    """Take a client for a launch in a folder of its own."""
    folder.mkdir()
    python, ready = Path(sys.executable), partial(Client.wait_ready, limit_s=30, stopped=bool)
    with standing.taken(python, [tool], folder, variables=environment, ready=ready) as running:
        yield running


@pytest.fixture
def standing(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[StandingClient]:
    """Give what keeps a client, that may see where the tool's stand-in lies."""
    monkeypatch.setattr(client_module, "PASSED_ON", tuple(environment))
    found = StandingClient()
    yield found
    found.end()


def test_launches_that_follow_each_other_pay_for_one_import(
    environment: dict[str, str], tmp_path: Path, standing: StandingClient
) -> None:
    pids = set()
    for name in ("first", "second"):
        with taken(standing, tmp_path / name, environment) as running:
            assert passed(running, tmp_path / name, "one").rc == 0
            pids.add(running._process.pid)
        standing.end_where_idle(60)

    assert (tmp_path / "imports").read_text() == "imported\n"
    assert all(alive(pid) for pid in pids)
    standing.end_where_idle(0)
    assert not any(alive(pid) for pid in pids)


def test_launches_that_take_turns_with_two_tools_come_to_share_a_client(
    environment: dict[str, str], tmp_path: Path, standing: StandingClient
) -> None:
    batch = Tool("batch", TOOL.modules)
    for number, tool in enumerate((TOOL, batch, TOOL, batch)):
        with taken(standing, tmp_path / str(number), environment, tool):
            pass

    assert (tmp_path / "imports").read_text() == "imported\n" * 2


OLDER = Tool("serving", ("sglang.newer.serving", "sglang.benchmark.serving"))


@pytest.mark.parametrize(
    ("spoilt", "tool"),
    [
        pytest.param("nothing", OLDER, id="another tool is asked for"),
        pytest.param("process", TOOL, id="its process is gone"),
        pytest.param("folder", TOOL, id="the folder that it was started in is gone"),
        pytest.param("launch", TOOL, id="its launch failed"),
    ],
)
def test_a_client_that_does_not_serve_is_started_anew(
    environment: dict[str, str], tmp_path: Path, standing: StandingClient, spoilt: str, tool: Tool
) -> None:
    with suppress(ZeroDivisionError), taken(standing, tmp_path / "first", environment) as running:
        first = running._process
        if spoilt == "process":
            first.kill()
            first.wait()
        if spoilt == "launch":
            raise ZeroDivisionError
    if spoilt == "folder":
        shutil.rmtree(tmp_path / "first")

    with taken(standing, tmp_path / "second", environment, tool) as running:
        assert running._process.pid != first.pid
        assert passed(running, tmp_path, "one").rc == 0
    assert not alive(first.pid)


def test_a_client_that_cannot_import_breaks_its_launch_and_none_stays(
    environment: dict[str, str], tmp_path: Path, standing: StandingClient
) -> None:
    absent = Tool("serving", ("sglang.nowhere",))

    with (
        pytest.raises(ClientBrokenError, match="No module named"),
        taken(standing, tmp_path / "first", environment, absent),
    ):
        pass
    with taken(standing, tmp_path / "second", environment) as running:
        assert running.ready
