"""What a Kunlun server's variables may say, and where a wrong one is told."""

from pathlib import Path

import pytest

from service.cli.matrix import matrix_problems
from service.domain.server_environment import environment_problems, launch_problems
from service.domain.stack import SwapScope
from service.formats.chosen_stacks import chosen
from service.formats.identities import ContainerOrder, HostOrder
from service.formats.matrix_files import read_matrix
from tests.matrix_directory import matrix_directory

DIGEST = "sha256:" + "a" * 64
STACK = """\
name: p800
chip: kunlun
built_at: 2026-08-03
build: {kind: host, python: python3}
launch: {program: sglang-kunlun-launch}
components:
  - {name: sglang, version: "0.5.17", layer: server, scope: process}
server:
  arguments: {attention-backend: kunlun}
  environment:
    XPU_USE_DEFAULT_CTX: "1"
verified: {state: unverified}
"""


def told(root: Path, stack: str) -> list[str]:
    matrix = read_matrix(matrix_directory(root, stacks__p800=stack))
    prefix = f"{root}/stacks/p800.yaml:"
    found = [str(problem) for problem in matrix_problems(matrix)]
    return [line.removeprefix(prefix) for line in found if line.startswith(prefix)]


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        pytest.param("BKCL_DEBUG", "1", "INFO", id="a debug level in words"),
        pytest.param("BKCL_CHECK_AW", "0", "false", id="false, which is not 0"),
        pytest.param("XMLIR_FORCE_USE_XPU_GRAPH", "1", "true", id="true, which is no int"),
        pytest.param("XMLIR_ENABLE_LINEAR_FC_FUSION", "0", "off", id="off, which is no int"),
        pytest.param("XMLIR_USE_HYDRA_LINEAR", "1", "yes", id="yes, which is not 1"),
        pytest.param("XMLIR_DISABLE_CUDA_ALLOCATOR", "0", "1", id="an allocator without symbols"),
        pytest.param("USE_FAST_ALLOC_EXTEND_KUNLUN", "0", "False", id="False, which means yes"),
        pytest.param("SGLANG_IS_FLASHINFER_AVAILABLE", "False", "maybe", id="neither yes nor no"),
        pytest.param("XPU_RUN_MODE", None, "INFER-BF16", id="what writes hardware registers"),
        pytest.param("XPU_DUMMY_EVENT", None, "1", id="events that tell no time"),
        pytest.param("XPURT_DISPATCH_MODE", None, "PROFILING", id="profiling"),
        pytest.param("BKCL_TIMEOUT", "360000", "10min", id="a time in words"),
    ],
)
def test_a_value_that_its_reader_does_not_take_is_told(
    name: str, right: str | None, wrong: str
) -> None:
    assert right is None or environment_problems({name: right}) == {}
    assert name in environment_problems({name: wrong})


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        pytest.param({}, set(), id="neither"),
        pytest.param(
            {"CUDA_VISIBLE_DEVICES": "0,1", "XPU_VISIBLE_DEVICES": "0,1"}, set(), id="both alike"
        ),
        pytest.param(
            {"CUDA_VISIBLE_DEVICES": "0,1", "XPU_VISIBLE_DEVICES": "0,2"},
            {"CUDA_VISIBLE_DEVICES"},
            id="two lists",
        ),
        pytest.param({"XPU_VISIBLE_DEVICES": "0"}, {"XPU_VISIBLE_DEVICES"}, id="one alone"),
        pytest.param(
            {"CUDA_VISIBLE_DEVICES": "0,0", "XPU_VISIBLE_DEVICES": "0,0"},
            {"CUDA_VISIBLE_DEVICES", "XPU_VISIBLE_DEVICES"},
            id="a card twice",
        ),
    ],
)
def test_both_lists_of_visible_cards_are_alike(
    environment: dict[str, str], named: set[str]
) -> None:
    assert set(environment_problems(environment)) == named


def test_a_variable_that_no_rule_knows_may_say_anything() -> None:
    assert environment_problems({"OMP_NUM_THREADS": "many"}) == {}


@pytest.mark.parametrize(
    ("program", "environment", "named"),
    [
        ("sglang-kunlun-launch", {"SGLANG_PLATFORM": "kunlun"}, ["SGLANG_PLATFORM"]),
        (None, {"SGLANG_PLATFORM": "kunlun"}, []),
        (None, {"SGLANG_PLUGINS": "kunlun_hooks"}, ["SGLANG_PLUGINS"]),
        ("sglang-kunlun-launch", {"SGLANG_PLUGINS": "kunlun_hooks"}, []),
    ],
    ids=[
        "set before torch",
        "set for the server",
        "plugins without platform",
        "set by the launcher",
    ],
)
def test_the_platform_is_set_by_the_launcher_or_by_the_stack(
    program: str | None, environment: dict[str, str], named: list[str]
) -> None:
    assert list(launch_problems(program, environment)) == named


def test_a_stack_on_a_host_with_its_launcher_is_in_order(tmp_path: Path) -> None:
    assert told(tmp_path, STACK) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param(
            'XPU_USE_DEFAULT_CTX: "1"',
            'BKCL_DEBUG: "INFO"',
            "11: server.environment.BKCL_DEBUG: must be a whole number: the library reads it with "
            "std::stoi, and a word crashes the first collective (C)",
            id="a word for a number",
        ),
        pytest.param(
            'XPU_USE_DEFAULT_CTX: "1"',
            "SGLANG_PLATFORM: kunlun",
            "11: server.environment.SGLANG_PLATFORM: sglang-kunlun-launch sets it after it has "
            "imported torch; set before, it can corrupt the allocator (A): leave it out",
            id="a platform that the launcher sets",
        ),
        pytest.param(
            "kind: host, python: python3",
            "kind: host, pyton: python3",
            "4: build.pyton: no such field; did you mean 'python'?",
            id="a field of no kind of build",
        ),
        pytest.param(
            "kind: host, python: python3",
            "kind: container, image: registry.example.com:5000/a/b, digest: sha256:12",
            "4: build.digest: string should match pattern '^sha256:[0-9a-f]{64}$', not 'sha256:12'",
            id="a digest that is none",
        ),
        pytest.param(
            "kind: host, python: python3",
            "kind: hots, python: python3",
            "4: build: input tag 'hots' found using 'kind' does not match any of the expected "
            "tags: 'venv', 'host', 'container', not a map",
            id="a kind of build that is none",
        ),
        pytest.param(
            "program: sglang-kunlun-launch",
            "program: ../launch",
            "5: launch.program: string should match pattern '^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$', "
            "not '../launch'",
            id="a path for a program",
        ),
    ],
)
def test_a_wrong_stack_is_told_with_line_and_field(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert problem in told(tmp_path, STACK.replace(old, new))


def test_the_launcher_is_part_of_the_stack(tmp_path: Path) -> None:
    other = STACK.replace("program: sglang-kunlun-launch", "expects: []")
    root = matrix_directory(
        tmp_path, stacks__p800=STACK, stacks__other=other.replace("p800", "other")
    )
    matrix = read_matrix(root)
    one, two = chosen(matrix, "p800"), chosen(matrix, "other")

    assert one.stack.versions["launcher"] == "sglang-kunlun-launch"
    assert one.stack.key != two.stack.key
    assert (one.obstacle, one.order().build) == (None, HostOrder(python="python3"))
    assert one.order().launch.program == "sglang-kunlun-launch"


def test_an_image_is_part_of_the_stack_by_its_digest(tmp_path: Path) -> None:
    section = f"kind: container, image: xpu/sglang:1, digest: '{DIGEST}'"
    root = matrix_directory(
        tmp_path, stacks__p800=STACK.replace("kind: host, python: python3", section)
    )
    order = chosen(read_matrix(root), "p800").order()

    (image,) = [part for part in order.stack.components if part.name == "image"]
    assert (image.version, image.scope) == (f"xpu/sglang:1@{DIGEST}", SwapScope.CONTAINER)
    assert isinstance(order.build, ContainerOrder)


def test_an_image_pinned_twice_must_be_pinned_alike(tmp_path: Path) -> None:
    section = f"kind: container, image: xpu/sglang:1, digest: '{DIGEST}'"
    line = "  - {name: image, version: xpu/sglang:2, layer: runtime, scope: container}\nserver:"
    stack = STACK.replace("kind: host, python: python3", section).replace("server:\n", line + "\n")

    assert "leave the component out" in told(tmp_path, stack)[0]
