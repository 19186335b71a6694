"""How two stacks differ, as a document; and how the runner's side is asked for their defaults."""

from typing import Self

from pydantic import Base64Bytes, Field, PositiveFloat

from service.domain.difference import Difference
from service.domain.stack import Stack, SwapScope
from service.domain.stack_difference import (
    ComponentChange,
    DefaultChanges,
    Flag,
    changed_arguments,
    changed_components,
    changed_defaults,
    widest_scope,
)
from service.formats.messages import Message


class FlagsQuestion(Message):
    """A stack whose server is asked for its flags: how its environment is built, by content.

    build: whether to build an environment that is not there yet. limit_s: of the build.
    """

    stack: str
    lock: Base64Bytes
    torch: str | None = None
    platform: str | None = None
    build: bool = False
    limit_s: PositiveFloat = 3600.0


class FlagRead(Message):
    """One option of a server's parser; see service.domain.stack_difference.Flag."""

    spellings: tuple[str, ...] = Field(min_length=1)
    default: bool | int | float | str | tuple[object, ...] | None = None
    instead: str | None = None

    def flag(self) -> Flag:
        """Return the option."""
        return Flag(self.spellings, self.default, self.instead)


class FlagsAnswer(Message):
    """What was found of one stack: the release installed and its flags, or why they are unknown."""

    release: str = ""
    flags: tuple[FlagRead, ...] = ()
    unknown: str = ""


class StackNamed(Message):
    """One of two stacks."""

    name: str
    key: str


class DefaultsRead(Message):
    """The server's flags on both sides, or why they are unknown."""

    baseline_release: str = ""
    candidate_release: str = ""
    changes: DefaultChanges | None = None
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, baseline: FlagsAnswer, candidate: FlagsAnswer) -> Self:
        """Return what two answers say together."""
        unknown = tuple(side.unknown for side in (baseline, candidate) if side.unknown)
        changes = None
        if not unknown:
            left, right = ([read.flag() for read in side.flags] for side in (baseline, candidate))
            changes = changed_defaults(left, right)
        return cls(
            baseline_release=baseline.release,
            candidate_release=candidate.release,
            changes=changes,
            unknown=unknown,
        )


class StackDifference(Message):
    """How two stacks differ. scope: what must be restarted for all pinned changes together."""

    baseline: StackNamed
    candidate: StackNamed
    scope: SwapScope | None
    components: tuple[ComponentChange, ...]
    arguments: tuple[Difference, ...]
    defaults: DefaultsRead

    @classmethod
    def of(cls, baseline: Stack, candidate: Stack, defaults: DefaultsRead) -> Self:
        """Return how two stacks differ."""
        components = changed_components(baseline, candidate)
        return cls(
            baseline=StackNamed(name=baseline.name, key=baseline.key),
            candidate=StackNamed(name=candidate.name, key=candidate.key),
            scope=widest_scope(components),
            components=components,
            arguments=changed_arguments(baseline, candidate),
            defaults=defaults,
        )
