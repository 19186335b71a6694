"""The stacks a person chose to measure, with the versions they asked for instead."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from service.domain.plan import Arm
from service.domain.stack import Stack, SwapScope, UnknownComponentError, with_version
from service.formats.build_sections import BuildSection
from service.formats.identities import AnyBuild, BuildOrder, StackOrder, WheelOrder
from service.formats.lock_files import Lock
from service.formats.matrix_files import Matrix, read_stack
from service.formats.spelling import hint
from service.formats.stack_files import StackFile
from service.formats.yaml_file import YamlFile

TORCH = "torch"


class OverrideError(ValueError):
    """A version cannot be asked for in this way."""


@dataclass(frozen=True, slots=True)
class ChosenStack:
    """A stack to measure. obstacle: why no runner can bring it up, or None."""

    file: YamlFile[StackFile]
    stack: Stack
    build: AnyBuild | None
    lock: Lock | None
    obstacle: str | None

    @property
    def arm(self) -> Arm:
        """The stack as an arm of a session."""
        return Arm(self.stack, self.file.shown)

    def order(self) -> StackOrder:
        """Return the stack as a runner is asked for it."""
        return StackOrder(
            key=self.stack.key,
            stack=self.stack,
            chip=self.file.shape.chip,
            built_at=self.file.shape.built_at,
            build=self.build,
            launch=self.file.shape.launch,
        )


def chosen(matrix: Matrix, name: str) -> ChosenStack:
    """Return a stack of the matrix. Raises UnknownFileError and FileProblemsError."""
    file = matrix.stacks.named(name)
    return _chosen(file, matrix.locks.get(file.shown))


def chosen_file(path: Path) -> ChosenStack:
    """Return the stack of a file that may lie anywhere. Raises FileProblemsError."""
    return _chosen(*read_stack(path))


def _chosen(file: YamlFile[StackFile], lock: Lock | None) -> ChosenStack:
    stack = file.shape.stack(lock)
    build = file.shape.build
    if build is not None and not isinstance(build, BuildSection):
        return ChosenStack(file, stack, build.order(), None, None)
    if build is None or lock is None:
        why = (
            "it has no build, so no runner can bring it up by itself; write its `build:` section, "
            "see docs/adding-a-stack.md"
        )
        obstacle = f"stack {stack.name}: {why}"
        return ChosenStack(file, stack, None, None, obstacle)
    return ChosenStack(file, stack, build.order(lock), lock, None)


def with_overrides(stack: ChosenStack, overrides: Sequence[tuple[str, str]]) -> ChosenStack:
    """Return a stack with other versions of some components, hence with another key.

    A lock that pins the old version no longer builds the new stack, and what no build installs
    cannot be changed by one: such a stack can be planned and not run. A driver is the host's.
    Raises OverrideError.
    """
    for name, version in overrides:
        stack = _with_override(stack, name, version)
    return stack


def with_wheel(stack: ChosenStack, wheel: WheelOrder) -> ChosenStack:
    """Return a stack with a wheel in place of one of its components, hence with another key.

    It is installed into an environment that a runner builds, and laid over one of a host or image.
    Raises OverrideError where the stack pins no such component of its environment, or no runner
    can bring it up.
    """
    if stack.build is None:
        raise OverrideError(f"no wheel can be put into it: {stack.obstacle}")
    before = stack.stack
    try:
        changed = with_version(before, name=wheel.component, version=wheel.version)
    except UnknownComponentError as error:
        raise OverrideError(
            f"stack {before.name} pins no component {wheel.component!r}; "
            f"{hint(wheel.component, before.versions)}"
        ) from error
    if changed.key == before.key:
        raise OverrideError(f"{wheel.component} is recorded and not pinned in stack {before.name}")
    if (scope := _scope(before, wheel.component)) is not SwapScope.PROCESS:
        raise OverrideError(f"{wheel.component} is of the {scope}: a wheel cannot take its place")
    # A base that was a candidate itself has a wheel in that place already.
    others = (each for each in stack.build.wheels if each.component != wheel.component)
    build = stack.build.model_copy(update={"wheels": (*others, wheel)})
    return replace(stack, stack=changed, build=build)


def _with_override(chosen_stack: ChosenStack, name: str, version: str) -> ChosenStack:
    before = chosen_stack.stack
    try:
        stack = with_version(before, name=name, version=version)
    except UnknownComponentError as error:
        raise OverrideError(
            f"stack {before.name} pins no component {name!r}; {hint(name, before.versions)}"
        ) from error
    if stack.key == before.key:
        raise OverrideError(
            f"stack {before.name} has {name} {before.versions[name]}, recorded or the same: "
            "this makes no other stack"
        )
    changed = replace(chosen_stack, stack=stack)
    build, obstacle = _build_of(changed, name, version)
    return replace(changed, build=build, obstacle=chosen_stack.obstacle or obstacle)


def _build_of(stack: ChosenStack, name: str, version: str) -> tuple[AnyBuild | None, str | None]:
    if stack.build is not None and not isinstance(stack.build, BuildOrder):
        return stack.build, None  # the host has that version, or preflight says that it has not
    if stack.build is None or stack.lock is None:
        return None, stack.obstacle
    if _scope(stack.stack, name) is not SwapScope.PROCESS:
        return stack.build, None
    if name == TORCH and stack.build.torch is not None:
        # The label after '+' names the build for a chip, which the runner chooses.
        return stack.build.model_copy(update={"torch": version.partition("+")[0]}), None
    pinned = stack.lock.pins.get(canonicalize_name(name))
    reason = f"its lock pins {name}=={pinned}" if pinned else f"its build brings no other {name}"
    return None, (
        f"stack {stack.stack.name}: {reason}, so {name}=={version} needs a stack file "
        "and a lock of its own"
    )


def _scope(stack: Stack, name: str) -> SwapScope:
    return next(part.scope for part in stack.components if part.name == name)
