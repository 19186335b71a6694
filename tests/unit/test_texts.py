"""The text of a result is the bytes of its file that it was read from, and no others."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.domain.reading import Reading, Unreadable
from service.formats.tools.files import opened
from service.formats.tools.lines import chunks_of, lines_of
from service.formats.tools.registry import TOOLS, read_bytes, readings_of
from service.formats.tools.texts import Lines, Written, written_results
from tests.results import lines, scaled, serving
from tests.shared_data import shared

MOST_BYTES = 16 * 2**20
JSON_TOOLS = frozenset(tool.name for tool in TOOLS)


def lines_in(path: Path) -> Lines:
    with opened(path) as stream:
        yield from lines_of(chunks_of(stream))


def written_in(path: Path, *, most_bytes: int = MOST_BYTES) -> list[Written | Unreadable]:
    return list(
        written_results(
            readings_of(path),
            lambda: lines_in(path),
            most_bytes=most_bytes,
            begins_late=lambda tool: tool not in JSON_TOOLS,
        )
    )


def texts(path: Path) -> list[bytes | None]:
    return [each.text for each in written_in(path) if isinstance(each, Written)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def objects() -> list[bytes]:
    return [lines([each]).strip() for each in scaled(1.0, 1.1, 1.2)]


def test_each_line_is_the_text_of_its_result(file: Path) -> None:
    file.write_bytes(b"\n".join(objects()))

    assert texts(file) == objects()


@pytest.mark.parametrize(
    "around",
    [
        pytest.param(b"\xef\xbb\xbf%s\r\n%s\r\n\r\n%s\r\n", id="byte order mark and CRLF"),
        pytest.param(b"[%s,\n%s,\n%s]\n", id="a list of objects"),
        pytest.param(b'noise\n%s\n{"cut\n%s\n\n%s', id="damage between them"),
    ],
)
def test_what_stands_around_a_result_is_not_in_its_text(file: Path, around: bytes) -> None:
    file.write_bytes(around % tuple(objects()))

    found = [each.strip(b"[]") for each in texts(file) if each is not None]
    assert found == objects()


def test_a_packed_file_has_the_texts_of_the_plain_one(file: Path) -> None:
    packed = file.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(b"\n".join(objects())))

    assert texts(packed) == objects()


def test_a_text_over_the_limit_is_let_go_and_the_others_are_kept(file: Path) -> None:
    large = lines([serving(errors=["x" * 5000])])
    file.write_bytes(large + objects()[0] + b"\n")

    found = written_in(file, most_bytes=4000)

    assert [isinstance(each, Written) and each.text for each in found] == [None, objects()[0]]


def test_a_part_that_cannot_be_read_stands_between_the_results(file: Path) -> None:
    first, second, _ = objects()
    file.write_bytes(first + b'\n{"cut\n' + second + b"\n")

    kinds = [type(each) for each in written_in(file)]

    assert kinds == [Written, Unreadable, Written]


def test_a_reading_that_comes_late_has_the_lines_from_its_beginning(file: Path) -> None:
    """A whole log is one reading, and comes after those of objects between its lines."""
    file.write_bytes(b"one\ntwo\nthree\n")
    (template,) = read_bytes(lines([serving()]), file="x").readings

    def parts() -> Iterator[Reading]:
        for line in (2, 1):
            yield Reading(
                file="x",
                line=line,
                tool="log",
                tool_version=None,
                definition=1,
                condition={},
                metrics={},
                facts=template.facts,
            )

    found = list(written_results(parts(), lambda: lines_in(file), most_bytes=MOST_BYTES))

    assert [each.text for each in found if isinstance(each, Written)] == [
        b"two\nthree",
        b"one\ntwo\nthree",
    ]


def sample_files() -> list[Path]:
    return sorted(path for path in shared("bench").rglob("*") if path.suffix in {".json", ".jsonl"})


def test_every_sample_reads_the_same_out_of_its_texts() -> None:
    """A text alone holds all that was read from it, so what is kept can be read again."""
    unlike = [problem for path in sample_files() for problem in _unlike(path)]

    assert unlike == []


def _unlike(path: Path) -> list[str]:
    return [
        f"{path.name}:{each.readings[0].line}"
        for each in written_in(path)
        if isinstance(each, Written)
        and each.readings[0].tool in JSON_TOOLS
        and _metrics(each.text or b"") != [reading.metrics for reading in each.readings]
    ]


def _metrics(text: bytes) -> list[object]:
    return [reading.metrics for reading in read_bytes(text, file="text").readings]
