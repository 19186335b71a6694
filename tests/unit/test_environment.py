"""An environment is built once by content, and a half-built one is never used.

The recipe here installs nothing but our own platform, so no index is asked.
"""

import fcntl
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from runners.stacks import environment as environments
from runners.stacks.build_commands import build_wheel, python_minor
from runners.stacks.build_step import BuildStepError, Workshop
from runners.stacks.environment import Environment, NoSpaceError, Recipe, base_python, build
from runners.stacks.measured import ProbeError, measured_versions
from runners.stacks.platform_tree import platform_folder, platform_version
from tests.made_wheel import made_wheel

PLATFORM = "kunline_sglang_cpu"
RECIPE = Recipe(lock=b"# nothing is needed\n", platform=PLATFORM)


def told(_text: str, _fraction: float | None) -> None:
    """Take progress and show it to nobody."""


def built(recipe: Recipe, cache: Path) -> Environment:
    return build(recipe, cache=cache, variables=os.environ, progress=told)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def environment(cache: Path) -> Environment:
    return built(RECIPE, cache)


def test_what_is_installed_is_asked_from_inside(environment: Environment) -> None:
    versions = measured_versions(environment.python)

    assert versions == {
        "kunline-sglang-cpu": platform_version(PLATFORM),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
    }


def test_a_wheel_takes_the_place_of_what_was_installed_under_its_name(
    environment: Environment, cache: Path, tmp_path: Path
) -> None:
    path = made_wheel(tmp_path, "kunline-sglang-cpu", "0.2.0")
    recipe = replace(RECIPE, wheels={path.name: path.read_bytes()})

    other = built(recipe, cache)

    assert measured_versions(other.python)["kunline-sglang-cpu"] == "0.2.0"
    assert measured_versions(environment.python)["kunline-sglang-cpu"] != "0.2.0"


def test_its_python_is_not_the_runners(environment: Environment) -> None:
    assert environment.python.parent.parent == environment.root
    assert environment.root != Path(sys.prefix)
    assert base_python().parent.parent != Path(sys.prefix)


def test_it_is_used_again_without_running_anything(environment: Environment, cache: Path) -> None:
    before = environment.log.stat().st_mtime_ns

    again = build(RECIPE, cache=cache, variables={}, progress=told)

    assert again == environment
    assert environment.log.stat().st_mtime_ns == before


def test_what_the_tools_said_is_kept(environment: Environment) -> None:
    assert "kunline-sglang-cpu" in environment.log.read_text()


def test_two_builders_at_once_build_once(tmp_path: Path) -> None:
    said: list[str] = []

    def build_one(_number: int) -> Environment:
        return build(
            RECIPE,
            cache=tmp_path,
            variables=os.environ,
            progress=lambda text, _fraction: said.append(text),
        )

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(build_one, range(2))

    assert first == second
    assert said.count("making an empty environment") == 1


def test_a_half_built_one_is_wiped_and_built_whole(tmp_path: Path) -> None:
    digest = RECIPE.digest(f"{sys.version_info.major}.{sys.version_info.minor}")
    final = tmp_path / "environments" / digest
    for folder in (final, final.with_suffix(".building")):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text("half")

    environment = built(RECIPE, tmp_path)

    assert environment.root == final
    assert "kunline-sglang-cpu" in measured_versions(environment.python)
    assert not final.with_suffix(".building").exists()


def test_a_failed_build_leaves_nothing_but_its_log(tmp_path: Path) -> None:
    unhashed = Recipe(lock=b"six==1.17.0\n")

    with pytest.raises(BuildStepError, match=r"installing the locked packages.*(?s:.)*hash"):
        built(unhashed, tmp_path)

    assert [path for path in (tmp_path / "environments").iterdir() if path.is_dir()] == []
    assert list((tmp_path / "logs").glob("build-*.log"))


def test_too_little_space_is_said_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "FREE_BYTES", 10**18)

    with pytest.raises(NoSpaceError, match="XDG_CACHE_HOME"):
        built(RECIPE, tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(RECIPE, lock=b"# another\n"), id="lock"),
        pytest.param(replace(RECIPE, torch="2.13.0"), id="torch"),
        pytest.param(replace(RECIPE, platform=None), id="platform"),
    ],
)
def test_every_part_of_a_recipe_is_part_of_its_digest(other: Recipe) -> None:
    assert other.digest("3.11") != RECIPE.digest("3.11")


def test_another_minor_python_is_another_environment() -> None:
    assert RECIPE.digest("3.12") != RECIPE.digest("3.11")


def test_equal_sources_make_an_equal_wheel(tmp_path: Path) -> None:
    workshop = Workshop(os.environ, tmp_path / "log", told, tmp_path)
    digests = set()
    for name in ("first", "second"):
        build_wheel(workshop, platform_folder(PLATFORM), version="0.1.0+a", into=tmp_path / name)
        (wheel,) = (tmp_path / name).glob("*.whl")
        digests.add(sha256(wheel.read_bytes()).hexdigest())

    assert len(digests) == 1


def test_a_step_that_takes_too_long_is_ended_and_named(tmp_path: Path) -> None:
    workshop = Workshop(os.environ, tmp_path / "log", told, tmp_path)

    with pytest.raises(BuildStepError, match=r"sleeping: not done after 0 s"):
        workshop.run("sleeping", ["sleep", "60"], limit_s=0.2)


def test_downloads_are_passed_on_as_progress(tmp_path: Path) -> None:
    said: list[str] = []
    workshop = Workshop(os.environ, tmp_path / "log", lambda text, _: said.append(text), tmp_path)

    workshop.run("x", ["sh", "-c", "echo 'Downloading a (3MiB)'; sleep 1"], limit_s=30)

    assert said[-1] == "Downloading a (3MiB)"


def test_a_silent_command_is_stopped_by_whoever_is_told_of_it(tmp_path: Path) -> None:
    def stop(_text: str, _fraction: float | None) -> None:
        raise InterruptedError

    workshop = Workshop(os.environ, tmp_path / "log", stop, tmp_path)

    with pytest.raises(InterruptedError):
        workshop.run("sleeping", ["sleep", "60"], limit_s=30)


def test_a_command_does_not_see_the_runners_own_settings(tmp_path: Path) -> None:
    variables = {**os.environ, "KUNLINE_TOKEN": "kl_1", "PIP_INDEX_URL": "kept"}
    workshop = Workshop(variables, tmp_path / "log", told, tmp_path)

    workshop.run("env", ["env"], limit_s=30)

    assert "kl_1" not in workshop.log.read_text()
    assert "PIP_INDEX_URL=kept" in workshop.log.read_text()


def test_who_waits_for_another_builder_is_told_and_can_stop(tmp_path: Path) -> None:
    def stop(text: str, _fraction: float | None) -> None:
        raise InterruptedError(text)

    digest = RECIPE.digest(python_minor(base_python()))
    (tmp_path / "environments").mkdir()
    with (tmp_path / "environments" / f"{digest}.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        with pytest.raises(InterruptedError, match="waiting for another runner"):
            build(RECIPE, cache=tmp_path, variables=os.environ, progress=stop)


def test_a_python_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="does not tell its versions"):
        measured_versions(tmp_path / "python")
