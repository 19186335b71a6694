"""Opening files: what is none has its own code, and nothing that might never end is waited for."""

import os
import socket
from pathlib import Path

import pytest

from service.formats.tools.registry import read_file
from tests.results import lines, serving


def code_of(path: Path) -> str:
    found = read_file(path)
    (part,) = found.unreadable
    assert found.readings == ()
    assert (part.file, part.line) == (str(path), None)
    return part.code


def test_a_name_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert code_of(tmp_path / "none.jsonl") == "no_such_file"
    assert code_of(tmp_path / "file" / "none.jsonl") == "no_such_file"


def test_a_link_to_itself_is_a_loop(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    assert code_of(tmp_path / "a") == "symlink_loop"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert code_of(tmp_path) == "folder_without_results"


def test_a_named_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert code_of(tmp_path / "pipe") == "not_a_file"


def test_devices_and_sockets_are_not_read(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "s"))

        assert code_of(tmp_path / "s") == "not_a_file"
    assert code_of(Path(os.devnull)) == "not_a_file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_one_may_not_read(tmp_path: Path) -> None:
    (tmp_path / "mine").touch(mode=0)

    assert code_of(tmp_path / "mine") == "no_permission"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    assert code_of(tmp_path / name) == "cannot_open"


def test_what_a_shell_hands_over_is_read_although_it_is_a_pipe() -> None:
    reading, writing = os.pipe()
    os.write(writing, lines([serving()]))
    os.close(writing)
    try:
        assert len(read_file(Path(f"/dev/fd/{reading}")).readings) == 1
    finally:
        os.close(reading)
