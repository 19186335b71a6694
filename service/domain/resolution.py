"""The resolution: what a server settled by itself. It explains a deviation and is never hashed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.difference import ABSENT, Difference, differences
from service.domain.server_arguments import Arguments, settled_name

Fact = bool | int | float | str | None

# That two stacks differ in it is what is being compared.
VERSION = "version"
# Newer releases tell dozens of facts that older ones do not.
NAMES_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Resolution:
    """Facts by name, such as attention_backend, page_size, max_total_num_tokens.

    What the server did not tell is absent, never a guess.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)


def changed(baseline: Resolution, candidate: Resolution) -> tuple[Difference, ...]:
    """Return what two servers settled differently, sorted by name."""
    return differences(dict(baseline.facts), dict(candidate.facts))


def notes(
    found: Sequence[Difference], *, asked: Sequence[Arguments] | None = ()
) -> tuple[str, ...]:
    """Return a sentence a fact that both servers tell and that differs, and one for the rest.

    found: from `changed`. asked: the server arguments that stacks and condition ask for; a fact
    that none of them names was settled by the server alone, which is how a default changes. None
    where nobody knows what was asked for.
    """
    flags = None if asked is None else {settled_name(flag) for each in asked for flag in each}
    differing = [each for each in found if each.field != VERSION]
    told = [each for each in differing if ABSENT not in {each.baseline, each.candidate}]
    one_sided = [_words(each.field) for each in differing if each not in told]
    return (
        *(
            f"{_words(each.field)}: {each.baseline} → {each.candidate}, {_asked(each.field, flags)}"
            for each in told
        ),
        *([f"only one of the two servers tells its {_few(one_sided)}"] if one_sided else []),
    )


def _asked(name: str, flags: Collection[str] | None) -> str:
    if flags is None:
        return "not told whether asked for"
    return "asked for" if settled_name(name) in flags else "not asked for"


def _few(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _words(name: str) -> str:
    return name.replace("_", " ")
