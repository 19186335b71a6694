"""Stacks between two others: what each part brings, how it is built, and what cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest

from service.domain.stack import SwapScope
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.matrix_files import read_matrix
from service.formats.mixed_stacks import (
    Between,
    SettingError,
    constraints_of,
    parts_between,
    with_setting,
)
from tests.matrix_directory import FILES, matrix_directory

BAD = FILES["stacks/cpu-0.5.23.yaml"].replace(
    'OMP_NUM_THREADS: "1"', 'OMP_NUM_THREADS: "2", MALLOC_ARENA_MAX: "4"'
)


@pytest.fixture
def between(tmp_path: Path) -> Between:
    read = read_matrix(matrix_directory(tmp_path, **{"stacks__cpu-0.5.23": BAD}))
    good, bad = chosen(read, "cpu-0.5.18"), chosen(read, "cpu-0.5.23")
    return Between(good, bad)


def test_parts_are_all_that_is_pinned_and_differs(between: Between) -> None:
    parts = parts_between(between.good.stack, between.bad.stack)

    assert [(part.name, part.good, part.bad) for part in parts] == [
        ("sglang", "0.5.18", "0.5.23"),
        ("MALLOC_ARENA_MAX", "(absent)", "4"),
        ("OMP_NUM_THREADS", "1", "2"),
    ]
    assert {part.scope for part in parts} == {SwapScope.PROCESS}


def test_a_combo_has_the_parts_named_from_the_bad_stack_and_the_rest_from_the_good(
    between: Between,
) -> None:
    combo = between.combo(["MALLOC_ARENA_MAX"])

    assert combo.stack.server_environment == {"MALLOC_ARENA_MAX": "4", "OMP_NUM_THREADS": "1"}
    assert combo.stack.versions == between.good.stack.versions
    assert (combo.build, combo.obstacle) == (between.good.build, None)


def test_all_parts_together_are_the_bad_stack_and_none_the_good(between: Between) -> None:
    names = [part.name for part in parts_between(between.good.stack, between.bad.stack)]

    assert between.combo(names) is between.bad
    assert between.combo([]) is between.good


def test_a_combo_that_the_matrix_has_already_is_taken_as_its_file_says(between: Between) -> None:
    named = replace(between.combo(["OMP_NUM_THREADS"]), obstacle="as its file says")

    assert replace(between, others=[named]).combo(["OMP_NUM_THREADS"]) is named


def test_a_package_is_locked_as_the_stack_that_it_comes_from_locks_it(between: Between) -> None:
    combo = between.combo(["sglang"])

    assert combo.lock is not None
    assert combo.lock.pins == {
        "aiohttp": "3.14.5",
        "sglang": "0.5.23",
        "async-timeout": "5.0.1",
    }
    assert b"sglang==0.5.23 " in combo.lock.content
    assert b"sglang==0.5.18 " not in combo.lock.content
    assert b"colorama==0.4.6" in combo.lock.content
    assert combo.order().build == combo.build
    assert combo.obstacle is None


def test_of_stacks_that_no_runner_builds_a_combo_has_their_obstacle(between: Between) -> None:
    unbuilt = replace(between.bad, build=None, obstacle="it has no build")

    combo = replace(between, bad=unbuilt).combo(["sglang"])

    assert combo.obstacle == "it has no build"


@pytest.mark.parametrize(
    ("name", "value", "arguments", "threads"),
    [
        ("--page-size", "32", {"sleep-on-idle": True, "page-size": 32}, "1"),
        ("--page_size", "32", {"sleep-on-idle": True, "page-size": 32}, "1"),
        ("--sleep-on-idle", None, {}, "1"),
        ("--schedule-policy", "lpm", {"sleep-on-idle": True, "schedule-policy": "lpm"}, "1"),
        ("OMP_NUM_THREADS", "2", {"sleep-on-idle": True}, "2"),
        ("OMP_NUM_THREADS", None, {"sleep-on-idle": True}, None),
    ],
)
def test_a_setting_changes_one_thing_and_the_key(
    between: Between, name: str, value: str | None, arguments: dict[str, object], threads: str
) -> None:
    changed = with_setting(between.good, name=name, value=value).stack

    assert changed.server_arguments == arguments
    assert changed.server_environment.get("OMP_NUM_THREADS") == threads
    assert changed.versions == between.good.stack.versions
    assert changed.key != between.good.stack.key


@pytest.mark.parametrize("name", ["--port", "--tp", "1BAD"])
def test_what_is_no_setting_of_a_stack_is_refused(between: Between, name: str) -> None:
    with pytest.raises(SettingError, match=name):
        with_setting(between.good, name=name, value="1")


def test_constraints_of_both_files_count_once(between: Between) -> None:
    assert constraints_of(between.good, between.bad) == ()


def test_constraints_are_read_from_the_stack_files(tmp_path: Path) -> None:
    stated = BAD + (
        "constraints:\n  - {name: one-drop, together: [sglang, aiohttp], source: a release note}\n"
    )
    read = read_matrix(matrix_directory(tmp_path, **{"stacks__cpu-0.5.23": stated}))
    stacks: list[ChosenStack] = [chosen(read, name) for name in ("cpu-0.5.18", "cpu-0.5.23")]

    assert [each.name for each in constraints_of(*stacks, *stacks)] == ["one-drop"]
