"""Wheels of a gate: found, held to their names, pinned by content, and put together again."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from runners.stacks.environment import Recipe
from runners.stacks.wheels import WheelDamagedError, as_ordered, put_together
from service.cli import gate_wheels
from service.cli.gate_wheels import PART_BYTES, wheel_of, wheel_of_commit
from service.formats.chosen_stacks import OverrideError, chosen, with_wheel
from service.formats.identities import BuildOrder, ContainerOrder, HostOrder
from service.formats.matrix_files import read_matrix
from tests.made_wheel import made_wheel

WHEEL = "kunline_sglang_cpu-0.2.0-py3-none-any.whl"
PLUGIN = "kunline-sglang-cpu"
MATRIX = Path(__file__).parents[2] / "matrix"


def plugin(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """Write a wheel of our plugin."""
    return made_wheel(folder, PLUGIN, "0.2.0", files)


def test_a_wheel_is_pinned_by_its_content_and_travels_in_parts(tmp_path: Path) -> None:
    text = "".join(map(str, range(PART_BYTES // 5)))
    content = plugin(tmp_path, {"large.py": text}).read_bytes()

    found = wheel_of(PLUGIN, f"{tmp_path}/*.whl")

    digest = sha256(content).hexdigest()
    assert found.order.digest == digest
    assert found.order.version == f"0.2.0+whl.{digest[:12]}"
    assert len(found.order.parts) == 2
    assert put_together(found.order, found.parts.__getitem__) == content
    assert (found.told.kind, found.told.version) == ("wheel", found.order.version)


def test_a_wheel_whose_parts_are_others_is_refused(tmp_path: Path) -> None:
    plugin(tmp_path)
    found = wheel_of(PLUGIN, str(tmp_path / WHEEL))

    with pytest.raises(WheelDamagedError, match="upload it again"):
        put_together(found.order, lambda _: b"something else")


def test_a_wheel_with_a_local_version_keeps_it(tmp_path: Path) -> None:
    made_wheel(tmp_path, "torch", "2.9.0+cu129")

    assert wheel_of("torch", f"{tmp_path}/torch*.whl").order.version.startswith("2.9.0+cu129.whl.")


@pytest.mark.parametrize(
    ("component", "pattern", "message"),
    [
        pytest.param(PLUGIN, "none-*.whl", "no such file", id="no file"),
        pytest.param(PLUGIN, "*.whl", "2 files", id="two files"),
        pytest.param("sglang", WHEEL, "not of sglang", id="another component's"),
        pytest.param(PLUGIN, "odd.whl", "not named as wheels are", id="no wheel's name"),
    ],
)
def test_what_is_not_one_wheel_of_the_component_is_refused(
    tmp_path: Path, component: str, pattern: str, message: str
) -> None:
    (tmp_path / WHEEL).write_bytes(b"1")
    (tmp_path / "odd.whl").write_bytes(b"2")

    with pytest.raises(OverrideError, match=message):
        wheel_of(component, f"{tmp_path}/{pattern}")


@pytest.mark.parametrize(
    "content", [b"", b"<html>404</html>", b"PK\x05\x06" + bytes(18)], ids=["empty", "a page", "zip"]
)
def test_what_only_bears_a_wheels_name_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / WHEEL).write_bytes(content)

    with pytest.raises(OverrideError, match="is no wheel, or a damaged one"):
        wheel_of(PLUGIN, str(tmp_path / WHEEL))


def test_a_wheel_compressed_in_a_way_nobody_here_knows_is_refused(tmp_path: Path) -> None:
    content = bytearray(plugin(tmp_path).read_bytes())
    # The method's field in each local header and in each entry of the directory.
    for head, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.find(head)
        while at >= 0:
            content[at + offset : at + offset + 2] = (99).to_bytes(2, "little")
            at = content.find(head, at + 1)
    (tmp_path / WHEEL).write_bytes(content)

    with pytest.raises(OverrideError, match=r"a damaged one: .*compression"):
        wheel_of(PLUGIN, str(tmp_path / WHEEL))


def test_a_wheel_that_was_renamed_is_refused(tmp_path: Path) -> None:
    made_wheel(tmp_path, PLUGIN, "0.2.0", inside="0.1.0")

    with pytest.raises(OverrideError, match=r"has kunline-sglang-cpu 0\.1\.0 in it"):
        wheel_of(PLUGIN, str(tmp_path / WHEEL))


def test_a_commit_is_built_as_it_was_committed(tmp_path: Path) -> None:
    commit = _repository(tmp_path)
    (tmp_path / "small.py").write_text("CHANGED = True\n")

    found = wheel_of_commit("small", "git:HEAD", source=tmp_path)

    assert (found.told.kind, found.told.commit) == ("git", commit)
    assert found.order.file == "small-1.0-py3-none-any.whl"
    assert b"CHANGED" not in b"".join(found.parts.values())


def test_a_commit_that_is_not_there_says_how_it_would_be(tmp_path: Path) -> None:
    _repository(tmp_path)

    with pytest.raises(
        OverrideError, match=r"no such commit in .*fetch-depth: 0.*GIT_DEPTH: 0.*--source"
    ) as refused:
        wheel_of_commit("small", "git:0123", source=tmp_path)

    assert "fatal" not in str(refused.value)


def test_a_folder_that_is_no_repository_is_told_in_gits_words(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    with pytest.raises(OverrideError, match=r"not a git repository.*; --source names"):
        wheel_of_commit("small", "git:HEAD", source=tmp_path)


def test_a_stack_with_a_wheel_has_another_key_and_its_build_brings_it(tmp_path: Path) -> None:
    plugin(tmp_path)
    stack = chosen(read_matrix(MATRIX), "cpu-sglang-0.5.23")
    wheel = wheel_of(PLUGIN, str(tmp_path / WHEEL)).order

    changed = with_wheel(stack, wheel)

    assert changed.stack.key != stack.stack.key
    assert changed.stack.versions[PLUGIN] == wheel.version
    assert isinstance(changed.build, BuildOrder)
    assert changed.build.wheels == (wheel,)
    assert changed.obstacle is None
    assert changed.order().build == changed.build


def test_a_second_wheel_takes_the_place_of_the_first_of_its_component(tmp_path: Path) -> None:
    stack = chosen(read_matrix(MATRIX), "cpu-sglang-0.5.23")
    first = wheel_of(PLUGIN, str(plugin(tmp_path))).order
    second = wheel_of(PLUGIN, str(plugin(tmp_path, {"other.py": ""}))).order

    changed = with_wheel(with_wheel(stack, first), second)

    assert isinstance(changed.build, BuildOrder)
    assert changed.build.wheels == (second,)


@pytest.mark.parametrize(
    "build",
    [HostOrder(python="python3"), ContainerOrder(image="a/b:1", digest="sha256:" + "a" * 64)],
    ids=["host", "container"],
)
def test_a_wheel_is_laid_over_what_is_installed_on_a_host_or_in_an_image(
    tmp_path: Path, build: HostOrder | ContainerOrder
) -> None:
    stack = replace(chosen(read_matrix(MATRIX), "cpu-sglang-0.5.23"), build=build)
    wheel = wheel_of(PLUGIN, str(plugin(tmp_path))).order

    changed = with_wheel(stack, wheel)

    assert changed.build == build.model_copy(update={"wheels": (wheel,)})
    assert changed.stack.versions[PLUGIN] == wheel.version


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("xre", "xre is of the container", id="of the image"),
        pytest.param("kunlun-driver", "recorded and not pinned", id="of the host"),
    ],
)
def test_what_is_no_part_of_the_environment_takes_no_wheel(
    tmp_path: Path, name: str, said: str
) -> None:
    stack = chosen(read_matrix(MATRIX), "p800-sglang-kunlun-recipe")
    there = replace(stack, build=HostOrder(python="python3"))

    with pytest.raises(OverrideError, match=said):
        with_wheel(there, wheel_of(name, str(made_wheel(tmp_path, name))).order)


def test_a_stack_that_no_runner_brings_up_takes_no_wheel(tmp_path: Path) -> None:
    stack = chosen(read_matrix(MATRIX), "p800-sglang-kunlun-recipe")
    wheel = made_wheel(tmp_path, "sglang-kunlun")

    with pytest.raises(
        OverrideError, match=r"no wheel can be put into it.*`build:` section, see docs/adding-"
    ):
        with_wheel(stack, wheel_of("sglang-kunlun", str(wheel)).order)


def test_a_stack_that_does_not_pin_the_component_takes_no_wheel_of_it(tmp_path: Path) -> None:
    made_wheel(tmp_path, "nosuch")
    stack = chosen(read_matrix(MATRIX), "cpu-sglang-0.5.23")

    with pytest.raises(OverrideError, match="pins no component 'nosuch'"):
        with_wheel(stack, wheel_of("nosuch", f"{tmp_path}/*.whl").order)


def test_an_installed_wheel_is_seen_as_what_the_stack_pins(tmp_path: Path) -> None:
    plugin(tmp_path)
    wheel = wheel_of(PLUGIN, str(tmp_path / WHEEL)).order

    assert as_ordered({PLUGIN: "0.2.0"}, [wheel]) == {PLUGIN: wheel.version}
    assert as_ordered({PLUGIN: "0.1.9"}, [wheel]) == {PLUGIN: "0.1.9"}


def test_environments_without_wheels_keep_their_names_and_with_them_have_others() -> None:
    plain, other = Recipe(b"lock"), Recipe(b"lock", wheels={WHEEL: b"1"})

    assert plain.digest("3.11") == Recipe(b"lock", wheels={}).digest("3.11")
    assert plain.digest("3.11") != other.digest("3.11")
    assert other.digest("3.11") != Recipe(b"lock", wheels={WHEEL: b"2"}).digest("3.11")


def _repository(folder: Path) -> str:
    """Make a repository with one commit of a package that the standard library can build."""
    (folder / "small.py").write_text("COMMITTED = True\n")
    (folder / "backend.py").write_text(
        "import zipfile\n"
        "def build_wheel(folder, settings=None, metadata=None):\n"
        "    name = 'small-1.0-py3-none-any.whl'\n"
        "    with zipfile.ZipFile(f'{folder}/{name}', 'w') as wheel:\n"
        "        wheel.write('small.py')\n"
        "        wheel.writestr('small-1.0.dist-info/METADATA',\n"
        "            'Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n')\n"
        "        wheel.writestr('small-1.0.dist-info/WHEEL',\n"
        "            'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "        wheel.writestr('small-1.0.dist-info/RECORD', '')\n"
        "    return name\n"
    )
    (folder / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'small'\nversion = '1.0'\n"
    )
    named = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"]
    for words in (["init", "--quiet"], ["add", "."], [*named, "commit", "--quiet", "-m", "one"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, timeout=30)
    return gate_wheels.git(folder, "rev-parse", "HEAD")
