"""Objects out of files as they are found: good ones are kept beside bad ones."""

import gzip
import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats.tools.lines import MAX_OBJECT_BYTES
from service.formats.tools.text import MAX_PROBLEMS, objects, objects_in
from service.formats.tools.tool import Document, Found, Problem

ONE, TWO = '{"a": 1}', '{"b": {"c": 2}}'
GOOD = [(1, {"a": 1}), (2, {"b": {"c": 2}})]


def parts(data: bytes) -> list[Found[Document] | Problem]:
    return list(objects(io.BufferedReader(io.BytesIO(data))))


def found(data: bytes) -> list[tuple[int, object]]:
    return [(each.line, each.value) for each in parts(data) if isinstance(each, Found)]


def problems(data: bytes) -> list[tuple[int | None, str]]:
    return [(each.line, each.code) for each in parts(data) if isinstance(each, Problem)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(f"{ONE}\n{TWO}\n", [1, 2], id="one a line"),
        pytest.param(f"{ONE}{TWO}", [1, 1], id="two on one line"),
        pytest.param(f"\ufeff{ONE}\r\n\r\n{TWO}\r\n", [1, 3], id="mark, CRLF and a blank line"),
        pytest.param(f"{json.dumps({'a': 1}, indent=2)}\n{TWO}", [1, 4], id="pretty-printed"),
        pytest.param(f"[{ONE},\n {TWO}]", [1, 2], id="a list"),
        pytest.param(f"[\n{ONE},\n{TWO}\n]\n", [2, 3], id="a list of an object a line"),
        pytest.param(
            json.dumps([{"a": 1}, {"b": {"c": 2}}], indent=2), [2, 5], id="a list, pretty"
        ),
        pytest.param(json.dumps([{"a": 1}, {"b": {"c": 2}}], indent=0), [2, 5], id="not indented"),
        pytest.param(f"{ONE} , {TWO}"[:8] + f"\n{TWO}", [1, 2], id="blanks at the end"),
        pytest.param(f'{{\n  "a": 1 }}\n{TWO}', [1, 3], id="closed within a line"),
        pytest.param(f"[{ONE}][{TWO}]", [1, 1], id="lists on one line"),
        pytest.param(f"{ONE}\n\ufeff{TWO}", [1, 2], id="files with marks, joined"),
    ],
)
def test_every_layout_of_objects_is_read(text: str, lines: list[int]) -> None:
    data = text.encode()

    assert found(data) == list(zip(lines, [{"a": 1}, {"b": {"c": 2}}], strict=True))
    assert problems(data) == []


def test_numbers_that_json_does_not_have_are_taken_as_they_come() -> None:
    ((_, value),) = found(b'{"rate": Infinity, "low": -Infinity, "gone": NaN}')

    assert str(value) == "{'rate': inf, 'low': -inf, 'gone': nan}"


@pytest.mark.parametrize(
    ("text", "kept", "problem"),
    [
        pytest.param(f'{ONE}\n{{"b": {{"c"', [1], (2, "truncated"), id="the last line is cut"),
        pytest.param(f'{{"x": 1, "y\n{ONE}', [2], (1, "truncated"), id="a line is cut"),
        pytest.param(
            f'{{"x": 1, "y{ONE}\n{TWO}', [1, 2], (1, "truncated"), id="cut, then appended"
        ),
        pytest.param(f'{ONE}\n{{"x": oops}}\n{TWO}', [1, 3], (2, "not_json"), id="a bad line"),
        pytest.param(f"hello\nworld\n{ONE}", [3], (1, "not_json"), id="a log before it"),
        pytest.param(f"{ONE}\n42\n{TWO}", [1, 3], (2, "not_an_object"), id="a bare number"),
        pytest.param(f"a\nb {ONE}\n{TWO}", [2, 3], (1, "not_json"), id="a log with one in a line"),
        pytest.param(f"{ONE}\n\0\0\0\n{TWO}", [1, 3], (2, "binary"), id="a hole after a crash"),
        pytest.param(f"\0\0{ONE}\n{TWO}"[2:] + "\0\0", [1], (2, "binary"), id="zeros at the end"),
        pytest.param(
            f'[\n  {{"x": 1,\n  {ONE},\n  {TWO}\n]', [3, 4], (2, "truncated"), id="in a list"
        ),
        pytest.param(
            f'{{"x": [{{"y": 1}},\n{ONE}\n{TWO}', [2, 3], (1, "truncated"), id="cut in a list"
        ),
        pytest.param(
            f'{{\n "x": 1,\n "y\n{ONE}\n{TWO}', [4, 5], (1, "truncated"), id="a pretty one cut"
        ),
        pytest.param(f"{ONE} and so on\n{TWO}", [1, 2], (1, "not_json"), id="words after it"),
    ],
)
def test_good_objects_are_kept_beside_a_bad_one(
    text: str, kept: list[int], problem: tuple[int, str]
) -> None:
    assert [line for line, _ in found(text.encode())] == kept
    assert problems(text.encode()) == [problem]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"", (None, "empty"), id="empty"),
        pytest.param(b"\xef\xbb\xbf \r\n", (None, "empty"), id="a mark and blanks"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid x", (None, "lfs_pointer"),
                     id="a pointer"),
        pytest.param(b"\x00\x01\x02", (None, "binary"), id="binary"),
        pytest.param(b"Traceback (most recent call last):\n  x\n", (1, "not_json"), id="a log"),
        pytest.param(b"[" * 100_000, (1, "truncated"), id="nested beyond reason"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", (1, "not_json"), id="a number beyond reason"),
    ],
)  # fmt: skip
def test_a_file_without_an_object_says_what_it_is(
    data: bytes, problem: tuple[int | None, str]
) -> None:
    assert found(data) == []
    assert problems(data) == [problem]


def test_a_byte_that_is_not_utf8_is_named_with_its_line_and_the_rest_is_kept() -> None:
    data = f"{ONE}\n".encode() + b'{"b": "\xff"}'

    assert [line for line, _ in found(data)] == [1, 2]
    assert problems(data) == [(2, "not_utf8")]


def test_gzip_is_read_through() -> None:
    assert found(gzip.compress(f"{ONE}\n{TWO}".encode())) == GOOD


def test_a_gzip_that_ends_early_gives_what_came_before() -> None:
    data = gzip.compress(f"{ONE}\n{TWO}\n".encode())[:-6]

    assert found(data) == GOOD
    assert problems(data) == [(None, "damaged_gzip")]


def test_an_object_within_another_at_the_start_of_a_line_is_not_one_of_its_own() -> None:
    document = {"runs": [{"a": 1}, {"b": 2}], "more": {"c": {"d": 3}}}

    for indent in (0, 1, 4):
        text = json.dumps(document, indent=indent)
        assert found(f"{text}\n{text}".encode()) == [
            (1, document),
            (text.count("\n") + 2, document),
        ]


def test_an_empty_list_says_that_the_tool_wrote_nothing() -> None:
    assert problems(b"[]") == [(1, "empty")]


def test_an_object_over_the_limit_costs_no_other() -> None:
    filler = b'"' + b"x" * 2**20 + b'",'
    large = (b'{"a": [', *(filler for _ in range(MAX_OBJECT_BYTES // 2**20)), b"1]}")

    listed = list(objects_in([ONE.encode(), *large, TWO.encode()]))

    assert [(each.line, getattr(each, "code", None)) for each in listed] == [
        (1, None),
        (2, "too_large"),
        (len(large) + 2, None),
    ]


def test_half_lines_without_number_are_given_up_in_good_time() -> None:
    rows = b'{"a": {"b": {"c": {"d": 1}}}, "\n' * 20_000

    assert problems(rows)[-1] == (None, "too_many_problems")


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b'{"a":\n', id="half objects, a line each"),
        pytest.param(b'{"a":[\n', id="half objects with half lists"),
        pytest.param(b'{"a":1,\n"b":{\n', id="halves of pretty-printed objects"),
        pytest.param(b'{"a":1}\n{"b":\n', id="every other object is half"),
        pytest.param(b"[\n", id="a bracket a line"),
        pytest.param(b"{\n", id="a brace a line"),
        pytest.param(b'{"a":', id="nested without end"),
        pytest.param(b"[[]", id="lists nested without end"),
        pytest.param(b'x{"a":1}', id="objects after garbage"),
        pytest.param(b'{"a":[NaN,', id="nested numbers that JSON does not have"),
    ],
)
def test_time_grows_no_faster_than_a_hostile_file(piece: bytes) -> None:
    """What takes a second here took minutes, and hours at ten times the size."""
    began = time.monotonic()

    parts(piece * 20_000)

    assert time.monotonic() - began < 20


def test_brackets_without_end_are_given_up_in_good_time() -> None:
    began = time.monotonic()

    found = problems(b"[" * 4_000_000)

    assert found == [(1, "truncated")]
    assert time.monotonic() - began < 10


def test_a_file_full_of_problems_is_left_early() -> None:
    listed = problems(b"1\n" * (MAX_PROBLEMS + 50))

    assert len(listed) == MAX_PROBLEMS + 1
    assert listed[-1] == (None, "too_many_problems")


INSIDE = st.recursive(
    st.none() | st.integers(-5, 5) | st.text(alphabet='ab"\\\\{}[],:\\né', max_size=5),
    lambda held: (
        st.lists(held, max_size=3) | st.dictionaries(st.text(max_size=3), held, max_size=3)
    ),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(alphabet="ab{[,", min_size=1, max_size=3), INSIDE, min_size=1)


@given(st.lists(OBJECT, min_size=1, max_size=5), st.data())
def test_objects_are_read_back_in_whatever_layouts_they_are_written(
    documents: list[dict[str, object]], data: st.DataObject
) -> None:
    indent = data.draw(st.sampled_from([None, 0, 1, 4]))
    text = "".join(
        json.dumps(document, indent=data.draw(st.sampled_from([None, 0, 1, 4])))
        + data.draw(st.sampled_from(["\n", "\r\n", "", " ", "\n\n"]))
        for document in documents
    )

    for written in (text, json.dumps(documents, indent=indent)):
        assert [value for _, value in found(written.encode())] == documents
        assert problems(written.encode()) == []


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    assert all(isinstance(each, Found | Problem) for each in parts(data))


@given(st.integers(0, 60))
def test_a_cut_anywhere_never_loses_the_lines_before_it(cut: int) -> None:
    whole = f"{ONE}\n".encode() * 3
    data = whole + f'{{"long": "{"x" * 50}"}}'.encode()[:cut]

    assert [line for line, value in found(data) if value == {"a": 1}] == [1, 2, 3]
