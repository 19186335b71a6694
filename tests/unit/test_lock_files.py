"""Locks: one exact, hashed version of each package."""

from hashlib import sha256
from pathlib import Path

import pytest

from service.formats.lock_files import Lock, read_lock
from service.formats.yaml_file import FileProblemsError
from tests.matrix_directory import HASH, LOCK


def read(folder: Path, text: str) -> Lock:
    path = folder / "a.lock"
    path.write_text(text, encoding="utf-8")
    return read_lock(path)


def test_a_lock_is_its_pins_and_the_digest_of_its_bytes(tmp_path: Path) -> None:
    text = LOCK.format(release="0.5.23")

    lock = read(tmp_path, text)

    assert lock.pins == {"aiohttp": "3.14.5", "sglang": "0.5.23", "async-timeout": "5.0.1"}
    assert lock.digest == sha256(text.encode()).hexdigest()


def test_a_package_that_only_some_pythons_need_is_known_as_such(tmp_path: Path) -> None:
    lock = read(tmp_path, LOCK.format(release="0.5.23"))

    assert lock.sometimes == {"async-timeout"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a==1\n", ":1: a has no --hash", id="no hash"),
        pytest.param(f"a>=1 --hash={HASH}\n", ":1: a is not pinned", id="not pinned"),
        pytest.param(f"a==1.* --hash={HASH}\n", ":1: a is not pinned", id="a wildcard"),
        pytest.param(
            f"a @ https://x.invalid/a --hash={HASH}\n", "a is not pinned", id="an address"
        ),
        pytest.param(f"\na b --hash={HASH}\n", ":2: not a requirement: 'a b'", id="nonsense"),
        pytest.param("--pre\n", "an option, --pre", id="an option"),
        pytest.param(
            f"a==1 --hash={HASH}\nA==2 --hash={HASH}\n", ":2: a: pinned twice", id="pinned twice"
        ),
    ],
)
def test_a_lock_that_does_not_pin_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileProblemsError) as caught:
        read(tmp_path, text)

    assert message in str(caught.value)
