"""What a machine lacks is said in whole sentences before anything is downloaded."""

from dataclasses import replace
from pathlib import Path

import pytest

from service.cli.requirements import DISK_BYTES, Machine, built, missing, this_machine

FIT = Machine("linux", "x86_64", "glibc", (2, 34), (3, 12), "CPython", {Path("/data"): DISK_BYTES})


def test_a_fit_machine_lacks_nothing() -> None:
    assert missing(FIT) == ()


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        pytest.param(
            replace(FIT, architecture="aarch64"),
            "This is linux on aarch64, not Linux on x86-64.",
            id="another architecture",
        ),
        pytest.param(
            replace(FIT, library_version=(2, 31)),
            "The C library is glibc 2.31, not glibc 2.34 or newer.",
            id="an old C library",
        ),
        pytest.param(
            replace(FIT, library="", library_version=()),
            "The C library is unknown , not glibc 2.34 or newer.",
            id="another C library",
        ),
        pytest.param(
            replace(FIT, python=(3, 14)),
            "This is CPython 3.14, not CPython 3.11 to 3.13.",
            id="a newer Python",
        ),
        pytest.param(
            replace(FIT, free_bytes={Path("/data"): 10**9}),
            "/data has 1.0 GB free of the 10 GB needed.",
            id="a full disk",
        ),
    ],
)
def test_what_is_missing_is_named(machine: Machine, sentence: str) -> None:
    assert missing(machine) == (sentence,)


def test_a_folder_that_is_not_there_yet_is_measured_where_it_would_be(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"

    assert this_machine(folder).free_bytes[folder] > 0


def test_a_half_built_environment_is_not_built(tmp_path: Path) -> None:
    for name in ("a1b2", "c3d4.building"):
        (tmp_path / "environments" / name).mkdir(parents=True)
    (tmp_path / "environments" / "a1b2.lock").touch()

    assert built(tmp_path) == 1
    assert built(tmp_path / "nowhere") == 0
