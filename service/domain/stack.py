"""The stack: a version combo with every component pinned. It is the thing under test."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from service.domain.difference import Difference, differences
from service.domain.key import content_key
from service.domain.layer import Layer
from service.domain.server_arguments import Arguments, normalised

# What could not be seen, and what our rights do not let us see: never a guess, and never drift.
UNKNOWN = "unknown"
UNKNOWN_PERMISSION = "unknown(permission)"


class SwapScope(StrEnum):
    """What must be restarted before another version of a component takes effect."""

    PROCESS = "process"
    CONTAINER = "container"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Component:
    """A named piece of firmware or software, its version, its layer and its swap scope.

    recorded: outside the key and outside drift, shown in diffs alone.
    """

    name: str
    version: str
    layer: Layer
    scope: SwapScope
    recorded: bool = False


class UnknownComponentError(LookupError):
    """An override names a component that the stack does not pin."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"the stack pins no component {name!r}; it pins {', '.join(known)}")


@dataclass(frozen=True)
class Stack:
    """Every component pinned, and the server arguments and environment that come with them.

    components: by name, in any order; their order does not count. name is for people: two stacks
    with the same pins have one key whatever they are called.
    """

    name: str
    components: tuple[Component, ...]
    server_arguments: Arguments = field(default_factory=dict)
    server_environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "server_arguments", normalised(self.server_arguments))
        object.__setattr__(
            self, "server_environment", dict(sorted(self.server_environment.items()))
        )
        object.__setattr__(
            self, "components", tuple(sorted(self.components, key=lambda component: component.name))
        )

    @cached_property
    def key(self) -> str:
        """The content key: SHA-256 over the pinned components, arguments and environment."""
        return content_key(
            {
                "components": {
                    component.name: {
                        "version": component.version,
                        "layer": component.layer,
                        "scope": component.scope,
                    }
                    for component in self.components
                    if not component.recorded
                },
                "server_arguments": self.server_arguments,
                "server_environment": self.server_environment,
            }
        )

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions by component name, recorded ones included."""
        return {component.name: component.version for component in self.components}


def with_version(stack: Stack, *, name: str, version: str) -> Stack:
    """Return the stack with one component at another version, hence with another key.

    Raises UnknownComponentError when the stack does not pin that component.
    """
    if name not in stack.versions:
        raise UnknownComponentError(name, tuple(stack.versions))
    components = tuple(
        replace(component, version=version) if component.name == name else component
        for component in stack.components
    )
    return replace(stack, name=f"{stack.name}+{name}={version}", components=components)


def drift(stack: Stack, observed: Mapping[str, str]) -> tuple[Difference, ...]:
    """Return the pinned components whose observed version is another one, sorted by name.

    observed: versions by component name. What was not looked at is not in it, and is no drift, nor
    is what could not be seen; what was looked for and not found has the version '(absent)'.
    """
    unseen = {UNKNOWN, UNKNOWN_PERMISSION}
    declared = {
        component.name: component.version
        for component in stack.components
        if not component.recorded and observed.get(component.name, UNKNOWN) not in unseen
    }
    return differences(declared, {name: observed[name] for name in declared})
