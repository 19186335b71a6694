"""A third party's device is one small package: installed for real, loaded, or refused whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

PACKAGE = Path(__file__).parents[1] / "third_party" / "kunline-abacus"
ASKED = """
from pathlib import Path
from runners.devices.device import chips, device_for
from runners.devices.host import Host
device = device_for("abacus", Host(Path({root!r})))
print(chips(), [card.number for card in device.cards()], device.facts(), device.samples()[1])
"""


def installed(folder: Path, source: Path) -> Path:
    """Install a package from its sources into a folder, without its dependencies and a network."""
    target = folder / "site"
    subprocess.run(
        [
            *(find_uv_bin(), "pip", "install", "--quiet", "--offline", "--no-cache"),
            *("--no-deps", "--no-build-isolation", "--python", sys.executable),
            *("--target", target, source),
        ],
        check=True,
        timeout=100,
        capture_output=True,
    )
    return target


def asked(target: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Look the chip up in a Python of its own that sees the folder."""
    return subprocess.run(
        [sys.executable, "-c", ASKED.format(root=str(root))],
        check=False,
        timeout=60,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(Path.cwd())])},
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package that may be changed."""
    folder = tmp_path_factory.mktemp("plugin") / "source"
    shutil.copytree(PACKAGE, folder)
    return folder


@pytest.fixture(scope="module")
def target(source: Path) -> Path:
    return installed(source.parent, source)


def test_an_installed_third_party_device_is_found_and_tells_its_cards(
    target: Path, tmp_path: Path
) -> None:
    (tmp_path / "proc/abacus").mkdir(parents=True)
    (tmp_path / "proc/abacus/cards").write_text("0 0\n1 8589934592\n")
    (tmp_path / "proc/abacus/version").write_text("7.1\n")

    answer = asked(target, tmp_path)

    assert answer.stderr == ""
    assert answer.stdout.startswith(
        "('abacus', 'cpu', 'kunlun') [0, 1] {'abacus-driver': '7.1'} "
        "CardSample(number=1, memory_used=0.5,"
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        pytest.param(
            "interface_version: ClassVar[int] = 2",
            "it speaks interface 2, and this runner speaks interface 3",
            id="an older interface",
        ),
        pytest.param(
            "interface_version: ClassVar[int] = 4",
            "it speaks interface 4, and this runner speaks interface 3",
            id="a newer interface",
        ),
        pytest.param("", "it speaks an interface it does not name", id="no interface"),
        pytest.param("import no_such_module", "it cannot be imported", id="a broken import"),
    ],
)
def test_a_device_of_another_interface_is_refused_and_none_of_it_is_called(
    target: Path, tmp_path: Path, written: str, said: str
) -> None:
    changed = tmp_path / "site"
    shutil.copytree(target, changed)
    module = changed / "kunline_abacus.py"
    text = module.read_text().replace("interface_version: ClassVar[int] = 3", written)
    module.write_text(text.replace("self._host = host", "raise SystemExit('it was called')"))

    answer = asked(changed, tmp_path)

    assert answer.returncode == 1
    assert f"of kunline-abacus (kunline_abacus:AbacusDevice) is not used: {said}" in answer.stderr


def test_two_packages_that_drive_one_chip_are_both_refused(target: Path, tmp_path: Path) -> None:
    second = tmp_path / "site"
    shutil.copytree(target, second)
    (found,) = second.glob("*.dist-info")
    points = found / "entry_points.txt"
    points.write_text(points.read_text().replace("kunline_abacus:", "other_abacus:"))
    metadata = found / "METADATA"
    metadata.write_text(metadata.read_text().replace("kunline-abacus", "other-abacus"))
    found.rename(second / "other_abacus-1.0.0.dist-info")

    answer = asked(Path(f"{target}{os.pathsep}{second}"), tmp_path)

    assert "drives it as well: uninstall one of them" in answer.stderr
