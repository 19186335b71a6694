"""Small wheels for tests, written by hand: what is in them is what a test says."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile


def made_wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    files: Mapping[str, str] | None = None,
    *,
    tag: str = "py3-none-any",
    inside: str | None = None,
) -> Path:
    """Write a wheel and return it. files: texts by place. inside: the version that it says itself.

    Without files it brings an empty module of its name.
    """
    module = name.replace("-", "_")
    path = folder / f"{module}-{version}-{tag}.whl"
    info = f"{module}-{version}.dist-info"
    told = {
        **(files if files is not None else {f"{module}/__init__.py": ""}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {inside or version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/RECORD": "",
    }
    with ZipFile(path, "w") as archive:
        for place, text in told.items():
            archive.writestr(place, text)
    return path
