"""The resolution: what a server settled by itself. It explains a deviation and is never hashed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.domain.difference import Difference, differences

Fact = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Resolution:
    """Facts by name, such as attention_backend, page_size, max_total_num_tokens.

    What the server did not tell is absent, never a guess.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)


def changed(baseline: Resolution, candidate: Resolution) -> tuple[Difference, ...]:
    """Return what two servers settled differently, sorted by name."""
    return differences(dict(baseline.facts), dict(candidate.facts))
