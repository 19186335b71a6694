"""Lines out of streams: unpacked, bounded, and what holds no text says what it is."""

import gzip
import io
import lzma
import tracemalloc
from collections.abc import Iterator

import pytest

from service.formats.tools.lines import MAX_OBJECT_BYTES, chunks_of, lines_of
from service.formats.tools.tool import Problem

MIB = 2**20


class Breaking(io.RawIOBase):
    """A file on a disk that fails after its first bytes."""

    def __init__(self) -> None:
        self.left = [b"one\ntwo\nthr"]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self.left:
            raise OSError(5, "Input/output error")
        piece = self.left.pop()
        buffer[: len(piece)] = piece
        return len(piece)


def streamed(data: bytes) -> list[bytes | Problem | None]:
    return list(lines_of(chunks_of(io.BufferedReader(io.BytesIO(data)))))


def code_of(data: bytes) -> str:
    (problem,) = streamed(data)
    assert isinstance(problem, Problem)
    return problem.code


def test_lines_come_without_their_ends_whatever_the_chunks() -> None:
    assert list(lines_of(iter([b"a", b"b\nc\r\n", b"\nd"]))) == [b"ab", b"c\r", b"", b"d"]


def test_a_line_over_the_limit_is_let_go_and_the_next_one_kept() -> None:
    chunks = (b"x" * MIB for _ in range(MAX_OBJECT_BYTES // MIB + 1))

    assert list(lines_of(_then(chunks, b"\nnext\n"))) == [None, b"next"]


def test_gzip_of_several_members_is_one_text() -> None:
    assert streamed(gzip.compress(b"a\n") + gzip.compress(b"b\n")) == [b"a", b"b"]


@pytest.mark.parametrize("cut", [-1, -6, -9])
def test_a_gzip_that_is_cut_gives_what_came_before_and_says_so(cut: int) -> None:
    *kept, problem = streamed(gzip.compress(b"a\nb\n")[:cut])

    assert isinstance(problem, Problem)
    assert problem.code == "damaged_gzip"
    assert kept in ([b"a", b"b"], [])


def test_a_disk_that_fails_gives_what_came_before_and_says_so() -> None:
    *kept, problem = lines_of(chunks_of(io.BufferedReader(Breaking())))

    assert isinstance(problem, Problem)
    assert (kept, problem.code) == ([b"one", b"two", b"thr"], "read_failed")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "empty", id="nothing"),
        pytest.param(b"\xef\xbb\xbf \r\n", "empty", id="a mark and blanks"),
        pytest.param(gzip.compress(b""), "empty", id="nothing, packed"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", "lfs_pointer", id="pointer"),
        pytest.param(b"\x7fELF\0\0\0", "binary", id="a program"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary", id="a picture"),
        pytest.param(b"PK\x03\x04\0\0", "packed", id="a zip archive"),
        pytest.param(lzma.compress(b"{}"), "packed", id="xz"),
        pytest.param('{"a": 1}'.encode("utf-16"), "utf16", id="UTF-16"),
    ],
)
def test_what_is_no_text_says_what_it_is(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_a_thousand_times_as_much_packed_zeros_take_no_more_memory() -> None:
    bomb = gzip.compress(b"0" * (256 * MIB))
    tracemalloc.start()

    lines = streamed(bomb)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lines == [None]
    assert peak < 2 * MAX_OBJECT_BYTES


def _then(chunks: Iterator[bytes], last: bytes) -> Iterator[bytes]:
    yield from chunks
    yield last
