"""Scripted faults of an emulated P800 host: each breaks its own layer, and nothing is left of it.

Emulated: no card was ever here. That a fault shows in this way is graded where the host makes it;
that it is named, remedied, ended and let go is what these tests show.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from typer.testing import CliRunner

from runners.cards import held_cards
from runners.devices.device import Card
from service.cli.main import main
from tests.e2e.p800_site import Site, serving_host
from tests.e2e.production import service_client
from tests.hosts.p800.host import HERE, EmulatedHost, emulated_host
from tests.hosts.p800.shrunk import shrunk_matrix
from tests.stand_in_engine import stand_in_engine

BROKEN = 5
# What a card that hangs is waited for, and what all others get, who need a fraction of it.
HANG_LIMIT_S, LIMIT_S = 8, 60
STACK = "p800-emulated"
# Each fault, the layer at which it is found, words of what is found, words of what to do.
FAULTS = [
    ("missing:1", "device", "2 cards are asked for, and 1 are here", "more cards"),
    ("node-gone:1", "device", "/dev/xpu1 is not there", "do what the finding says"),
    ("slice:1", "device", "card 1 has 24576 MiB, and a whole P800 has 98304", "finding says"),
    ("ecc:1", "device", "card 1 has 3 uncorrected memory errors", "do what the finding says"),
    ("hot:1", "device", "card 1 is at 97 C before any load", "cool"),
    ("stranger:1", "device", "card 1 is used by others", "end what else runs"),
    ("wrong-driver", "driver", "kunlun-driver: 5.0.21.47 ≠ 5.0.21.8", "install the driver"),
    ("drifted-kernel", "packages", "kunlun-ops: 0.1.205+223cef9e ≠ 0.0.1", "build the stack anew"),
    ("other-host", "memory", "torch is on 00000000", "sees other cards than xpu-smi names"),
    ("corrupt:1", "copy", "card 1: what comes back from the card is not", "out of service"),
    ("hung:1", "operator", "card 1: no answer after", "a bad card hangs in its first kernel"),
    ("stale-graph", "graph", "replay 2 of a captured product differs", "graphs off"),
    ("addr-window", "collectives", "addr_window not properly set", "BKCL_CHECK_AW"),
    ("wrong-sum", "collectives", "a wrong sum in all-reduce", "can be trusted"),
    ("slow-link", "collectives", "2.8 are the least", "links between the cards"),
    ("hook-gone", "plugin", "sglang.srt.distributed.Gone.all_reduce", "plugin's commit"),
]


@pytest.mark.parametrize(
    ("fault", "layer", "finding", "remedy"),
    [pytest.param(*row, id=f"{row[0]} breaks at {row[1]}") for row in FAULTS],
)
def test_a_fault_breaks_its_own_layer_and_nothing_is_left_of_it(
    fault: str,
    layer: str,
    finding: str,
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = emulated_host(tmp_path, cards=2, faults=[fault])

    limit_s = HANG_LIMIT_S if fault.startswith("hung") else LIMIT_S
    code, answer = _preflight(host, monkeypatch, limit_s=limit_s)

    broken = answer["layers"][-1]
    assert (code, answer["broken_at"]) == (BROKEN, layer), answer
    assert (broken["layer"], broken["state"]) == (layer, "broken")
    assert finding in broken["finding"]
    assert remedy in broken["remedy"]
    assert all(before["state"] != "broken" for before in answer["layers"][:-1])
    assert _left(tmp_path) == []
    _released(host)


@pytest.mark.parametrize("cards", [1, 2, 4, 8])
def test_a_host_without_a_fault_works_up_to_its_plugin(
    cards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = emulated_host(tmp_path, cards=cards)

    code, answer = _preflight(host, monkeypatch, cards=cards)

    states = {layer["layer"]: layer["state"] for layer in answer["layers"]}
    assert (code, answer["broken_at"]) == (0, None)
    assert states["plugin"] == states["operator"] == states["graph"] == "works"
    assert states["collectives"] == ("works" if cards > 1 else "skipped")
    assert _left(tmp_path) == []


def test_a_torch_that_counts_in_another_order_is_joined_and_a_bad_card_is_named_by_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = emulated_host(tmp_path, cards=4, faults=["other-order", "corrupt:1"])

    code, answer = _preflight(host, monkeypatch, cards=2)

    seen = {layer["layer"]: layer["finding"] for layer in answer["layers"]}
    assert "torch counts card 0 as cuda:3, card 1 as cuda:2" in seen["memory"]
    assert (code, answer["broken_at"]) == (BROKEN, "copy")
    assert seen["copy"].startswith("card 1: what comes back")


def test_a_link_slower_than_its_peers_is_named_and_nothing_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = emulated_host(tmp_path, cards=3, faults=["slow-pair:0_2"])

    code, answer = _preflight(host, monkeypatch, cards=3)

    broken = answer["layers"][-1]
    assert (code, answer["broken_at"]) == (BROKEN, "collectives"), answer
    assert "the link of cards 0 and 2 (XL) runs at" in broken["finding"]
    assert "the median of its peers is" in broken["finding"]
    assert "cards 0 and 1" not in broken["finding"]
    assert _left(tmp_path) == []
    _released(host)


def test_an_image_is_looked_at_from_inside_where_its_one_card_is_number_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = emulated_host(tmp_path / "host", cards=2)
    engine = stand_in_engine(tmp_path / "engine")
    monkeypatch.setenv("PATH", str(engine), prepend=os.pathsep)
    stack = yaml.safe_load((HERE / f"{STACK}.yaml").read_text(encoding="utf-8"))
    stack["build"] = {
        "kind": "container",
        "image": "emulated/p800:1",
        "digest": f"sha256:{'a' * 64}",
        "python": str(host.python),
    }

    with held_cards(
        [Card(0, "P800", "OAM")], chip="kunlun", count=1, folder=host.folder / "locks", wait_s=0
    ):
        code, answer = _preflight(host, monkeypatch, cards=1, stack=stack)

    seen = {layer["layer"]: layer["finding"] for layer in answer["layers"]}
    assert (code, answer["broken_at"]) == (0, None), answer
    assert "torch counts card 1 as cuda:0" in seen["memory"]
    calls = [json.loads(line) for line in (engine / "calls.jsonl").read_text("utf-8").splitlines()]
    ran = [" ".join(words) for words in calls if words[0] == "run"]
    assert ran
    assert all("--device /dev/xpu1 --device /dev/xpuctrl " in words for words in ran)
    assert _left(tmp_path) == []


def test_cards_that_a_runner_holds_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = emulated_host(tmp_path, cards=2)

    with held_cards(
        [Card(1, "P800", "OAM")], chip="kunlun", count=1, folder=tmp_path / "locks", wait_s=0
    ):
        code, answer = _preflight(host, monkeypatch)

    assert (code, answer) == (1, None)


# What takes a server along, where that is found, and words of what is found and of what to do.
SERVER_FAULTS = [
    ("oom-at-load", "memory", "out of memory", "lower mem-fraction-static"),
    ("oom-under-load", "memory", "out of memory", "lower mem-fraction-static"),
    ("dead-mid-run", "server", "the server", "read the whole log"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("p800")
    host = serving_host(folder / "host", cards=1)
    found = Site(folder, host)
    try:
        found.open({"one": 1})
        with service_client(found.port):
            yield found
    finally:
        found.stop()


@pytest.mark.sglang
@pytest.mark.redis
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("fault", "layer", "finding", "remedy"),
    [pytest.param(*row, id=f"{row[0]} breaks at {row[1]}") for row in SERVER_FAULTS],
)
def test_a_fault_of_a_server_is_a_result_and_nothing_is_left_of_it(
    fault: str, layer: str, finding: str, remedy: str, site: Site, tmp_path: Path
) -> None:
    folder = site.host.folder
    serving_host(folder, cards=1, faults=[fault])
    matrix = shrunk_matrix(tmp_path / "matrix", ["p800-single"], tp=1)

    running = site.run("p800-single", matrix)
    told = json.loads(running.communicate(timeout=600)[0])

    page = site.asked("runs", "--session", told["session_id"])
    broken = [run for run in page["runs"] if run["state"] == "broken"]
    one = site.asked("runs", broken[-1]["id"])
    assert running.returncode == BROKEN
    assert one["broken"]["layer"] == layer
    assert finding in one["broken"]["finding"]
    assert remedy in one["broken"]["remedy"]
    assert not [note for note in (folder / "processes").glob("*") if _lives(note.name)]


def _lives(pid: str) -> bool:
    return psutil.pid_exists(int(pid)) and psutil.Process(int(pid)).status() != "zombie"


def _preflight(
    host: EmulatedHost,
    monkeypatch: pytest.MonkeyPatch,
    *,
    cards: int = 2,
    limit_s: int = LIMIT_S,
    stack: Mapping[str, Any] | None = None,
) -> tuple[int, Any]:
    for name, value in host.variables.items():
        if name == "PATH":
            monkeypatch.setenv(name, str(host.folder / "bin"), prepend=os.pathsep)
        else:
            monkeypatch.setenv(name, value)
    stacks = host.folder / "matrix" / "stacks"
    stacks.mkdir(parents=True)
    shutil.copy(HERE / f"{STACK}.yaml", stacks)
    if stack is not None:
        (stacks / f"{STACK}.yaml").write_text(yaml.safe_dump(stack), encoding="utf-8")
    words = ["preflight", "--matrix", str(stacks.parent), "--stack", STACK, "--json"]
    words += ["--cards", str(cards), "--limit", str(limit_s)]
    done = CliRunner().invoke(main, words)
    return done.exit_code, json.loads(done.stdout) if done.stdout else None


def _left(folder: Path) -> list[list[str]]:
    """Return the command lines of processes that were started for a host and live still."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(str(folder) in word for word in words):
            found.append(words)
    return found


def _released(host: EmulatedHost) -> None:
    cards = [Card(number, "P800", "OAM") for number in (0, 1)]
    with held_cards(cards, chip="kunlun", count=2, folder=host.folder / "locks", wait_s=0) as held:
        assert len(held) == 2
