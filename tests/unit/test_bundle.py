"""A bundle: everything is verified, nothing of the host that made it is left, and glibc is told."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from platform import machine

import pytest

from runners.stacks import bundle_parts
from runners.stacks.bundle import (
    ENVIRONMENTS,
    FOLDER,
    AlreadyThereError,
    BundleDamagedError,
    DiskTooSmallError,
    Extras,
    TooNewError,
    packed,
    ready,
    require_space,
    unpacked,
)
from runners.stacks.elf import RunPathError, looking_beside, needed_glibc
from tests.made_wheel import made_wheel

DIGEST = "a" * 64
MINOR = f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a bundle's own folder with a program that stands for its Python."""
    root = tmp_path / "tree"
    program = root / "python" / "bin" / MINOR
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho bundled\n", encoding="utf-8")
    program.chmod(0o755)
    bundle_parts.scripts(root, program)
    (root / "python" / "__pycache__").mkdir()
    (root / "python" / "__pycache__" / "left.pyc").write_bytes(b"left out")
    return root


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return an environment as it is built on the host that makes a bundle."""
    root = tmp_path / "environments" / DIGEST
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "python").symlink_to("/usr/bin/env")
    (root / "bin" / "tool").write_text("tool", encoding="utf-8")
    (root / "lib").mkdir()
    (root / "lib" / "library.so").write_bytes(b"\x7fELF GLIBC_2.17\0 GLIBC_2.28\0")
    config = "home = /nowhere/bin\ninclude-system-site-packages = false\n"
    (root / "pyvenv.cfg").write_text(config, encoding="utf-8")
    return root


def made(tree: Path, environment: Path, out: Path, glibc: str | None = None) -> Mapping[str, str]:
    program = tree / "python" / "bin" / MINOR
    _, needs = packed(tree, {DIGEST: environment}, out, python=program, glibc=glibc)
    return needs.parts


def test_a_loaded_environment_stands_on_the_bundles_python_wherever_it_lies(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    root = unpacked(tmp_path / "bundle.tar", tmp_path / "there")

    manifest = ready(root)

    there = root / ENVIRONMENTS / DIGEST
    assert manifest.environments == (DIGEST,)
    assert (there / "bin" / "python").resolve() == root / "python" / "bin" / MINOR
    config = (there / "pyvenv.cfg").read_text(encoding="utf-8")
    assert config == f"home = {root}/python/bin\ninclude-system-site-packages = false\n"
    assert (root / "bin" / "kunline").stat().st_mode & 0o111


def test_a_bundle_that_was_moved_is_made_ready_again(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    root = unpacked(tmp_path / "bundle.tar", tmp_path / "there")
    ready(root)
    moved = root.rename(tmp_path / "elsewhere")

    ready(moved)

    link = moved / ENVIRONMENTS / DIGEST / "bin" / "python"
    assert link.resolve() == moved / "python" / "bin" / MINOR


def test_nothing_of_the_host_that_made_it_is_in_it(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")

    with tarfile.open(tmp_path / "bundle.tar") as archive:
        members = {member.name: member for member in archive.getmembers()}
    assert not [name for name in members if "__pycache__" in name]
    assert not [name for name, each in members.items() if each.linkname.startswith("/")]
    assert f"{FOLDER}/{ENVIRONMENTS}/{DIGEST}/bin/python" not in members
    assert f"{FOLDER}/{ENVIRONMENTS}/{DIGEST}/bin/tool" in members


@pytest.mark.parametrize(
    "place", ["bin/kunline", f"{ENVIRONMENTS}/{DIGEST}/lib/library.so", f"python/bin/{MINOR}"]
)
def test_a_file_that_is_not_the_one_packed_is_named(
    place: str, tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    root = unpacked(tmp_path / "bundle.tar", tmp_path / "there")
    with (root / place).open("ab") as stream:
        stream.write(b"!")

    with pytest.raises(BundleDamagedError, match=f"1 files are not those packed: {place}"):
        ready(root)


def test_half_an_archive_and_a_folder_that_is_none_are_refused(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    half = tmp_path / "half.tar"
    half.write_bytes((tmp_path / "bundle.tar").read_bytes()[:3000])

    with pytest.raises(BundleDamagedError, match="cannot be unpacked"):
        unpacked(half, tmp_path / "there")
    with pytest.raises(BundleDamagedError, match="no unpacked bundle"):
        ready(tmp_path / "there")


def test_a_part_that_needs_a_newer_c_library_than_the_site_has_is_named(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    found = r"glibc 2\.17 is wanted.*\(aaaaaaaaaaaa: 2\.28 for library\.so\)"
    with pytest.raises(TooNewError, match=found):
        made(tree, environment, tmp_path / "bundle.tar", glibc="2.17")
    assert not (tmp_path / "bundle.tar").exists()

    needs = made(tree, environment, tmp_path / "bundle.tar", glibc="2.31")
    assert needs == {"runner": "2.17", DIGEST[:12]: "2.28"}


def test_a_host_with_an_older_c_library_is_told_before_anything_is_unpacked(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    (environment / "lib" / "library.so").write_bytes(b"\x7fELF GLIBC_2.999\0")
    made(tree, environment, tmp_path / "bundle.tar")

    with pytest.raises(BundleDamagedError, match=r"needs glibc 2\.999 \(aaaaaaaaaaaa: 2\.999\)"):
        unpacked(tmp_path / "bundle.tar", tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_a_bundle_for_another_machine_is_refused(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    root = unpacked(tmp_path / "bundle.tar", tmp_path / "there")
    told = root / "manifest.json"
    told.write_text(told.read_text().replace(f'"{machine()}"', '"riscv64"'), encoding="utf-8")

    with pytest.raises(BundleDamagedError, match="it is for riscv64"):
        ready(root)


def test_a_folder_that_is_there_is_not_written_into(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    made(tree, environment, tmp_path / "bundle.tar")
    unpacked(tmp_path / "bundle.tar", tmp_path)

    with pytest.raises(AlreadyThereError, match="move it away"):
        unpacked(tmp_path / "bundle.tar", tmp_path)


def test_a_disk_that_is_too_small_is_told_before_it_is_full(tmp_path: Path) -> None:
    with pytest.raises(DiskTooSmallError, match=r"1000000000\.0 GB are needed"):
        require_space(tmp_path, 10**18)


# A host of the vendor's, as far as a shell sees it: its C library is asked of getconf.
OLDER = "#!/bin/sh\necho glibc 2.31\n"


@pytest.mark.parametrize("needed", ["2.17", "2.35"])
def test_the_script_in_front_unpacks_a_bundle_only_where_it_can_run(
    needed: str, tree: Path, environment: Path, tmp_path: Path
) -> None:
    library = environment / "lib" / "library.so"
    library.write_bytes(f"\x7fELF GLIBC_{needed}\0".encode("latin-1"))
    made(tree, environment, tmp_path / "bundle.tar")
    getconf = tmp_path / "bin" / "getconf"
    getconf.parent.mkdir()
    getconf.write_text(OLDER, encoding="utf-8")
    getconf.chmod(0o755)

    line = f"tar xOf bundle.tar {FOLDER}/load | sh -s -- bundle.tar there"
    (tmp_path / "there").mkdir()
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path,
        env={"PATH": f"{getconf.parent}{os.pathsep}{os.defpath}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    there = [path.name for path in (tmp_path / "there").iterdir()]
    if needed == "2.17":
        assert (done.returncode, done.stdout, there) == (0, "bundled\n", [FOLDER]), done.stderr
    else:
        assert (done.returncode, there) == (1, [])
        assert "needs glibc 2.35 (runner: 2.17, aaaaaaaaaaaa: 2.35)" in done.stderr
        assert "this host has 2.31" in done.stderr


def test_images_and_plugins_go_along_and_are_verified_as_all_else(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    wheel = made_wheel(tmp_path, "plugin")
    extras = Extras({f"plugins/{DIGEST}/{wheel.name}": wheel})
    program = tree / "python" / "bin" / MINOR
    out = tmp_path / "bundle.tar"
    packed(tree, {DIGEST: environment}, out, python=program, glibc=None, extras=extras)
    root = unpacked(out, tmp_path / "there")
    ready(root)
    (root / "plugins" / DIGEST / wheel.name).write_bytes(b"another")

    with pytest.raises(BundleDamagedError, match="1 files are not those packed: plugins"):
        ready(root)


@pytest.mark.parametrize("drives", [True, False], ids=["a client", "a stack"])
def test_what_only_a_server_loads_on_demand_asks_nothing_of_a_host_that_only_drives(
    *, drives: bool, tree: Path, environment: Path, tmp_path: Path
) -> None:
    place = environment / "lib" / "sglang" / "srt" / "rust_extensions"
    place.mkdir(parents=True)
    (place / "_server.so").write_bytes(b"\x7fELF GLIBC_2.34\0")
    (place / "loader.py").write_text("loads it on demand", encoding="utf-8")
    extras = Extras(clients=frozenset({DIGEST} if drives else ()))
    program, out = tree / "python" / "bin" / MINOR, tmp_path / "bundle.tar"

    _, needs = packed(tree, {DIGEST: environment}, out, python=program, glibc=None, extras=extras)

    with tarfile.open(out) as archive:
        names = [Path(name).name for name in archive.getnames()]
    assert needs.parts[DIGEST[:12]] == ("2.28" if drives else "2.34")
    assert ("_server.so" in names) is not drives
    assert "loader.py" in names


def test_a_name_of_a_newer_c_library_is_no_need_of_it(tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(sys.executable, program)
    with program.open("ab") as stream:
        stream.write(b"\0GLIBC_2.99\0")

    assert needed_glibc(program) == needed_glibc(Path(sys.executable)) != "2.99"


def test_a_host_without_a_library_that_the_bundles_python_loads_is_told_before_anything_is_unpacked(
    tree: Path, environment: Path, tmp_path: Path
) -> None:
    shutil.copy(sys.executable, tree / "python" / "bin" / MINOR)
    program = tree / "python" / "bin" / MINOR
    content = program.read_bytes()
    # Of the two that every program loads, one that no host has: a name of the same length.
    assert b"libc.so.6\0" in content
    program.write_bytes(content.replace(b"libc.so.6\0", b"libq.so.6\0"))
    made(tree, environment, tmp_path / "bundle.tar")
    line = f"tar xOf bundle.tar {FOLDER}/load | sh -s -- bundle.tar"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 1
    assert "this host has no libq.so.6" in done.stderr
    assert not (tmp_path / FOLDER).exists()


def test_a_python_of_another_release_is_refused_and_which_is_wanted_is_said(
    tmp_path: Path,
) -> None:
    with pytest.raises(bundle_parts.PackingError, match=rf"give a {MINOR} with --python"):
        bundle_parts.own_python(tmp_path, tmp_path / "bin" / "python")


def test_a_text_needs_no_c_library_in_particular(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("it says GLIBC_2.99", encoding="utf-8")

    assert needed_glibc(tmp_path / "text") == "2.17"


def test_a_program_is_told_to_look_for_libraries_beside_itself(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0/opt/somewhere/python/lib\0rest")

    looking_beside(program, Path("/opt/somewhere/python/lib"))

    assert program.read_bytes() == b"\x7fELF\0$ORIGIN/../lib" + b"\0" * 12 + b"rest"


def test_a_place_too_short_to_be_replaced_is_refused_and_said(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0/usr/lib\0rest")

    with pytest.raises(RunPathError, match="give a relocatable Python"):
        looking_beside(program, Path("/usr/lib"))
