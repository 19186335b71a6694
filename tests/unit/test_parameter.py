"""The catalogue of parameters: every row has its source, and a misspelt one is not measured."""

import json
import re

import pytest
from typer.testing import CliRunner

from service.cli import parameters as shown
from service.cli.answers.words import Language
from service.cli.scaling import scalings
from service.domain.experiment import ExperimentError
from service.domain.parameter import Documented, Family
from service.domain.server_environment import environment_problems
from service.formats.parameters import documented, require_documented

ROWS = documented()
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_has_a_source_and_values_that_its_reader_takes(row: Documented) -> None:
    assert row.source
    variables = {} if row.name.startswith("--") else {row.name: row.values}
    wrong = [
        problem
        for name, values in variables.items()
        for value in values
        for problem in environment_problems({name: value}).values()
    ]

    assert wrong == []


def test_the_parameters_that_a_site_asks_for_first_are_there_once() -> None:
    names = [row.name for row in ROWS]

    assert len(names) == len(set(names))
    assert {
        "BKCL_TREE_THRESHOLD",
        "BKCL_RING_BUFFER_SIZE",
        "BKCL_TIMEOUT",
        "--disable-overlap-schedule",
        "--disable-cuda-graph",
    } <= set(names)
    assert {row.family for row in ROWS} == set(Family)


def test_both_languages_say_the_same_of_each_row() -> None:
    for english, chinese in zip(ROWS, documented(chinese=True), strict=True):
        assert (english.name, bool(english.caution)) == (chinese.name, bool(chinese.caution))
        assert not HAN.search(english.meaning + english.caution)
        assert HAN.search(chinese.meaning)
    assert shown.ENGLISH.keys() == shown.CHINESE.keys()


def test_a_misspelt_variable_of_a_library_is_refused_with_the_nearest_word() -> None:
    with pytest.raises(ExperimentError, match="did you mean 'BKCL_RING_BUFFER_SIZE'"):
        require_documented("BKCL_RING_BUFER_SIZE")


@pytest.mark.parametrize("name", ["BKCL_TIMEOUT", "OMP_NUM_THREADS", "--chunked-prefill-size"])
def test_what_is_documented_or_not_passed_over_in_silence_may_be_tried(name: str) -> None:
    require_documented(name)


def test_what_may_go_wrong_is_said_with_its_source_and_grade() -> None:
    said = shown.caution_of("BKCL_TIMEOUT", Language.EN)

    assert "unit is not confirmed" in said
    assert "grade B" in said
    assert shown.caution_of("BKCL_RING_OPT", Language.EN) == ""
    assert "单位未确认" in shown.caution_of("BKCL_TIMEOUT", Language.ZH)


def test_the_catalogue_is_listed_by_family_for_people_and_for_programs() -> None:
    listed = CliRunner().invoke(scalings, ["parameters", "--family", "graph"])
    told = CliRunner().invoke(scalings, ["parameters", "--family", "graph", "--json"])

    assert "no value is a recommendation" in listed.output
    assert {row["family"] for row in json.loads(told.stdout)["parameters"]} == {"graph"}
