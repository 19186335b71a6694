"""A gate's answer as a person or a CI server reads it: every kind, in both languages."""

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from markdown_it import MarkdownIt

from service.cli.answers.annotations import annotations
from service.cli.answers.cases import Standing, cases_of
from service.cli.answers.junit import junit
from service.cli.answers.markdown import COMMENT_BYTES_MAX, markdown
from service.cli.answers.on_forge import conclusion
from service.cli.answers.schema import COPY, description
from service.cli.answers.sentences import check_title
from service.cli.answers.text import text
from service.cli.answers.words import Language, say
from service.formats.gate_answers import GateAnswer
from tests.gate_answers import KINDS, passes
from tests.golden_file import assert_golden
from tests.odd_gate_answers import hostile, long

EVERY = pytest.mark.parametrize("kind", KINDS)
SUMMARY = ("<summary>", "</summary>")
IN_BOTH = pytest.mark.parametrize("language", Language)


def shown(answer: GateAnswer, language: Language) -> str:
    """Return all that is shown of an answer, one below the other."""
    parts = (
        ("markdown", markdown(answer, language)),
        ("terminal", text(answer, language) + "\n"),
        ("check", check_title(answer, language) + "\n"),
        ("annotations", annotations(answer, language) + "\n"),
        ("junit", junit(answer, language)),
    )
    return "\n".join(f"==== {name}\n{part}" for name, part in parts)


@EVERY
@IN_BOTH
def test_an_answer_reads_as_it_should(kind: str, language: Language) -> None:
    assert_golden(f"gate_{kind}_{language}.txt", shown(KINDS[kind](), language))


def test_nothing_is_told_as_measured_where_nothing_was_and_no_field_is_empty() -> None:
    whole = KINDS["missing"]()
    none = {"baseline_launches": 0, "candidate_launches": 0}
    unmeasured = [cell.model_copy(update=none) for cell in whole.cells]
    time = whole.time.model_copy(update={"saved_card_s": 0.0, "unbegun_card_s": 360.0})
    answer = whole.model_copy(update={"cells": tuple(unmeasured), "time": time})

    told = text(answer, Language.EN)

    assert "pinned as 0.4.0, not measured" in told
    assert "measured 0.4.0" in text(whole, Language.EN)
    assert "6 min of it not begun" in told
    assert "saved by stopping early" not in told
    assert not re.search(r"what to do -?$", told, re.MULTILINE)


@EVERY
def test_junit_fails_where_the_gate_does_and_nowhere_else(kind: str) -> None:
    answer = KINDS[kind]()
    root = ET.fromstring(junit(answer, Language.EN))  # noqa: S314 — written just above
    counts = {name: int(root.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}

    assert bool(counts["failures"] + counts["errors"]) == bool(answer.exit_code)
    assert counts["tests"] == len(root.findall(".//testcase")) > 0
    assert counts["failures"] == len(root.findall(".//failure"))
    assert counts["errors"] == len(root.findall(".//error"))
    assert counts["skipped"] == len(root.findall(".//skipped"))


@EVERY
def test_the_check_succeeds_only_with_a_verdict_that_does(kind: str) -> None:
    answer = KINDS[kind]()
    word = {True: "failure", False: "success"}[bool(answer.exit_code)]
    lets_pass = answer.outcome == "inconclusive" and not answer.exit_code

    assert conclusion(answer) == ("neutral" if lets_pass else word)


@IN_BOTH
def test_what_passes_without_power_says_so_and_what_it_could_have_missed(
    language: Language,
) -> None:
    for written in (markdown(passes(), language), text(passes(), language)):
        assert say(language, "passes") in written
        assert "8.1 %" in written


@EVERY
def test_an_answer_keeps_to_the_published_schema(kind: str) -> None:
    schema: dict[str, Any] = json.loads(COPY.read_text())
    document = json.loads(KINDS[kind]().model_dump_json())

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)


def test_the_schema_lets_in_what_a_later_release_adds() -> None:
    document = json.loads(passes().model_dump_json())
    document["cells"][0]["later"] = 1

    jsonschema.validate(document, json.loads(COPY.read_text()))


def test_the_schema_refuses_what_is_no_answer() -> None:
    document = json.loads(passes().model_dump_json())
    del document["outcome"]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(COPY.read_text()))


def test_the_published_schema_is_that_of_the_code() -> None:
    assert COPY.read_text() == description()


@IN_BOTH
def test_a_long_answer_is_bounded_and_says_what_is_left_out(language: Language) -> None:
    written = markdown(long(), language, footer="x")

    assert len(written.encode()) <= COMMENT_BYTES_MAX
    assert say(language, "cut.rows", count=585) in written


@IN_BOTH
def test_an_answer_that_no_table_shortens_enough_loses_whole_sections(language: Language) -> None:
    written = markdown(long(), language, footer="x", most_bytes=4000)

    assert len(written.encode()) <= 4000
    assert say(language, "cut.sections", titles="\0").partition("\0")[0] in written
    assert say(language, "section.components") in written
    assert written.endswith("<sub>x</sub>\n")


def test_nothing_in_a_hostile_answer_becomes_a_mark() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(hostile(), Language.EN))
    inline = [child for token in tokens for child in token.children or ()]
    html = "".join(each.content for each in [*tokens, *inline] if each.type.startswith("html"))
    links = {str(each.attrs["href"]) for each in inline if each.type == "link_open"}

    assert set(re.findall(r"<[^>]*>", html)) <= {"<details>", "</details>", *SUMMARY}
    assert all(link.startswith("https://kunline.example/") for link in links)
    assert {each.type for each in inline} & {"strong_open", "em_open", "image"} <= {"strong_open"}


def test_no_row_of_a_hostile_answer_is_wider_than_its_header() -> None:
    blocks = re.findall(r"(?:^\|.*\n)+", markdown(hostile(), Language.EN), flags=re.MULTILINE)
    widths = [{line.count("|") for line in block.splitlines()} for block in blocks]

    assert len(blocks) > 3
    assert all(len(each) == 1 for each in widths)


def test_no_line_of_a_hostile_answer_begins_a_workflow_command() -> None:
    lines = text(hostile(), Language.EN).splitlines()

    assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []


def test_every_annotation_of_a_hostile_answer_is_one_of_ours() -> None:
    lines = annotations(hostile(), Language.EN).splitlines()

    assert lines
    assert all(re.match(r"::(error|warning|notice) title=[^:]*::", line) for line in lines)


def test_a_hostile_answer_is_still_an_xml_document() -> None:
    root = ET.fromstring(junit(hostile(), Language.EN))  # noqa: S314 — written just above

    assert len(root.findall("testsuite")) == 3


def test_of_many_annotations_as_many_are_printed_as_are_kept() -> None:
    lines = annotations(long(30), Language.EN).splitlines()

    assert len(lines) == 10
    assert lines[-1].endswith("and 21 more, which are not shown here")


def test_what_is_waived_or_known_is_left_out_and_told() -> None:
    cases = cases_of(KINDS["known_and_waived"](), Language.EN)

    assert [case.standing for case in cases].count(Standing.LEFT_OUT) == 2
