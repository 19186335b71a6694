"""What is started under the keeper is gone when it should be, with all of its descendants."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from runners.stacks.kept import KEEPER, Kept, NotStartedError, kept, tail

PROJECT = Path(__file__).parents[2]
PATIENCE_S = 15.0

SLEEPS = "import time; time.sleep(300)"
IGNORES_TERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"

# Each writes its own process id and those of what it starts into the file it is given.
TREE = """
import subprocess, sys, os
inner = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\\\n'); time.sleep(300)"
children = [subprocess.Popen([sys.executable, "-c", inner, sys.argv[1]]) for _ in range(2)]
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
for child in children: child.wait()
"""
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
        time.sleep(300)
    os._exit(0)
os.wait()
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
time.sleep(300)
"""


CHAIN_S = 1.5

# A chain of processes, each of which forks the next and ends: a list of the living misses some.
FLEEING = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "a").write("1\\n")
until = time.monotonic() + 1.5
while time.monotonic() < until:
    if os.fork():
        os._exit(0)
time.sleep(300)
"""


# The keeper, where a command is always over before it is looked at.
SLOW_KEEPER = """
import os, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import keeper
class Slow(subprocess.Popen):
    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        time.sleep(0.5)
subprocess.Popen = Slow
sys.exit(keeper.main([str(os.pipe()[0]), "1", "sh", "-c", "exit 7"]))
"""


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def written(pids: Path, count: int) -> list[int]:
    wait_until(lambda: pids.exists() and len(pids.read_text().split()) == count)
    return [int(pid) for pid in pids.read_text().split()]


def living(pids: list[int]) -> list[int]:
    return [
        pid
        for pid in pids
        if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]


def python(*words: str) -> list[str]:
    return [sys.executable, "-c", *words]


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    with kept(python("raise SystemExit(7)"), environment={}, log=tmp_path / "log") as process:
        code = process.wait(PATIENCE_S)

    assert code == 7


def test_a_command_that_a_signal_ends_has_128_and_the_signal_as_its_code(tmp_path: Path) -> None:
    with kept(python(SLEEPS), environment={}, log=tmp_path / "log") as process:
        os.kill(process.pid, signal.SIGKILL)
        code = process.wait(PATIENCE_S)

    assert code == 128 + signal.SIGKILL


def test_both_outputs_of_the_command_are_in_the_log(tmp_path: Path) -> None:
    speaks = "import sys; print('said'); sys.stdout.flush(); sys.stderr.write('warned')"
    with kept(python(speaks), environment={}, log=tmp_path / "log") as process:
        process.wait(PATIENCE_S)

    assert tail(tmp_path / "log") == "said\nwarned"


def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(NotStartedError, match="no-such-program"),
        kept(["/no-such-program"], environment={}, log=tmp_path / "log"),
    ):
        pass


@pytest.mark.parametrize(
    ("program", "count"),
    [
        pytest.param(TREE, 3, id="children in the same group"),
        pytest.param(DAEMON, 2, id="a daemon in a session of its own that ignores TERM"),
    ],
)
def test_leaving_ends_every_descendant(tmp_path: Path, program: str, count: int) -> None:
    log, pids = tmp_path / "log", tmp_path / "pids"
    with kept(python(program, str(pids)), environment={}, log=log, grace_s=0.5):
        started = written(pids, count)
        assert living(started) == started

    assert living(started) == []


def test_what_ignores_term_is_killed_after_the_grace(tmp_path: Path) -> None:
    begun = time.monotonic()
    with kept(python(IGNORES_TERM), environment={}, log=tmp_path / "log", grace_s=0.5) as process:
        time.sleep(0.3)
        pid = process.pid

    assert living([pid]) == []
    assert time.monotonic() - begun < PATIENCE_S


def test_a_chain_that_forks_on_while_it_is_being_ended_leaves_nobody(tmp_path: Path) -> None:
    mark = f"KUNLINE_TEST_MARK={tmp_path}"
    started = tmp_path / "started"
    command = python(FLEEING, str(started))

    with kept(command, environment=dict([mark.split("=", 1)]), log=tmp_path / "log", grace_s=0.2):
        wait_until(started.exists)

    # Whoever fled this long stands still by now, and is found.
    time.sleep(CHAIN_S)
    assert bearing(mark) == []


def bearing(mark: str) -> list[int]:
    """Return the processes that were started with a variable, whoever their parent is now."""
    found = []
    for process in psutil.process_iter():
        try:
            variables = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in variables:
            found.append(process.pid)
    return found


def test_what_a_dead_command_leaves_behind_is_ended_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    leaves_a_child = f"""
import os, sys, time
if os.fork() == 0:
    open({str(pids)!r}, "a").write(f"{{os.getpid()}}\\n")
    time.sleep(300)
while not os.path.exists({str(pids)!r}): time.sleep(0.01)
"""
    with kept(python(leaves_a_child), environment={}, log=tmp_path / "log") as process:
        (child,) = written(pids, 1)
        code = process.wait(PATIENCE_S)

    assert code == 0
    assert living([child]) == []


@pytest.mark.parametrize("program", [TREE, DAEMON], ids=["tree", "daemon"])
def test_kill_9_of_the_runner_leaves_nobody_behind(tmp_path: Path, program: str) -> None:
    pids = tmp_path / "pids"
    runner = subprocess.Popen(
        python(
            textwrap.dedent(
                """
                import sys, time
                from pathlib import Path
                from runners.stacks.kept import kept
                command, log = sys.argv[2:], Path(sys.argv[1])
                with kept(command, environment={}, log=log, grace_s=0.5):
                    time.sleep(300)
                """
            ),
            str(tmp_path / "log"),
            *python(program, str(pids)),
        ),
        cwd=PROJECT,
    )
    started = written(pids, 3 if program is TREE else 2)
    keeper = psutil.Process(started[-1]).ppid()

    runner.kill()
    runner.wait(PATIENCE_S)

    wait_until(lambda: living([*started, keeper]) == [])


def test_kill_9_of_the_keeper_takes_the_command_and_its_group_down(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with kept(python(TREE, str(pids)), environment={}, log=tmp_path / "log") as process:
        started = written(pids, 3)
        kill_keeper(process)

    wait_until(lambda: living(started) == [])


def kill_keeper(process: Kept) -> None:
    process.keeper.kill()
    process.keeper.wait(PATIENCE_S)


def test_a_secret_that_is_printed_never_reaches_the_disk(tmp_path: Path) -> None:
    log = tmp_path / "log"
    prints = "print('ready, --api-key hf_abcdefghijklmnopqrstuvwxyz012345', flush=True)"
    with kept(python(f"{prints}; {SLEEPS}"), environment={}, log=log, grace_s=0.5):
        wait_until(lambda: log.stat().st_size > 0)
        while_it_runs = log.read_text()

    assert while_it_runs.startswith("ready, --api-key")
    assert "hf_" not in while_it_runs
    assert log.read_text() == while_it_runs


def test_the_log_is_whole_once_the_command_is_over(tmp_path: Path) -> None:
    log = tmp_path / "log"
    prints = "for number in range(20000): print(number)"
    with kept(python(prints), environment={}, log=log) as process:
        code = process.wait(PATIENCE_S)
        lines = log.read_text().splitlines()

    assert code == 0
    assert lines == [str(number) for number in range(20000)]


def test_a_full_disk_is_told_and_holds_no_command_up(tmp_path: Path) -> None:
    finished = tmp_path / "finished"
    prints = f"print('x' * 1000000); open({str(finished)!r}, 'w').close()"

    def run() -> None:
        with kept(python(prints), environment={}, log=Path("/dev/full")) as process:
            process.wait(PATIENCE_S)

    with pytest.raises(OSError, match="No space left"):
        run()
    assert finished.exists()


def test_a_tail_is_the_last_lines_that_say_something(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\n\ntwo\n\n\nthree\n\n")

    assert tail(log, lines=2) == "two\nthree"


def test_a_command_that_is_over_at_once_is_not_waited_for_forever() -> None:
    command = [sys.executable, "-c", SLOW_KEEPER, str(KEEPER.parent)]

    ended = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE_S)

    assert ended.returncode == 7
