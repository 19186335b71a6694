"""Which stack of the table is installed here, as far as what was seen tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.difference import Difference
from service.domain.stack import UNKNOWN, UNKNOWN_PERMISSION

# What was looked for and could not be seen; no version is called so.
UNSEEN = (UNKNOWN, UNKNOWN_PERMISSION)


@dataclass(frozen=True, slots=True)
class Match:
    """One stack beside what is installed: what differs, and what nobody could see.

    place: of the stack among those that were compared.
    """

    place: int
    differences: tuple[Difference, ...]
    unseen: tuple[str, ...]

    @property
    def is_it(self) -> bool:
        """Whether nothing that was seen differs, and anything was seen."""
        return not self.differences


def nearest(installed: Mapping[str, str], stacks: Sequence[Mapping[str, str]]) -> Match | None:
    """Return the stack that differs least from what is installed, None where there is none.

    installed, stacks: versions by component name. Of two that differ alike, the one of which more
    was seen counts, and then the first. A stack of which nothing was seen is none.
    """
    found = [_match(installed, place, stack) for place, stack in enumerate(stacks)]
    seen = [each for each in found if len(each.unseen) < len(stacks[each.place])]
    return min(seen, key=lambda each: (len(each.differences), len(each.unseen)), default=None)


def _match(installed: Mapping[str, str], place: int, stack: Mapping[str, str]) -> Match:
    seen = {name: found for name, found in installed.items() if found not in UNSEEN}
    return Match(
        place=place,
        differences=tuple(
            Difference(name, version, seen[name])
            for name, version in sorted(stack.items())
            if name in seen and seen[name] != version
        ),
        unseen=tuple(name for name in sorted(stack) if name not in seen),
    )
