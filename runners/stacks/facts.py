"""Every component of a stack that can be found out, asked from inside the measured Python."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from runners.stacks.measured import ProbeError
from service.domain.key import short
from service.domain.layer import Layer
from service.domain.stack import UNKNOWN, Component, SwapScope

PROBE = Path(__file__).parent / "inside" / "facts.py"
LIMIT_S = 180.0
ERROR_CHARACTERS = 1500
COMMIT_CHARACTERS = 7

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
# The vendor's keys that name the same thing as a pin does, and that in the same notation. Its
# notations of the other two are others than those of their packages, so they get other names.
_XMLIR = {
    "XRE": ("xre", Layer.RUNTIME),
    "XTDK": ("xtdk", Layer.RUNTIME),
    "XHPC": ("xhpc", Layer.RUNTIME),
    "CUPTI": ("cupti", Layer.RUNTIME),
    "XCCL": ("xccl-build", Layer.COLLECTIVES),
    "XPYTORCH": ("xpytorch-build", Layer.PACKAGES),
}
_LAYERS = {
    "sglang": Layer.SERVER,
    "deep-ep": Layer.COLLECTIVES,
    "flagcx": Layer.COLLECTIVES,
    "xmooncake": Layer.COLLECTIVES,
    **dict.fromkeys(
        (
            "kunlun-ops",
            "xspeedgate-ops",
            "cocopod",
            "xtorch-ops",
            "sgl-kernel",
            "sglang-kernel",
            "triton",
            "flagtree",
            "flag-gems",
            "tilelang",
        ),
        Layer.OPERATOR,
    ),
}


class _Said(BaseModel):
    """What the probe prints; a newer one may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Point(_Said):
    distribution: str
    group: str
    name: str
    value: str


class _Content(_Said):
    commit: str | None = None
    tree: str | None = None


class _Library(_Said):
    name: str
    sha256: str


class _Facts(_Said):
    python: str
    glibc: str
    versions: Mapping[str, str]
    entry_points: tuple[_Point, ...]
    plugins: Mapping[str, _Content]
    kernels: Mapping[str, str | None]
    origins: Mapping[str, str | None]
    xmlir: Mapping[str, str]
    libraries: Mapping[str, _Library]
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StackFacts:
    """What was seen: components as a stack pins or records them, and what could not be looked at.

    failed: by module that was to be imported, what went wrong.
    """

    components: tuple[Component, ...]
    failed: Mapping[str, str]

    @property
    def observed(self) -> Mapping[str, str]:
        """Versions by component name, for the comparison with what a stack pins."""
        return {component.name: component.version for component in self.components}


def stack_facts(
    python: Path,
    *,
    variables: Mapping[str, str],
    imports: Sequence[str] = (),
    pid: int | None = None,
    limit_s: float = LIMIT_S,
) -> StackFacts:
    """Return every component that a Python can tell of. Raises ProbeError.

    variables: the runner's own, of which few are passed on. imports: modules to import first, which
    load a chip's libraries and may touch its cards. pid: whose libraries are told, of a live
    server; without it the probe's own.
    """
    words = [word for name in imports for word in ("--import", name)]
    words += [] if pid is None else ["--pid", str(pid)]
    # Not -I: a checkout on PYTHONPATH is how some of these stacks are put together.
    command = [str(python), "-s", str(PROBE), *words]
    passed_on = {name: variables[name] for name in _PASSED_ON if name in variables}
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=limit_s,
            env=passed_on,
        )
        return _facts(_Facts.model_validate_json(answer.stdout))
    except subprocess.CalledProcessError as error:
        end = error.stderr.decode(errors="replace").strip()[-ERROR_CHARACTERS:]
        raise ProbeError(f"{python} does not tell its components: {end}") from error
    except (OSError, subprocess.SubprocessError, ValidationError) as error:
        raise ProbeError(f"{python} does not tell its components: {error}") from error


def _facts(said: _Facts) -> StackFacts:
    plugins = {point.distribution for point in said.entry_points}
    packages = [
        _component(name, _build_of(version, said.plugins.get(name)), _layer(name, plugins))
        for name, version in said.versions.items()
    ]
    found = {component.name: component for component in (*_recorded(said), *_vendor(said))}
    found |= {component.name: component for component in packages}
    return StackFacts(tuple(found[name] for name in sorted(found)), said.failed)


def _layer(name: str, plugins: set[str]) -> Layer:
    return Layer.PLUGIN if name in plugins else _LAYERS.get(name, Layer.PACKAGES)


def _build_of(version: str, content: _Content | None) -> str:
    """Return a plugin's version with what tells its builds apart, unless it says so itself.

    sglang-kunlun calls every commit 0.1.0.
    """
    if content is None or "+" in version:
        return version
    if content.commit:
        return f"{version}+{content.commit[:COMMIT_CHARACTERS]}"
    return f"{version}+tree.{short(content.tree)}" if content.tree else version


def _vendor(said: _Facts) -> list[Component]:
    """Return what the vendor's dict tells; what has no known key is recorded under its own."""
    found = []
    for key, version in said.xmlir.items():
        name, layer = _XMLIR.get(key.upper(), (f"xmlir-{key.lower()}", Layer.PACKAGES))
        recorded = key.upper() not in _XMLIR
        found.append(Component(name, version, layer, SwapScope.CONTAINER, recorded=recorded))
    return found


def _recorded(said: _Facts) -> list[Component]:
    """Return what explains a difference, and is not held against a stack by itself."""
    told = {
        "glibc": said.glibc or UNKNOWN,
        **{f"origin-{name}": place for name, place in said.origins.items() if place},
        **{f"binaries-{name}": short(sha) for name, sha in said.kernels.items() if sha},
        **_libraries(said.libraries),
        **{
            f"entry-point-{point.name}": f"{point.distribution}: {point.value}"
            for point in said.entry_points
        },
        "python": said.python,
    }
    return [
        Component(name, version, Layer.PACKAGES, SwapScope.CONTAINER, recorded=name != "python")
        for name, version in told.items()
    ]


def _libraries(found: Mapping[str, _Library]) -> Mapping[str, str]:
    """Return loaded libraries by name; second copies of one name are told side by side."""
    by_name: dict[str, set[str]] = {}
    for library in found.values():
        seen = library.sha256
        by_name.setdefault(library.name, set()).add(seen if "(" in seen else short(seen))
    return {f"library-{name}": " and ".join(sorted(shas)) for name, shas in by_name.items()}


def _component(name: str, version: str, layer: Layer) -> Component:
    return Component(name, version, layer, SwapScope.PROCESS)
