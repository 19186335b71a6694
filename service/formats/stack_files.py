"""Stack files: a version combo as a person writes it down."""

from collections.abc import Iterable
from datetime import date
from typing import Literal, Self

from packaging.utils import canonicalize_name
from pydantic import Field, model_validator

from service.domain.layer import Layer
from service.domain.server_environment import launch_problems
from service.domain.stack import Component, Stack, SwapScope
from service.formats.build_sections import AnySection, BuildSection
from service.formats.constraint_files import ConstraintSection
from service.formats.identities import Name
from service.formats.launch_sections import LaunchSection
from service.formats.lock_files import Lock
from service.formats.messages import Message
from service.formats.server_sections import ServerSection, problems_at

# A recorded component is known where it runs; until then this is its version.
UNKNOWN = "unknown"


class ComponentSection(Message):
    """One component; a recorded one may leave its version to the host it runs on."""

    name: Name
    version: str | None = Field(default=None, min_length=1, max_length=400)
    layer: Layer
    scope: SwapScope
    recorded: bool = False

    @model_validator(mode="after")
    def _is_pinned_or_recorded(self) -> Self:
        if self.version is None and not self.recorded:
            raise ValueError("pin a version, or say 'recorded: true'")
        return self

    def component(self) -> Component:
        """Return the component."""
        return Component(
            self.name, self.version or UNKNOWN, self.layer, self.scope, recorded=self.recorded
        )


class Verified(Message):
    """Whether the combo was seen to work by whoever wrote the file, and what says so."""

    state: Literal["verified", "unverified"]
    note: str = ""
    source: str = ""


class StackFile(Message):
    """A stack: components, how it is built, and the server arguments that come with it.

    A stack without a build is known, and no runner brings it up by itself yet.
    """

    name: Name
    chip: Name
    built_at: date
    build: AnySection | None = None
    launch: LaunchSection = LaunchSection()
    components: tuple[ComponentSection, ...] = Field(min_length=1, max_length=1000)
    server: ServerSection = ServerSection()
    constraints: tuple[ConstraintSection, ...] = Field(default=(), max_length=100)
    verified: Verified

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if twice := first_twice(component.name for component in self.components):
            raise ValueError(f"the component {twice} stands twice")
        return self

    @model_validator(mode="after")
    def _starts_in_its_environment(self) -> Self:
        given = self.server.environment
        if problems := launch_problems(self.launch.program, given):
            raise problems_at(problems, given, "server", "environment")
        return self

    @model_validator(mode="after")
    def _pins_what_it_says(self) -> Self:
        made = self.launch.components()
        if self.build is not None and not isinstance(self.build, BuildSection):
            made += self.build.components()
        pinned = {each.name: each.version for each in self.components}
        for component in made:
            if pinned.get(component.name, component.version) != component.version:
                raise ValueError(
                    f"the component {component.name} is pinned as {pinned[component.name]}, and "
                    f"build and launch say {component.version}: leave the component out"
                )
        return self

    def stack(self, lock: Lock | None) -> Stack:
        """Return the stack: the file's components, and those that its lock pins beside them."""
        named = self._named()
        return Stack(
            self.name,
            named + _locked(lock, {canonicalize_name(component.name) for component in named}),
            self.server.arguments,
            self.server.environment,
        )

    def _named(self) -> tuple[Component, ...]:
        """Return the file's components, and those that its build and its launch make."""
        named = tuple(component.component() for component in self.components)
        made = self.launch.components()
        if self.build is not None and not isinstance(self.build, BuildSection):
            made += self.build.components()
        names = {component.name for component in named}
        return named + tuple(component for component in made if component.name not in names)

    def unlike(self, lock: Lock) -> dict[int, str]:
        """Return, by position, the components whose version is another one in the lock."""
        return {
            position: lock.pins[canonicalize_name(component.name)]
            for position, component in enumerate(self.components)
            if component.version is not None
            and lock.pins.get(canonicalize_name(component.name), component.version)
            != component.version
        }


def _locked(lock: Lock | None, named: set[str]) -> tuple[Component, ...]:
    if lock is None:
        return ()
    return tuple(
        Component(name, version, Layer.PACKAGES, SwapScope.PROCESS, recorded=name in lock.sometimes)
        for name, version in lock.pins.items()
        if name not in named
    )


def first_twice(words: Iterable[str]) -> str | None:
    """Return the first word that stands twice, or None."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None
