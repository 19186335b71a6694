"""What sets two stacks apart: components, server arguments, and the defaults of their servers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.domain.difference import ABSENT, Difference, differences
from service.domain.layer import Layer
from service.domain.server_arguments import settled_name
from service.domain.stack import Component, Stack, SwapScope

Default = bool | int | float | str | tuple[object, ...] | None


@dataclass(frozen=True, slots=True)
class ComponentChange:
    """One component with its version on both sides, '(absent)' where one lacks it.

    recorded: on either side it is outside the key, so the two stacks are alike in it.
    """

    name: str
    layer: Layer
    scope: SwapScope
    recorded: bool
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One option of a server's parser, as an installed release tells it.

    spellings: every name it takes, without dashes, the one it goes by first. instead: what the
    parser says to use in place of a deprecated one, or None.
    """

    spellings: tuple[str, ...]
    default: Default
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """A default of one flag on both sides. flag: the name it goes by on the candidate's side."""

    flag: str
    baseline: Default
    candidate: Default


@dataclass(frozen=True, slots=True)
class OneSided:
    """A flag that one of two releases has, and its default there."""

    flag: str
    default: Default


@dataclass(frozen=True, slots=True)
class Rename:
    """A name that the baseline's release goes by, and what the candidate's wants instead."""

    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class DefaultChanges:
    """How the flags of two releases differ; each group sorted by name."""

    changed: tuple[DefaultChange, ...]
    renamed: tuple[Rename, ...]
    added: tuple[OneSided, ...]
    removed: tuple[OneSided, ...]


def changed_components(baseline: Stack, candidate: Stack) -> tuple[ComponentChange, ...]:
    """Return the components whose versions differ, sorted by name."""
    left = {component.name: component for component in baseline.components}
    right = {component.name: component for component in candidate.components}
    return tuple(
        _component_change(left.get(name), right.get(name))
        for name in sorted(left.keys() | right.keys())
        if _version(left.get(name)) != _version(right.get(name))
    )


def widest_scope(changes: Iterable[ComponentChange]) -> SwapScope | None:
    """Return what must be restarted for all pinned changes together; None where there is none."""
    order = list(SwapScope)
    scopes = [change.scope for change in changes if not change.recorded]
    return max(scopes, key=order.index, default=None)


def changed_arguments(baseline: Stack, candidate: Stack) -> tuple[Difference, ...]:
    """Return the server arguments and variables that the stacks themselves bring and differ in."""
    return differences(_asked(baseline), _asked(candidate))


def changed_defaults(baseline: Sequence[Flag], candidate: Sequence[Flag]) -> DefaultChanges:
    """Return how the flags of two releases differ.

    A flag that was renamed is told as that, and its default is compared across the two names: what
    counts as one flag is the alias table's to say, and what the parsers say themselves.
    """
    left, right = _by_settled_name(baseline), _by_settled_name(candidate)
    renamed = _renamed(baseline, candidate)
    known_still = {settled_name(rename.baseline) for rename in renamed}
    return DefaultChanges(
        changed=tuple(
            DefaultChange(right[name].spellings[0], left[name].default, right[name].default)
            for name in sorted(left.keys() & right.keys())
            if left[name].default != right[name].default
        ),
        renamed=renamed,
        added=_one_sided(right, right.keys() - left.keys()),
        removed=_one_sided(left, left.keys() - right.keys() - known_still),
    )


def _component_change(left: Component | None, right: Component | None) -> ComponentChange:
    sides = [side for side in (right, left) if side is not None]
    return ComponentChange(
        name=sides[0].name,
        layer=sides[0].layer,
        scope=sides[0].scope,
        recorded=any(side.recorded for side in sides),
        baseline=_version(left),
        candidate=_version(right),
    )


def _version(component: Component | None) -> str:
    return ABSENT if component is None else component.version


def _asked(stack: Stack) -> Mapping[str, object]:
    arguments = {f"--{name}": value for name, value in stack.server_arguments.items()}
    return {**arguments, **stack.server_environment}


def _by_settled_name(flags: Sequence[Flag]) -> Mapping[str, Flag]:
    """Return the flags in use, without those that only stand for another one."""
    return {settled_name(flag.spellings[0]): flag for flag in flags if flag.instead is None}


def _one_sided(flags: Mapping[str, Flag], names: Iterable[str]) -> tuple[OneSided, ...]:
    return tuple(OneSided(flags[name].spellings[0], flags[name].default) for name in sorted(names))


def _renamed(baseline: Sequence[Flag], candidate: Sequence[Flag]) -> tuple[Rename, ...]:
    """Return each name that the candidate's release takes no more, or only as a deprecated one."""
    known = {word: flag for flag in candidate for word in flag.spellings}
    settled = {settled_name(flag.spellings[0]): flag.spellings[0] for flag in candidate}
    found = {}
    for flag in baseline:
        for word in flag.spellings:
            if word in known:
                other = None if flag.instead else known[word].instead
            else:
                other = settled.get(settled_name(word)) or _taken(flag.instead, known)
            if other is not None:
                found[word] = other
    return tuple(Rename(old, new) for old, new in sorted(found.items()))


def _taken(instead: str | None, known: Iterable[str]) -> str | None:
    """Return what a parser names instead where the other release takes it: 'flag', 'flag=value'."""
    return instead if instead is not None and instead.partition("=")[0] in known else None
