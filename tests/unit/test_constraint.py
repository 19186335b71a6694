"""Declared constraints: which versions a spec names, and whether a stack keeps to them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from service.domain.constraint import (
    Constraint,
    Held,
    Requires,
    Together,
    VersionSpecError,
    fits,
    judged,
    left_behind,
    move_together,
    violated,
)
from service.formats.constraint_files import ConstraintSection, read_constraints
from service.formats.matrix_files import read_matrix
from tests.tracked_files import ROOT

KERNELS = Constraint("kernels", Together(("xpytorch", "kunlun-ops")), "issue 171")
DROPS = Constraint("drops", Together(("kunlun-ops", "cocopod")), "issue 293")
DRIVER = Constraint(
    "driver", Requires({"xre": ">=5.37"}, {"kunlun-driver": ">=5.0.21.26"}), "release notes"
)


@pytest.mark.parametrize(
    ("version", "spec", "fit"),
    [
        pytest.param("5.0.21.26", ">=5.0.21.26", True, id="just reached"),
        pytest.param("5.0.21.8", ">=5.0.21.26", False, id="numbers compare as numbers"),
        pytest.param("5.37.0.0", "5.37", True, id="a bare version, longer"),
        pytest.param("5.370", "5.37", False, id="a bare version, another number"),
        pytest.param("5.37", ">=5.37.0.0", True, id="trailing zeros are nothing"),
        pytest.param("5.19.0.0", ">=5.13,<5.37", True, id="two clauses"),
        pytest.param("2.9.0+cu129", "==2.9.0", True, id="a label that nobody asked about"),
        pytest.param("2.9.0+cu129", "==2.9.0+cu128", False, id="another label"),
        pytest.param("5.13.0.0", "!=5.13.0.0", False, id="all but this one"),
        pytest.param("20260209_9", ">=20260209_10", False, id="a build's number"),
    ],
)
def test_a_spec_names_versions(version: str, spec: str, fit: bool) -> None:
    assert fits(version, spec) is fit


@pytest.mark.parametrize("spec", ["", ">=", ">=5.37,", "5.37 or so"])
def test_what_names_no_version_is_refused(spec: str) -> None:
    with pytest.raises(VersionSpecError):
        fits("1", spec)


@pytest.mark.parametrize(
    ("versions", "held"),
    [
        pytest.param({"xre": "5.37.1", "kunlun-driver": "5.0.21.26"}, Held.HOLDS, id="kept to"),
        pytest.param({"xre": "5.37.1", "kunlun-driver": "5.0.21.8"}, Held.VIOLATED, id="broken"),
        pytest.param({"xre": "5.19.0", "kunlun-driver": "5.0.21.8"}, Held.HOLDS, id="not meant"),
        pytest.param({"xre": "5.37.1"}, Held.UNKNOWN, id="the driver is not known"),
        pytest.param({"xre": "unknown", "kunlun-driver": "1"}, Held.UNKNOWN, id="xre unknown"),
    ],
)
def test_a_stack_keeps_to_a_constraint_or_not(versions: dict[str, str], held: Held) -> None:
    assert judged(DRIVER, versions) is held
    assert bool(violated([DRIVER, KERNELS], versions)) is (held is Held.VIOLATED)


def test_what_moves_together_is_told_when_one_stays_behind() -> None:
    before = {"xpytorch": "3.6", "kunlun-ops": "0.1", "torch": "2.9"}

    assert left_behind(KERNELS, before, {**before, "xpytorch": "3.7"}) == ("kunlun-ops",)
    assert left_behind(KERNELS, before, {**before, "torch": "2.10"}) == ()
    assert left_behind(KERNELS, before, {"xpytorch": "3.7"}) == ()
    assert left_behind(DRIVER, before, {**before, "xpytorch": "3.7"}) == ()


def test_what_moves_together_moves_through_others() -> None:
    assert move_together([KERNELS, DROPS, DRIVER], ["cocopod"]) == {
        "cocopod",
        "kunlun-ops",
        "xpytorch",
    }
    assert move_together([KERNELS], ["torch"]) == {"torch"}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"together": ["one"]}, id="one alone moves with nobody"),
        pytest.param({}, id="nothing is declared"),
        pytest.param({"together": ["a", "b"], "then": {"a": "1"}}, id="two kinds at once"),
        pytest.param({"then": {"a": "about 5"}}, id="no versions"),
    ],
)
def test_a_section_that_declares_nothing_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ConstraintSection.model_validate({"name": "x", "source": "y", **fields})


def test_a_constraint_reads_as_a_sentence() -> None:
    assert str(DRIVER) == "xre >=5.37 needs kunlun-driver >=5.0.21.26"
    assert str(KERNELS) == "xpytorch, kunlun-ops move together"


def test_the_shipped_constraints_hold_for_the_shipped_stacks() -> None:
    matrix = read_matrix(ROOT / "matrix")
    declared = [each.constraint() for each in read_constraints(matrix.root).shape.constraints]
    versions = [
        file.shape.stack(matrix.locks.get(file.shown)).versions
        for file in matrix.stacks.files.values()
    ]

    assert declared
    assert [violated(declared, each) for each in versions] == [()] * len(versions)


def test_a_matrix_without_the_file_declares_nothing(tmp_path: Path) -> None:
    assert read_constraints(tmp_path).shape.constraints == ()
