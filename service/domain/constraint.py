"""Constraints that somebody declared: which versions go together, by whose word."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from service.domain.difference import ABSENT

_CLAUSE = re.compile(r"(>=|<=|==|!=|>|<)?\s*([^\s<>=!,]+)")
_UNKNOWN = frozenset({ABSENT, "unknown"})


class VersionSpecError(ValueError):
    """A text does not say which versions are meant."""

    def __init__(self, spec: str) -> None:
        super().__init__(f"{spec!r} names no versions: write >=5.0.21.26, <5.37, ==2.9.0, or 5.37")


class Held(StrEnum):
    """Whether a stack keeps to a constraint; unknown where a version is not known."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Together:
    """Components of one drop: if one of them moves, all of them do."""

    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requires:
    """Where all of `when` fits a stack, all of `then` has to. Specs by component name."""

    when: Mapping[str, str]
    then: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint, its name, and whose word it is: a document, an issue, a stack file."""

    name: str
    rule: Together | Requires
    source: str
    note: str = ""

    def __str__(self) -> str:
        match self.rule:
            case Together(components):
                return f"{', '.join(components)} move together"
            case Requires(when, then):
                needs = f"needs {listed(then)}"
                return f"{listed(when)} {needs}" if when else needs


def fits(version: str, spec: str) -> bool:
    """Return whether a version is one of those that a spec names.

    spec: clauses such as '>=5.0.21.26' and '<5.37', with commas between them; a bare '5.37' is
    that version and all that begin with '5.37.'. Numbers compare as numbers; a label after '+'
    counts only where the spec has one. Raises VersionSpecError.
    """
    clauses = [_CLAUSE.fullmatch(clause.strip()) for clause in spec.split(",")]
    if any(clause is None for clause in clauses):
        raise VersionSpecError(spec)
    return all(_fits(version, clause[1] or "", clause[2]) for clause in clauses if clause)


def judged(constraint: Constraint, versions: Mapping[str, str]) -> Held:
    """Return whether one stack keeps to a constraint. versions: by component name.

    Of components that move together a single stack tells nothing.
    """
    match constraint.rule:
        case Together():
            return Held.UNKNOWN
        case Requires(when, then):
            condition = _all_fit(when, versions)
            return Held.HOLDS if condition is Held.VIOLATED else _both(condition, then, versions)


def violated(
    constraints: Iterable[Constraint], versions: Mapping[str, str]
) -> tuple[Constraint, ...]:
    """Return the constraints that one stack does not keep to."""
    return tuple(each for each in constraints if judged(each, versions) is Held.VIOLATED)


def left_behind(
    constraint: Constraint, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the components that should have moved with others from one stack to another.

    Where a stack lacks a component, nothing is known of it.
    """
    if not isinstance(constraint.rule, Together):
        return ()
    known = [name for name in constraint.rule.components if name in before and name in after]
    stayed = tuple(name for name in known if before[name] == after[name])
    return stayed if len(stayed) < len(known) else ()


def move_together(constraints: Iterable[Constraint], names: Collection[str]) -> frozenset[str]:
    """Return some components and all that move with them, directly or through others."""
    rules = [each.rule for each in constraints]
    groups = [frozenset(rule.components) for rule in rules if isinstance(rule, Together)]
    found = frozenset(names)
    while True:
        wider = found.union(*(group for group in groups if group & found))
        if wider == found:
            return found
        found = wider


def in_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return what orders versions: 5.9 before 5.19, whatever else is in them."""
    parts = re.split(r"(\d+)", version)
    words = ((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
    return tuple(word for word in words if word not in {(0, 0, ""), (0, 0, ".")})


def _both(condition: Held, then: Mapping[str, str], versions: Mapping[str, str]) -> Held:
    return Held.UNKNOWN if condition is Held.UNKNOWN else _all_fit(then, versions)


def _all_fit(specs: Mapping[str, str], versions: Mapping[str, str]) -> Held:
    """Return whether all specs fit; one that does not decides, whatever else is unknown."""
    known = {name: versions[name] for name in specs if versions.get(name, ABSENT) not in _UNKNOWN}
    if any(not fits(version, specs[name]) for name, version in known.items()):
        return Held.VIOLATED
    return Held.HOLDS if len(known) == len(specs) else Held.UNKNOWN


def _fits(version: str, sign: str, wanted: str) -> bool:
    if "+" not in wanted:
        version = version.partition("+")[0]
    if not sign:
        return version == wanted or version.startswith(f"{wanted}.")
    left, right = _padded(in_order(version), in_order(wanted))
    match sign:
        case ">=":
            return left >= right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case "<":
            return left < right
        case "==":
            return left == right
        case _:
            return left != right


Words = tuple[tuple[int, int, str], ...]


def _padded(left: Words, right: Words) -> tuple[Words, Words]:
    """Return two versions at one length, so that 5.37 is 5.37.0.0."""
    longest = max(len(left), len(right))
    zero = ((1, 0, ""),)
    return left + zero * (longest - len(left)), right + zero * (longest - len(right))


def listed(specs: Mapping[str, str]) -> str:
    """Return what several components have to be, for a person."""
    return " and ".join(f"{name} {spec}" for name, spec in specs.items())
