"""Hygiene: what must never stand in a file that git tracks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tracked_files import ROOT, text_of, tracked_files

MAX_BYTES = 2**20
BINARY = frozenset({".png", ".woff2", ".ico", ".zst", ".gz"})
TEXTS = tuple(path for path in tracked_files() if path.suffix not in BINARY)
LOCKS = tuple(path for path in TEXTS if path.suffix == ".lock")

# Hosts that serve packages or images. They stand here in pieces, so that this file names none.
HOSTS = tuple(
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmmirror", "com"),
        ("yarnpkg", "com"),
        ("download", "pytorch", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("anaconda", "org"),
        ("docker", "io"),
        ("docker", "com"),
        ("ghcr", "io"),
        ("gcr", "io"),
        ("quay", "io"),
        ("baidubce", "com"),
        ("baidu-int", "com"),
        ("aliyuncs", "com"),
        ("mirrors", "aliyun", "com"),
        ("tuna", "tsinghua", "edu"),
        ("mirrors", "ustc", "edu"),
        ("cloud", "tencent", "com"),
        ("huaweicloud", "com"),
        ("huggingface", "co"),
        ("modelscope", "cn"),
    )
)
HOST = re.compile("|".join(rf"\b{re.escape(host)}\b" for host in HOSTS), re.IGNORECASE)

# The same trick: a home directory, but not the API's path of that name, which has no slash before.
HOME = re.compile(r"(?<![\w.$}])/" + r"(?:(?:home|Users)/[a-z][\w.-]*|root/)")

# Options that would put an index's address into a file.
INDEX_OPTION = re.compile("--(?:extra-)?index" + "-url|--find" + "-links[= ]https?:")

# The text of a licence is somebody else's, and stays as it is.
NOT_OURS = frozenset({Path("LICENSE")})


def lines_matching(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield each line of a tracked text in which a pattern is found, as path:line: match."""
    for path in TEXTS:
        if path in NOT_OURS:
            continue
        for number, line in enumerate(text_of(path).splitlines(), start=1):
            if match := pattern.search(line):
                yield f"{path}:{number}: {match[0]}"


def pins(lock: str) -> list[str]:
    """Return the requirements of a lock, each with the lines that continue it."""
    joined = lock.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def flaw_of(content: bytes) -> str | None:
    """Return what is wrong with the bytes of a text, or None."""
    if b"\r" in content:
        return "a carriage return"
    if content and not content.endswith(b"\n"):
        return "no newline at its end"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8"
    return None


def test_no_file_names_the_host_of_a_registry() -> None:
    found = list(lines_matching(HOST))

    assert found == []


def test_no_file_names_an_index_by_address() -> None:
    found = list(lines_matching(INDEX_OPTION))

    assert found == []


def test_no_file_names_somebodys_home_directory() -> None:
    found = list(lines_matching(HOME))

    assert found == []


def test_uv_lock_is_not_tracked() -> None:
    found = [path for path in tracked_files() if path.name == "uv.lock"]

    assert found == []


def test_there_are_locks_to_look_at() -> None:
    assert {Path("requirements.lock"), Path("requirements-dev.lock")} <= set(LOCKS)


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_a_lock_names_no_address(lock: Path) -> None:
    assert "://" not in text_of(lock)
    assert " @ " not in text_of(lock)


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_every_pin_of_a_lock_is_exact_and_hashed(lock: Path) -> None:
    loose = [
        pin.split()[0]
        for pin in pins(text_of(lock))
        if "==" not in pin or not re.search(r"--hash=sha256:[0-9a-f]{64}\b", pin)
    ]

    assert loose == []


def test_no_file_is_over_one_mebibyte() -> None:
    large = [str(path) for path in tracked_files() if (ROOT / path).stat().st_size > MAX_BYTES]

    assert large == []


def test_every_text_is_utf_8_and_ends_with_a_newline() -> None:
    found = [f"{path}: {flaw}" for path in TEXTS if (flaw := flaw_of((ROOT / path).read_bytes()))]

    assert found == []


@pytest.mark.parametrize(
    ("content", "flaw"),
    [
        pytest.param(b"", None, id="empty"),
        pytest.param("卡\n".encode(), None, id="a line of Chinese"),
        pytest.param(b"a\r\n", "a carriage return", id="written on Windows"),
        pytest.param(b"a", "no newline at its end", id="cut off"),
        pytest.param(b"\xff\n", "not UTF-8", id="Latin-1"),
    ],
)
def test_a_flaw_of_a_text_is_seen(content: bytes, flaw: str | None) -> None:
    assert flaw_of(content) == flaw
