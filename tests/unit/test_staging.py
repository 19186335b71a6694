"""Weights are copied and hashed once: broken off they go on, changed they are noticed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from runners.launch_checks import weights
from runners.preflight.layers import Breaks, Works
from runners.stacks import staging
from runners.stacks.staging import StagingError, noted, read_again, staged, unlike
from runners.stacks.tiny_model import TinyLlama, made
from runners.stacks.weights import tokenizer_digest, weights_digest
from service.cli.main import main
from service.formats.orders import ModelOrder
from tests.tracked_files import ROOT

# The copy is ended in the middle of its second file.
ENDED = """
import os, signal, sys
from pathlib import Path
from runners.stacks import staging
staging.PIECE_BYTES = 100
def progress(done, total):
    if done > 1500:
        os.kill(os.getpid(), signal.SIGKILL)
staging.staged(Path(sys.argv[1]), Path(sys.argv[2]), progress=progress)
"""

SHAPE = TinyLlama(seed=1, vocab=512, hidden=32, layers=1, heads=2, kv_heads=1, context=64)


def unseen(_done: int, _total: int) -> None:
    """Let nobody see how far it is."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder such as a hub's cache: names that are links, files of some size."""
    blobs, folder = tmp_path / "slow" / "blobs", tmp_path / "slow" / "model"
    blobs.mkdir(parents=True)
    (folder / "sub").mkdir(parents=True)
    for number, name in enumerate(("a.safetensors", "b.safetensors", "sub/config.json")):
        (blobs / str(number)).write_bytes(bytes([number]) * 1000)
        (folder / name).symlink_to(blobs / str(number))
    return folder


def test_what_was_staged_is_whole_real_and_noted(source: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    note, copied = staged(source, tmp_path / "there", progress=lambda *at: seen.append(at))

    assert copied == 3000
    assert seen[-1] == (3000, 3000)
    assert (tmp_path / "there" / "sub" / "config.json").read_bytes() == b"\2" * 1000
    assert not (tmp_path / "there" / "a.safetensors").is_symlink()
    assert unlike(tmp_path / "there", note) == ()
    assert staged(source, tmp_path / "there", progress=unseen) == (note, 0)


def test_a_copy_that_was_killed_goes_on_where_it_stopped(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "there"
    died = subprocess.run(
        [sys.executable, "-c", ENDED, str(source), str(into)], cwd=ROOT, check=False, timeout=60
    )
    assert died.returncode == -signal.SIGKILL
    assert not into.exists()

    note, copied = staged(source, into, progress=unseen)

    # The first file is known, and half of the second was there already.
    assert 1000 < copied < 1600
    assert read_again(into, note, progress=unseen) == (note, ())
    assert (into / "b.safetensors").read_bytes() == b"\1" * 1000


def test_half_of_a_file_that_changed_since_is_begun_anew(source: Path, tmp_path: Path) -> None:
    work = tmp_path / ".there.staging"
    work.mkdir()
    (work / ".b.safetensors.1000-1.part").write_bytes(b"old" * 100)

    _, copied = staged(source, tmp_path / "there", progress=unseen)

    assert copied == 3000
    assert not list((tmp_path / "there").glob(".b*"))


def flipped(folder: Path) -> None:
    """Change a byte, and hide it from whoever looks at sizes alone."""
    path = folder / "a.safetensors"
    path.write_bytes(b"\0" * 999 + b"\1")


def shortened(folder: Path) -> None:
    (folder / "a.safetensors").write_bytes(b"\0")


def replaced(folder: Path) -> None:
    (folder / "copy").write_bytes((folder / "a.safetensors").read_bytes())
    (folder / "copy").rename(folder / "a.safetensors")


def removed(folder: Path) -> None:
    (folder / "a.safetensors").unlink()


@pytest.mark.parametrize(
    ("change", "cheap", "full"),
    [
        pytest.param(flipped, "written to or replaced since", "another content", id="a byte"),
        pytest.param(shortened, "1 bytes, and 1000 were staged", "another content", id="half"),
        pytest.param(removed, "No such file", "No such file", id="a file that is gone"),
        pytest.param(replaced, "written to or replaced since", None, id="an equal file"),
    ],
)
def test_a_change_is_seen_without_reading_and_told_by_reading_all(
    change: Callable[[Path], None], cheap: str, full: str | None, source: Path, tmp_path: Path
) -> None:
    note, _ = staged(source, tmp_path / "there", progress=unseen)
    change(tmp_path / "there")

    assert [cheap in each for each in unlike(tmp_path / "there", note)] == [True]
    again, found = read_again(tmp_path / "there", note, progress=unseen)
    assert [str(full) in each for each in found] == ([] if full is None else [True])
    if full is None:
        assert unlike(tmp_path / "there", again) == ()


def test_a_folder_that_was_not_staged_and_other_files_of_one_name_are_refused(
    source: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(StagingError, match="was not staged: move it away"):
        staged(source, tmp_path / "mine", progress=unseen)

    staged(source, tmp_path / "there", progress=unseen)
    (source / "new.safetensors").write_bytes(b"new")
    with pytest.raises(StagingError, match="holds other files"):
        staged(source, tmp_path / "there", progress=unseen)


def test_two_never_stage_into_one_folder_at_once(source: Path, tmp_path: Path) -> None:
    def second(_done: int, _total: int) -> None:
        staged(source, tmp_path / "there", progress=unseen)

    with pytest.raises(StagingError, match="another process stages"):
        staged(source, tmp_path / "there", progress=second)


def test_a_disk_that_is_too_small_is_told_before_anything_is_copied(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MARGIN_BYTES", 10**18)

    with pytest.raises(OSError, match="GB are needed"):
        staged(source, tmp_path / "there", progress=unseen)
    assert list((tmp_path / ".there.staging").iterdir()) == []


def test_the_command_tells_the_digests_and_a_launch_refuses_what_was_changed_since(
    tmp_path: Path,
) -> None:
    model = made(SHAPE, cache=tmp_path / "cache")
    there = tmp_path / "there"

    done = CliRunner().invoke(main, ["weights", "stage", str(model), str(there), "--json"])

    told = json.loads(done.stdout)
    ordered = ModelOrder(
        id="tiny",
        weights_digest=told["weights_digest"],
        tokenizer_digest=told["tokenizer_digest"],
        path=str(there),
    )
    assert done.exit_code == 0
    assert told["weights_digest"] == weights_digest(model)
    assert told["tokenizer_digest"] == tokenizer_digest(model)
    assert isinstance(weights(there, ordered), Works)
    shard = next(there.glob("*.safetensors"))
    with shard.open("r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        stream.write(b"!")

    found = weights(there, ordered)
    assert isinstance(found, Breaks)
    assert f"{shard.name}: written to or replaced since" in found.finding
    note = noted(there)
    assert note is not None
    checked = CliRunner().invoke(main, ["weights", "check", str(there), "--full"])
    assert checked.exit_code == 5
    assert f"{shard.name}: another content" in checked.stdout
