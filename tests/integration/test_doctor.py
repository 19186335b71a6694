"""`kunline preflight` and `kunline doctor` on an emulated P800 host, as a person calls them."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from runners.cards import held_host
from service.cli.main import main
from tests.hosts.p800.host import HERE, EmulatedHost, emulated_host
from tests.integration.databases import free_port

BROKEN = 5


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmulatedHost:
    return _entered(emulated_host(tmp_path / "host", cards=2), monkeypatch)


def _entered(host: EmulatedHost, monkeypatch: pytest.MonkeyPatch) -> EmulatedHost:
    for name, value in host.variables.items():
        monkeypatch.setenv(name, value)
    return host


def test_a_host_without_a_stack_is_looked_at_as_far_as_that_goes(
    host: EmulatedHost, tmp_path: Path
) -> None:
    done = CliRunner().invoke(
        main, ["preflight", "--chip", "kunlun", "--matrix", str(tmp_path), "--json"]
    )

    layers = {layer["layer"]: layer for layer in json.loads(done.stdout)["layers"]}
    assert done.exit_code == 0
    assert len(layers) == 16
    assert layers["device"]["state"] == "works"
    assert layers["operator"]["finding"].startswith("no stack is named")


def test_a_bundle_holds_what_was_printed_and_names_no_card(
    host: EmulatedHost, tmp_path: Path
) -> None:
    log = host.folder / "cache" / "launches" / "one" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text("connecting to redis://:swordfish@10.1.2.3/0\n", encoding="utf-8")
    path = tmp_path / "evidence.tar.gz"
    words = ["--chip", "kunlun", "--bundle", str(path), "--url", f"http://127.0.0.1:{free_port()}"]

    done = CliRunner().invoke(main, ["doctor", *words, "--json"])

    with tarfile.open(path) as archive:
        texts = {
            Path(member.name).name: (archive.extractfile(member) or path.open("rb")).read().decode()
            for member in archive.getmembers()
        }
    whole = "\n".join(texts.values())
    assert path.stat().st_mode & 0o077 == 0
    assert "Product Name                          : P800 OAM" in texts["xpu-smi-q.txt"]
    assert "XPU0" in texts["xpu-smi-topo-m.txt"]
    assert json.loads(texts["device.json"])["facts"]["kunlun-driver"] == "5.0.21.47"
    assert json.loads(texts["preflight.json"])["broken_at"] is None
    assert not any(word in whole for word in ("EMULATED0", "00000000-0000-4000", "swordfish"))
    assert "10.1.2.3" not in whole
    # Two cards keep two names, so that what belongs together can still be told.
    assert texts["xpu-smi-q.txt"].count("GPU-<uuid ") == 2
    amiss = json.loads(done.stdout)["amiss"]
    assert done.exit_code == BROKEN
    assert [line.split(":")[0] for line in amiss] == ["no service answers at http"]


def test_a_bundle_of_a_stack_says_what_its_python_saw_and_names_no_card_there_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _entered(emulated_host(tmp_path / "host", cards=1, faults=["other-host"]), monkeypatch)
    stacks = tmp_path / "matrix" / "stacks"
    stacks.mkdir(parents=True)
    shutil.copy(HERE / "p800-emulated.yaml", stacks)
    path = tmp_path / "evidence.tar.gz"
    words = ["--stack", "p800-emulated", "--matrix", str(stacks.parent), "--bundle", str(path)]

    done = CliRunner().invoke(main, ["doctor", *words])

    with tarfile.open(path) as archive:
        names = ("preflight.json", "amiss.txt")
        files = [archive.extractfile(f"kunline-evidence/{name}") for name in names]
        texts = [file.read().decode() for file in files if file]
    assert done.exit_code == BROKEN
    assert json.loads(texts[0])["broken_at"] == "memory"
    assert all("torch is on <uuid " in text for text in texts)
    assert not any("00000000-0000-4000" in text for text in texts)


def test_a_bundle_says_why_a_host_could_not_be_looked_at(
    host: EmulatedHost, tmp_path: Path
) -> None:
    path = tmp_path / "evidence.tar.gz"
    words = ["--chip", "kunlun", "--bundle", str(path)]

    with held_host(Path(host.variables["KUNLINE_LOCK_DIR"]), alone=True):
        done = CliRunner().invoke(main, ["doctor", *words])

    with tarfile.open(path) as archive:
        preflight = archive.extractfile("kunline-evidence/preflight.json")
        why = json.loads(preflight.read())["error"] if preflight else ""
    assert done.exit_code == BROKEN
    assert why in done.stdout
    assert why.startswith("this host was not looked at: another runner of this host measures")


def test_what_is_amiss_with_a_card_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _entered(emulated_host(tmp_path, cards=2, faults=["ecc:1"]), monkeypatch)

    done = CliRunner().invoke(main, ["doctor", "--chip", "kunlun"])

    assert done.exit_code == BROKEN
    assert "card 1 has 3 uncorrected memory errors" in done.stdout
