"""The candidate of a gate: the base with what a person names instead, or a stack of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from service.cli.gate_wheels import GIT, NamedWheel, is_wheel, wheel_of, wheel_of_commit
from service.cli.plan import overrides
from service.formats.chosen_stacks import (
    ChosenStack,
    OverrideError,
    chosen,
    chosen_file,
    with_overrides,
    with_wheel,
)
from service.formats.gate_answers import GateCandidate, GateOverride
from service.formats.gate_plans import Side
from service.formats.matrix_files import Matrix

STACK_FILE = ".yaml"


@dataclass(frozen=True, slots=True)
class Named:
    """What a person names as the candidate.

    instead: the --with options. stack: a stack of the matrix or a path to a file of one; None for
    the base's. source: the repository that commits are of.
    """

    instead: Sequence[str]
    stack: str | None
    source: Path


def candidate_of(named: Named, matrix: Matrix, base: Side) -> tuple[Side, GateCandidate]:
    """Return the candidate and how it came about.

    Raises OverrideError, UnknownFileError and FileProblemsError.
    """
    file, instead = _file(named)
    _require_each_once(instead)
    side = Side(_stack(file, matrix), {}) if file else base
    told: list[GateOverride] = []
    for text in instead:
        side, override = _with(side, text, named.source)
        told.append(override)
    stack = side.stack.stack
    return side, GateCandidate(
        stack_key=stack.key, stack_name=stack.name, file=file, overrides=tuple(told)
    )


def require_readable(named: Named, matrix: Matrix) -> None:
    """Read what a person names as far as that needs no base, and build nothing.

    Raises OverrideError, UnknownFileError and FileProblemsError.
    """
    file, instead = _file(named)
    _require_each_once(instead)
    if file:
        _stack(file, matrix)
    for text in instead:
        name, _, value = text.partition("=")
        if is_wheel(value):
            wheel_of(name, value)
        elif not value.startswith(GIT):
            _require_no_path(name, value)


def _file(named: Named) -> tuple[str | None, Sequence[str]]:
    """Return the stack that is named, by --stack or as --with FILE, and the other overrides."""
    files = [text for text in named.instead if text.endswith(STACK_FILE) and "=" not in text]
    every = [*files, *([named.stack] if named.stack else [])]
    if len(every) > 1:
        raise OverrideError(f"one stack can be the candidate, not {' and '.join(every)}")
    if not every and not named.instead:
        raise OverrideError("name what is different: --with COMPONENT=…, or --stack FILE")
    return next(iter(every), None), [text for text in named.instead if text not in files]


def _stack(name: str, matrix: Matrix) -> ChosenStack:
    is_path = name.endswith(STACK_FILE) or "/" in name
    return chosen_file(Path(name)) if is_path else chosen(matrix, name)


def _with(side: Side, text: str, source: Path) -> tuple[Side, GateOverride]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise OverrideError(f"--with takes COMPONENT=VERSION, =WHEEL or =git:COMMIT, not {text!r}")
    if value.startswith(GIT):
        return _with_wheel(side, wheel_of_commit(name, value, source=source))
    if is_wheel(value):
        return _with_wheel(side, wheel_of(name, value))
    _require_no_path(name, value)
    ((component, version),) = overrides([text])
    changed = with_overrides(side.stack, [(component, version)])
    told = GateOverride(component=component, kind="version", asked=text, version=version)
    return replace(side, stack=changed), told


def _require_no_path(name: str, value: str) -> None:
    """Raise OverrideError for a path that is no wheel's: it would be taken for a version."""
    if "/" not in value:
        return
    is_folder = Path(value).expanduser().is_dir()
    wheels = f"{value.rstrip('/')}/*.whl" if is_folder else "./dist/*.whl"
    raise OverrideError(f"{name}={value} is a path and no wheel; name the wheel: {name}={wheels}")


def _require_each_once(instead: Sequence[str]) -> None:
    names = [canonicalize_name(text.partition("=")[0]) for text in instead]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise OverrideError(f"{', '.join(twice)} is named twice: one --with for each component")


def _with_wheel(side: Side, wheel: NamedWheel) -> tuple[Side, GateOverride]:
    changed = with_wheel(side.stack, wheel.order)
    return Side(changed, {**side.artefacts, **wheel.parts}), wheel.told
