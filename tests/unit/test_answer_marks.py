"""Foreign text in an answer: it can end no cell, start no tag, link or command, and call nobody."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cli.answers.marks import (
    clipped,
    code,
    command,
    command_data,
    command_property,
    fenced,
    link,
    log_line,
    words,
    xml_text,
)

TEXT = st.text(max_size=200)


@given(TEXT)
def test_a_name_stays_within_its_cell_and_its_span(text: str) -> None:
    shown = code(text)

    assert "|" not in shown
    assert "\n" not in shown
    assert shown.strip("`").count("`") == 0


@given(TEXT)
def test_a_sentence_has_no_mark_that_means_something(text: str) -> None:
    shown = words(text)

    assert not re.search(r"[\\`*\[\]<>|\n]", shown)
    assert not re.search(r"@\w", shown)
    assert not re.search(r"#\d", shown.replace("&#", "&"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("@admin", "@&#8203;admin", id="a call"),
        pytest.param("#12", "&#35;&#8203;12", id="an issue"),
        pytest.param("https://a.example", "https:&#8203;//a.example", id="an address"),
        pytest.param("<!-- x -->", "&#60;&#33;-- x --&#62;", id="a comment"),
        pytest.param("a\nb", "a&#92;x0ab", id="a line's end"),
        pytest.param("libxpu_kernels.so", "libxpu_kernels.so", id="an underscore inside a word"),
        pytest.param("_x_", "&#95;x&#95;", id="an underscore around a word"),
    ],
)
def test_a_sentence_says_what_would_do_something(text: str, shown: str) -> None:
    assert words(text) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("https://a.example/x", "[here](https://a.example/x)", id="an address"),
        pytest.param("https://a.b/) [c](d", "[here](https://a.b/%29%20%5Bc%5D%28d)", id="an end"),
        pytest.param("https://a.b/\u2028", "[here](https://a.b/%E2%80%A8)", id="a line's end"),
        pytest.param("javascript:x(1)", "here (`javascript:x(1)`)", id="no address of the web"),
        pytest.param("http://a:b", "here (`http://a:b`)", id="no address at all"),
    ],
)
def test_a_link_leads_to_the_web_or_nowhere(url: str, shown: str) -> None:
    assert link("here", url) == shown


@given(st.lists(TEXT, min_size=1, max_size=3))
def test_no_line_ends_its_block_of_code(lines: list[str]) -> None:
    first, *inside, last = fenced(lines).split("\n")

    assert len(inside) == len(lines)
    assert set(last) == {"`"}
    assert first == f"{last}sh"
    assert all(last not in line for line in inside)


def test_a_command_can_be_pasted_into_a_shell() -> None:
    argv = ["kunline", "gate", "--cell", "chat, batch 4; rm -rf $HOME"]

    assert shlex.split(command(argv)) == argv


@pytest.mark.parametrize(
    ("text", "data", "its_property"),
    [
        pytest.param("50 %", "50 %25", "50 %25", id="per cent"),
        pytest.param("a\r\nb", "a%0D%0Ab", "a%0D%0Ab", id="line ends"),
        pytest.param("a: b, c", "a: b, c", "a%3A b%2C c", id="colon and comma"),
    ],
)
def test_a_workflow_command_is_escaped_as_documented(
    text: str, data: str, its_property: str
) -> None:
    assert command_data(text) == data
    assert command_property(text) == its_property


def test_no_old_workflow_command_stands_in_a_line() -> None:
    assert "##[" not in log_line("x ##[error]y\n::error::z")
    assert "\n" not in log_line("x ##[error]y\n::error::z")


@given(TEXT)
def test_what_goes_into_xml_may_stand_there(text: str) -> None:
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", xml_text(text))


def test_what_is_too_long_is_cut() -> None:
    assert len(clipped("x" * 1000)) == 400
    assert clipped("x" * 1000).endswith("…")
