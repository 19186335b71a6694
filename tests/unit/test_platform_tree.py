"""A platform's version names its content, and the stack files name the present one."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

from runners.stacks.platform_tree import (
    PLATFORMS,
    UnknownPlatformError,
    platform_folder,
    platform_version,
    tree_digest,
)

STACKS = Path(__file__).parents[2] / "matrix" / "stacks"
NAME = "kunline_sglang_cpu"


@pytest.mark.parametrize("file", sorted(STACKS.glob("cpu-*.yaml")), ids=lambda path: path.stem)
def test_a_stack_file_pins_the_platform_as_it_is_now(file: Path) -> None:
    components = yaml.safe_load(file.read_text(encoding="utf-8"))["components"]

    (plugin,) = [component for component in components if component["layer"] == "plugin"]

    assert plugin["version"] == platform_version(NAME)


def test_the_version_stays_as_it_is_when_an_installer_normalises_it() -> None:
    assert str(Version(platform_version(NAME))) == platform_version(NAME)


def test_the_interface_in_the_project_file_is_the_one_in_the_code() -> None:
    code = (PLATFORMS / NAME / NAME / "__init__.py").read_text(encoding="utf-8")
    project = tomllib.loads((PLATFORMS / NAME / "pyproject.toml").read_text(encoding="utf-8"))

    assert f"INTERFACE_VERSION = {project['tool']['kunline']['interface']}\n" in code


def test_a_platform_that_is_not_shipped_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownPlatformError, match=r"no platform 'other'.*kunline_sglang_cpu"):
        platform_folder("other")


def test_a_name_cannot_leave_the_folder_of_platforms() -> None:
    with pytest.raises(UnknownPlatformError):
        platform_folder(f"../platforms/{NAME}")


def tree(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree_digest(folder)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.py": "2", "b/c.py": "3"}, id="other bytes"),
        pytest.param({"a2.py": "1", "b/c.py": "3"}, id="another name"),
        pytest.param({"a.py": "1", "c.py": "3"}, id="another folder"),
        pytest.param({"a.py": "1"}, id="one file less"),
        pytest.param({"a.py": "13", "b/c.py": ""}, id="bytes moved to the next file"),
    ],
)
def test_any_change_of_a_tree_changes_its_digest(tmp_path: Path, files: dict[str, str]) -> None:
    before = tree(tmp_path / "before", {"a.py": "1", "b/c.py": "3"})

    assert tree(tmp_path / "after", files) != before


def test_what_tools_leave_behind_does_not_change_the_digest(tmp_path: Path) -> None:
    before = tree(tmp_path, {"a.py": "1"})

    assert tree(tmp_path, {"__pycache__/a.cpython-311.pyc": "x"}) == before
