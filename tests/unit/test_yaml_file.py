"""YAML files: every problem is told with its line, its field and the nearest valid word."""

from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, PositiveInt

from service.formats.messages import Message
from service.formats.yaml_file import (
    MAX_FILE_BYTES,
    FileProblem,
    FileProblemsError,
    YamlFile,
    read_yaml,
)
from service.formats.yaml_nodes import (
    MAX_DEPTH,
    QUICK,
    Document,
    Place,
    Plain,
    Spot,
    YamlError,
    document,
    read_by,
)


class Leaf(Message):
    name: str
    colour: Literal["green", "yellow"] = "green"


class Branch(Message):
    leaves: tuple[Leaf, ...] = Field(min_length=1)


class Tree(Message):
    name: str
    height: PositiveInt
    share: float = 0.5
    old: bool = False
    leaves: tuple[Leaf, ...] = ()
    ages: dict[str, bool | int | float | str] = Field(default_factory=dict)


def read(folder: Path, content: str | bytes) -> YamlFile[Tree]:
    path = folder / "tree.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_yaml(path, Tree)


def problems(folder: Path, content: str | bytes) -> tuple[FileProblem, ...]:
    with pytest.raises(FileProblemsError) as caught:
        read(folder, content)
    return caught.value.problems


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param("leaves: []\n", "leaves: needs at least 1, and has 0", id="an empty list"),
        pytest.param(
            "leaves:\n  - {name: b, colour: gren}\n",
            "leaves.0.colour: 'gren' is not valid; did you mean 'green'?",
            id="a wrong entry, which is not called none",
        ),
    ],
)
def test_a_list_that_needs_entries_names_what_is_wrong_with_them(
    content: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "branch.yaml").write_text(content)

    with pytest.raises(FileProblemsError) as caught:
        read_yaml(tmp_path / "branch.yaml", Branch)

    assert [f"{each.field}: {each.message}" for each in caught.value.problems] == [told]


def test_a_right_file_is_its_shape_and_knows_its_lines(tmp_path: Path) -> None:
    file = read(tmp_path, "name: oak\nheight: 3\nshare: 1\nleaves:\n  - {name: '1'}\n")

    assert file.shape == Tree(name="oak", height=3, share=1.0, leaves=(Leaf(name="1"),))
    assert file.problem("it is off", "leaves", 0, "name").line == 5


@pytest.mark.parametrize(
    ("content", "line", "field", "message"),
    [
        pytest.param(
            "name: a\nheight: 1\nheigth: 2\n",
            3,
            "heigth",
            "no such field; did you mean 'height'?",
            id="unknown field",
        ),
        pytest.param(
            "name: a\nheight: 1\nleaves:\n  - name: b\n    color: green\n",
            5,
            "leaves.0.color",
            "no such field; did you mean 'colour'?",
            id="unknown field inside a list",
        ),
        pytest.param(
            "name: a\nheight: 1\nleaves:\n  - name: b\n    colour: gren\n",
            5,
            "leaves.0.colour",
            "'gren' is not valid; did you mean 'green'?",
            id="a word that is not of the list",
        ),
        pytest.param("name: a\n", 1, "height", "this field is missing", id="missing field"),
        pytest.param(
            "name: a\nheight: 1\nleaves:\n  - colour: green\n",
            4,
            "leaves.0.name",
            "this field is missing",
            id="missing field inside a list",
        ),
        pytest.param(
            "name: 2.90\nheight: 1\n",
            1,
            "name",
            'must be text: write it in quotes, "2.90"',
            id="a version that looks like a number",
        ),
        pytest.param(
            "name: a\nheight: '1'\n",
            2,
            "height",
            "must be a whole number, not '1'",
            id="text for a number",
        ),
        pytest.param(
            "name: a\nheight: 0\n",
            2,
            "height",
            "input should be greater than 0, not 0",
            id="out of bounds",
        ),
        pytest.param(
            "name: a\nheight: 1\nold: yes\n",
            3,
            "old",
            "must be true or false, not 'yes'",
            id="yes is text",
        ),
        pytest.param(
            "name: a\nheight: 1\nleaves: b\n",
            3,
            "leaves",
            "must be a list, not 'b'",
            id="text for a list",
        ),
        pytest.param(
            "name: a\nheight: 1\nages:\n  b: [1]\n",
            4,
            "ages.b",
            "must be text, a number, or true or false",
            id="a list for a scalar",
        ),
        pytest.param("- a\n", 1, "", "must be a map of fields, not a list", id="a list"),
        pytest.param(
            "name: a\nheight: 1\nname: b\n", 3, "name", "this field stands twice", id="twice"
        ),
        pytest.param("", 1, "", "the file is empty", id="empty"),
        pytest.param("# only words\n", 1, "", "the file is empty", id="only a comment"),
        pytest.param("name: a\n\theight: 1\n", 2, "", "a tab: YAML indents with spaces", id="tab"),
        pytest.param(b"name: a\nheight: \xff\n", 2, "", "not UTF-8: byte 0xff", id="not UTF-8"),
        pytest.param(
            "name: a\n---\nname: b\n",
            2,
            "",
            "a second document begins: a file holds one",
            id="two documents",
        ),
        pytest.param(
            "name: !!python/name:os.system\n",
            1,
            "",
            "the tag tag:yaml.org,2002:python/name:os.system is not read: write plain values",
            id="a tag",
        ),
        pytest.param(
            "name: a\n[1, 2]: b\n",
            2,
            "",
            "a field's name is text, not a list or a map",
            id="a list as a field's name",
        ),
        pytest.param(
            "name: a\nheight: \x07\n", 2, "", "a character that YAML does not allow", id="control"
        ),
    ],
)
def test_a_wrong_file_is_told_with_line_field_and_a_way_out(
    tmp_path: Path, content: str | bytes, line: int, field: str, message: str
) -> None:
    found = problems(tmp_path, content)

    assert FileProblem(str(tmp_path / "tree.yaml"), line, field, message) in found


def test_all_problems_of_a_file_are_told_in_the_order_of_its_lines(tmp_path: Path) -> None:
    found = problems(tmp_path, "nam: a\nheight: tall\nname: b\nname: c\nleaves: [{}]\n")

    assert [(problem.line, problem.field) for problem in found] == [
        (1, "nam"),
        (2, "height"),
        (4, "name"),
        (5, "leaves.0.name"),
    ]


def test_a_problem_reads_as_a_line_that_editors_understand() -> None:
    assert str(FileProblem("a.yaml", 3, "b.0", "is off")) == "a.yaml:3: b.0: is off"
    assert str(FileProblem("a.yaml", 1, "", "is empty")) == "a.yaml:1: is empty"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileProblemsError, match="cannot be read: No such file or directory"):
        read_yaml(tmp_path / "none.yaml", Tree)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "#" * (MAX_FILE_BYTES + 1))

    assert found.message == "the file is larger than 256 KiB"


def test_aliases_that_grow_without_bound_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(YamlError, match="more than 20000 values"):
        document("\n".join(lines))


def test_an_alias_that_holds_itself_is_refused() -> None:
    with pytest.raises(YamlError, match="an alias holds itself"):
        document("a: &a [*a]")


@pytest.mark.parametrize("opening", ["[", "{a: "])
def test_values_nested_too_deep_are_refused(opening: str) -> None:
    with pytest.raises(YamlError, match=f"deeper than {MAX_DEPTH} levels"):
        document(f"a: {opening * 5000}")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("010", "010"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("no", "no"),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("2026-11-20", "2026-11-20"),
        ("~", None),
        ("true", True),
        ("-3", -3),
        ("1e3", 1000.0),
        ("'3'", "3"),
    ],
)
def test_scalars_are_what_a_person_meant(written: str, value: object) -> None:
    read_value = document(f"a: {written}").value

    assert read_value == {"a": value}


MARKS = "a: -[]{}&*!|>'\"#\n\r\t~1.\x07é,?%@`\\\u0085\u2028\U0001f600"
MATRIX = sorted((Path(__file__).parents[2] / "matrix").rglob("*.yaml"))


def meant(read: Document) -> tuple[Plain, dict[Place, Spot]]:
    """Return a text's values and where they are written; what is left out stands nowhere."""
    return read.value, {place: spot for place, spot in read.spots.items() if spot.written != ""}


@given(st.text(alphabet=MARKS, max_size=60))
def test_any_text_means_the_same_to_both_readers_that_take_it(text: str) -> None:
    with suppress(YamlError):
        assert meant(read_by(text, QUICK)) == meant(read_by(text, yaml.BaseLoader))


@given(st.sampled_from(MATRIX), st.integers(0, 2000), st.text(alphabet=MARKS, max_size=3))
def test_a_damaged_file_means_the_same_to_both_readers_that_take_it(
    path: Path, place: int, damage: str
) -> None:
    text = path.read_text("utf-8")
    place %= len(text)
    damaged = text[:place] + damage + text[place + 1 :]

    with suppress(YamlError):
        assert meant(read_by(damaged, QUICK)) == meant(read_by(damaged, yaml.BaseLoader))


@given(st.text(alphabet=MARKS + "\ufeff", max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    with suppress(YamlError):
        document(text)
