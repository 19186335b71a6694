"""`kunline stack capture` and `stack check`: a host as a stack file, and held to one."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from service.cli.main import main
from service.formats.matrix_files import read_stack
from tests.matrix_directory import matrix_directory
from tests.measured_python import kunlun_site
from tests.xpu_smi import shown, stand_in_host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point this process and its children at a stand-in host of two cards."""
    site = kunlun_site(tmp_path)
    variables = {**stand_in_host(tmp_path, shown(2)), "PYTHONPATH": str(site)}
    for name, value in {**variables, "KUNLINE_CACHE_DIR": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["stack", *words])


def captured(matrix: Path, *more: str) -> Path:
    words = ("--python", sys.executable, "--out", str(matrix / "stacks"), *more)
    done = run("capture", "our-p800", *words)
    assert done.exit_code == 0, done.output
    return matrix / "stacks/our-p800.yaml"


def test_a_captured_stack_passes_the_check_of_the_matrix_and_has_no_drift_on_its_host(
    host: Path,
) -> None:
    matrix = matrix_directory(host / "matrix")

    path = captured(matrix, "--import", "torch_xmlir")
    checked = CliRunner().invoke(main, ["matrix", "check", str(matrix)])
    held = run("check", "our-p800", "--matrix", str(matrix), "--import", "torch_xmlir")

    assert checked.exit_code == 0, checked.output
    assert held.exit_code == 0, held.output
    stack = read_stack(path)[0].shape.stack(None)
    pinned = {each.name: each.version for each in stack.components if not each.recorded}
    assert pinned["kunlun-driver"] == "5.0.21.26"
    assert pinned["card-firmware"] == "1.0.2.14.1.48"
    assert pinned["sglang-kunlun"] == "0.1.0+46b8c74"
    assert pinned["xre"] == "5.19.0.0"
    assert "kunlun-driver-proc" not in pinned


def test_what_a_host_lacks_is_named_component_by_component(host: Path) -> None:
    matrix = matrix_directory(host / "matrix")
    path = captured(matrix)
    text = path.read_text()
    changed = text.replace("0.1.205+223cef9e", "0.0.1").replace(
        "version: 5.0.21.26", "version: 9.9.9"
    )
    more = "- {name: cocopod, version: 1.3.0, layer: operator, scope: process}\n"
    path.write_text(changed.replace("components:\n", f"components:\n{more}"))

    done = run("check", str(path), "--json")

    told = json.loads(done.stdout)
    assert done.exit_code == 5
    assert {(row["state"], row["component"], row["here"]) for row in told["lacking"]} == {
        ("drifted", "kunlun-driver", "5.0.21.26"),
        ("drifted", "kunlun-ops", "0.1.205+223cef9e"),
        ("missing", "cocopod", "(absent)"),
    }


def test_what_cannot_be_seen_is_listed_and_is_no_fault(host: Path) -> None:
    matrix = matrix_directory(host / "matrix")
    captured(matrix)
    (host / "xpu-smi").write_text("#!/bin/sh\nexit 1\n")

    done = run("check", "our-p800", "--matrix", str(matrix))

    assert done.exit_code == 0, done.output
    assert "not seen  card-firmware" in done.output
    assert "problem: " in done.output


def test_a_file_that_is_there_is_left_alone(host: Path) -> None:
    matrix = matrix_directory(host / "matrix")
    path = captured(matrix)
    path.write_text("mine")

    done = run("capture", "our-p800", "--python", sys.executable, "--out", str(path.parent))

    assert done.exit_code == 2
    assert path.read_text() == "mine"


def test_a_host_that_cannot_be_asked_is_no_verdict_on_it(host: Path) -> None:
    done = run("capture", "x", "--python", str(host / "no-python"))

    assert done.exit_code == 1
    assert "could not be asked" in done.output
