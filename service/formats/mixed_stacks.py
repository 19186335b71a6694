"""Stacks made of others: a good one with parts of a bad one, and one with another setting."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from packaging.utils import canonicalize_name
from pydantic import ValidationError

from service.domain.attribution import Part
from service.domain.constraint import Constraint
from service.domain.server_arguments import Argument, settled_name
from service.domain.stack import Component, Stack
from service.domain.stack_difference import changed_arguments, changed_components
from service.formats.chosen_stacks import TORCH, ChosenStack
from service.formats.identities import AnyBuild, BuildOrder
from service.formats.lock_files import Lock, mixed_lock
from service.formats.server_sections import ServerSection

FLAG = "--"

Value = TypeVar("Value")


class SettingError(ValueError):
    """A setting is not one that a stack can bring."""


def parts_between(good: Stack, bad: Stack) -> tuple[Part, ...]:
    """Return all that is pinned and differs between two stacks, each with its swap scope.

    A server argument is called by its flag, a variable of the environment by its name.
    """
    return (
        *(
            Part(each.name, each.baseline, each.candidate, each.scope)
            for each in changed_components(good, bad)
            if not each.recorded
        ),
        *(Part(each.field, each.baseline, each.candidate) for each in changed_arguments(good, bad)),
    )


def constraints_of(*stacks: ChosenStack) -> tuple[Constraint, ...]:
    """Return the constraints that the files of some stacks state, each once."""
    sections = (section for each in stacks for section in each.file.shape.constraints)
    return tuple({each.name: each for each in (part.constraint() for part in sections)}.values())


@dataclass(frozen=True, slots=True)
class Between:
    """Two stacks, and the stacks of the matrix that may already be what lies between them."""

    good: ChosenStack
    bad: ChosenStack
    others: Sequence[ChosenStack] = ()

    def combo(self, names: Collection[str]) -> ChosenStack:
        """Return the good stack with the parts of these names taken from the bad one.

        A stack of the matrix with the same pins is taken as its file describes it. Otherwise an
        obstacle says why no runner can build it.
        """
        stack = _mixed(self.good.stack, self.bad.stack, frozenset(names))
        known = {each.stack.key: each for each in (*self.others, self.bad, self.good)}
        if stack.key in known:
            return known[stack.key]
        build, lock = _build(self.good, self.bad, frozenset(names))
        side = self.good if build is not None else self.bad
        obstacle = side.obstacle or (
            f"stack {stack.name}: its two files are built in different ways"
            if build is None
            else None
        )
        return replace(self.good, stack=stack, build=build, lock=lock, obstacle=obstacle)


def with_setting(chosen: ChosenStack, *, name: str, value: str | None) -> ChosenStack:
    """Return a stack with one server argument (--name) or variable (NAME) set.

    value: as a person writes it; None takes it away, which leaves it to the server. 'true' sets a
    flag without a value. Raises SettingError where the name is neither.
    """
    stack = chosen.stack
    told = "default" if value is None else value
    label = f"{stack.name}+{name.removeprefix(FLAG)}={told}"
    # Whoever is told of a conflict looks for the value in the file, and would not find it there.
    file = replace(chosen.file, shown=f"{chosen.file.shown} with {name}={told}")
    if name.startswith(FLAG):
        flag = settled_name(name.removeprefix(FLAG))
        asked = {} if value is None else {flag: _argument(value)}
        arguments = {key: each for key, each in stack.server_arguments.items() if key != flag}
        _require_askable(name, {"arguments": asked})
        changed = replace(stack, name=label, server_arguments={**arguments, **asked})
        return replace(chosen, file=file, stack=changed)
    asked_for = {} if value is None else {name: value}
    environment = {key: text for key, text in stack.server_environment.items() if key != name}
    _require_askable(name, {"environment": asked_for})
    changed = replace(stack, name=label, server_environment={**environment, **asked_for})
    return replace(chosen, file=file, stack=changed)


def _require_askable(name: str, section: Mapping[str, object]) -> None:
    try:
        ServerSection.model_validate(section)
    except ValidationError as error:
        raise SettingError(f"{name}: {error.errors()[0]['msg']}") from error


def _argument(text: str) -> Argument:
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _mixed(good: Stack, bad: Stack, names: frozenset[str]) -> Stack:
    flags = frozenset(name.removeprefix(FLAG) for name in names if name.startswith(FLAG))
    return Stack(
        name="+".join((good.name, *sorted(name.removeprefix(FLAG) for name in names))),
        components=tuple(_taken(_components(good), _components(bad), names).values()),
        server_arguments=_taken(good.server_arguments, bad.server_arguments, flags),
        server_environment=_taken(good.server_environment, bad.server_environment, names),
    )


def _components(stack: Stack) -> Mapping[str, Component]:
    return {component.name: component for component in stack.components}


def _taken(
    good: Mapping[str, Value], bad: Mapping[str, Value], names: frozenset[str]
) -> dict[str, Value]:
    """Return what the good side has, with these names as the bad side has them or has not."""
    kept = {name: value for name, value in good.items() if name not in names}
    return {**kept, **{name: bad[name] for name in names if name in bad}}


def _build(
    good: ChosenStack, bad: ChosenStack, names: frozenset[str]
) -> tuple[AnyBuild | None, Lock | None]:
    """Return how a combo is built: as its two stacks are, with each lock's own lines."""
    moved = names & {each.name for each in changed_components(good.stack, bad.stack)}
    if not moved or good.build == bad.build:
        return good.build, good.lock
    if not isinstance(good.build, BuildOrder) or not isinstance(bad.build, BuildOrder):
        return None, None
    if good.lock is None or bad.lock is None:
        return None, None
    lock = mixed_lock(good.lock, bad.lock, frozenset(map(canonicalize_name, moved)))
    wheels = tuple(
        wheel
        for side, takes in ((good.build, False), (bad.build, True))
        for wheel in side.wheels
        if (wheel.component in moved) is takes
    )
    takes_platform = canonicalize_name(bad.build.platform or good.build.platform or "") in moved
    platform = bad.build.platform if takes_platform else good.build.platform
    torch = bad.build.torch if TORCH in moved else good.build.torch
    order = BuildOrder(lock=lock.digest, torch=torch, platform=platform, wheels=wheels)
    return order, lock
