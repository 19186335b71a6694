"""Every component that can be found out is, from inside the measured Python, and drift is named."""

import ast
import mmap
import os
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from runners.stacks.facts import PROBE, StackFacts, stack_facts
from runners.stacks.measured import ProbeError
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope, drift
from tests.measured_python import kunlun_site

PYTHON = Path(sys.executable)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("image")
    kunlun_site(made)
    return made


@pytest.fixture(scope="module")
def facts(folder: Path) -> StackFacts:
    variables = {"PYTHONPATH": str(folder / "site")}
    return stack_facts(PYTHON, variables=variables, imports=("torch_xmlir",))


def layer_of(facts: StackFacts, name: str) -> Layer:
    return next(each.layer for each in facts.components if each.name == name)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        pytest.param("xre", "5.19.0.0", id="the runtime, from the vendor's dict"),
        pytest.param("xccl-build", "20260209_9", id="a build's name is no release"),
        pytest.param("xmlir-compile_date", "20260324", id="a key that no stack pins"),
        pytest.param("kunlun-ops", "0.1.205+223cef9e", id="a kernel package with its hash"),
        pytest.param("sglang-kunlun", "0.1.0+46b8c74", id="a plugin with its commit"),
        pytest.param("entry-point-kunlun", "sglang-kunlun: sglang_kunlun:activate", id="a point"),
    ],
)
def test_a_component_is_found_under_the_name_that_stacks_pin(
    facts: StackFacts, name: str, version: str
) -> None:
    assert facts.observed[name] == version


def test_each_component_lies_in_its_layer(facts: StackFacts) -> None:
    names = ("sglang", "sglang-kunlun", "kunlun-ops", "xre")

    assert [layer_of(facts, name) for name in names] == [
        Layer.SERVER,
        Layer.PLUGIN,
        Layer.OPERATOR,
        Layer.RUNTIME,
    ]


def test_the_origin_of_sglang_is_the_file_that_would_be_imported(
    facts: StackFacts, folder: Path
) -> None:
    assert facts.observed["origin-sglang"] == str(folder / "site/sglang/__init__.py")


def test_kernel_libraries_are_known_by_content_and_not_by_version_alone(facts: StackFacts) -> None:
    assert len(facts.observed["binaries-kunlun-ops"]) == 12


def test_nothing_is_imported_without_being_named(folder: Path) -> None:
    (folder / "bare").mkdir()
    (folder / "bare/torch_xmlir.py").write_text("raise SystemExit('it was imported')\n")
    variables = {"PYTHONPATH": f"{folder / 'bare'}{os.pathsep}{folder / 'site'}"}

    told = stack_facts(PYTHON, variables=variables)
    failed = stack_facts(PYTHON, variables=variables, imports=("torch_xmlir",))

    assert told.failed == {}
    assert failed.failed == {"torch_xmlir": "SystemExit: it was imported"}


def test_the_vendors_file_stands_in_for_a_module_that_is_not_imported(folder: Path) -> None:
    told = stack_facts(PYTHON, variables={"PYTHONPATH": str(folder / "site")})

    assert (told.observed["xre"], told.observed["xccl-build"]) == ("5.19.0.0", "20260209_9")


def test_the_libraries_of_a_live_process_are_known_by_content(tmp_path: Path) -> None:
    copies = []
    for number in (1, 2):
        path = tmp_path / str(number) / "libbkcl.so"
        path.parent.mkdir()
        path.write_bytes(b"library %d" % number)
        with path.open("rb") as stream:
            copies.append(mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ))

    told = stack_facts(PYTHON, variables={}, pid=os.getpid()).observed["library-libbkcl.so"]

    digests = sorted(sha256(b"library %d" % number).hexdigest()[:12] for number in (1, 2))
    assert told == " and ".join(digests)


def test_drift_is_told_field_by_field_and_the_unseen_is_none(facts: StackFacts) -> None:
    pins = {"xre": "5.13.0.0", "kunlun-ops": "0.0.1", "sglang": "0.5.17", "kunlun-driver": "5.1"}
    stack = Stack(
        "wanted",
        tuple(Component(n, v, Layer.PACKAGES, SwapScope.PROCESS) for n, v in pins.items()),
    )

    found = drift(stack, {**facts.observed, "kunlun-driver": "unknown(permission)"})

    assert [str(each) for each in found] == [
        "kunlun-ops: 0.0.1 ≠ 0.1.205+223cef9e",
        "xre: 5.13.0.0 ≠ 5.19.0.0",
    ]


def test_a_python_that_does_not_run_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="does not tell its components"):
        stack_facts(tmp_path / "python", variables={})


def test_the_probe_is_in_the_syntax_of_python_3_8() -> None:
    ast.parse(PROBE.read_text(), feature_version=(3, 8))
