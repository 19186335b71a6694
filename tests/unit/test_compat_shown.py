"""The table as it is exported: whatever a name holds, it is shown and does nothing."""

import csv
import io
from datetime import UTC, date, datetime
from string import Formatter

import pytest

from service.cli.compat_table import Layout, entry_rows, written
from service.cli.compat_words import EN, WORDS, ZH
from service.cli.dossier_words import Language
from service.domain.advice import Answer, Standing
from service.domain.compat import CompatState
from service.domain.constraint import Held
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats import compat_words
from service.formats.compat import CompatEntry, CompatTold
from service.formats.compat_words import said

AT = datetime(2026, 11, 30, tzinfo=UTC)
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><script>alert(1)</script>",
    "a | b [c](javascript:alert(1)) `d`",
    '=HYPERLINK("http://example.org","x")',
    "-2+3+cmd|' /C calc'!A0",
    "\tcommand",
    "\x1b[2Jcleared\u202egnirts",
    'quote " and, comma\nand line',
)


def entry(name: str) -> CompatEntry:
    return CompatEntry(
        stack_key="a" * 64,
        stack_name=name,
        chip="kunlun",
        built_at=date(2026, 11, 1),
        card_model=name,
        model=name,
        state=CompatState.WORKS,
        measured_at=AT,
        told=CompatTold(cells={CompatState.WORKS: 1}),
        components={name: name},
        contradicted=(said("contradiction", name=name, words=name, source=name),),
    )


def page(layout: Layout, *names: str, language: Language = Language.EN) -> str:
    header, rows = entry_rows([entry(name) for name in names], WORDS[language], now=AT)
    return written(header, rows, layout, title=names[0], language=language)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_holds_no_element_that_a_name_brought(name: str) -> None:
    told = page(Layout.HTML, name)

    body = told.partition("<body>")[2]
    assert body.count("<td>") == 12
    assert "<img" not in body
    assert "<script" not in body
    assert "\x1b" not in told


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_of_a_sheet_is_a_formula(name: str) -> None:
    rows = list(csv.reader(io.StringIO(page(Layout.CSV, name))))

    assert [len(row) for row in rows] == [12, 12]
    assert not [cell for cell in rows[1] if cell[:1] in "=+@\t\r" or (cell[:1] == "-" and cell[1:])]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_row_of_markdown_is_a_row_whatever_stands_in_it(name: str) -> None:
    lines = page(Layout.MARKDOWN, name).splitlines()

    assert [line.count("|") for line in lines] == [13, 13, 13]
    assert not {"<", "`", "["} & set(lines[2])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_is_commanded_by_no_name(name: str) -> None:
    told = page(Layout.TABLE, name)

    assert len(told.splitlines()) == 2
    assert told.replace("\n", "").isprintable()


def test_a_page_follows_light_and_dark_and_loads_nothing() -> None:
    told = page(Layout.HTML, "cpu", language=Language.ZH)

    assert "color-scheme:light dark" in told
    assert "default-src 'none'" in told
    assert '<html lang="zh-CN">' in told


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        pytest.param(EN, ZH, id="what stands around"),
        pytest.param(compat_words.EN, compat_words.ZH, id="sentences"),
    ],
)
def test_both_languages_say_the_same_with_the_same_places(
    english: dict[str, str], chinese: dict[str, str]
) -> None:
    assert list(english) == list(chinese)
    assert {key: places(text) for key, text in english.items()} == {
        key: places(text) for key, text in chinese.items()
    }


def test_every_member_that_is_shown_has_a_word() -> None:
    wanted = {
        *(f"state {each}" for each in CompatState),
        *(f"answer {each}" for each in Answer),
        *(f"standing {each}" for each in Standing),
        *(f"held {each}" for each in Held),
        *(f"scope {each}" for each in SwapScope),
        *(f"outcome {each}" for each in Outcome),
    }

    assert wanted <= EN.keys()


def test_a_sentence_within_a_sentence_is_of_its_language() -> None:
    found = said(
        "contradiction", name="n", words=said("constraint.requires", then="xre 5.37"), source="s"
    )

    assert found.en == "works, though n declares: needs xre 5.37 (s)"
    assert found.zh == "实测可用，但 n 声明：需要 xre 5.37（s）"
    assert found.values["words"] == "needs xre 5.37"
