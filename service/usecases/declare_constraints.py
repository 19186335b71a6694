"""Declare constraints and take them back, audited; and show them beside what was measured."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.audit import Act, Entry, Noun
from service.domain.compat import CompatState
from service.domain.constraint import Constraint, Held, Requires, Together, judged, listed
from service.formats.compat_words import Said, said
from service.formats.constraint_files import ConstraintSection
from service.formats.constraints import DeclarationOrder, DeclaredRead, RetractionOrder
from service.store import audits, compat, declared
from service.store.compat import CompatFilter
from service.store.database import ReadSession, WriteSession
from service.store.declared import Declared

# As many stacks as constraints are held to, the newest.
STACKS = 2000
WORKING = frozenset({CompatState.WORKS.value, CompatState.REGRESSED.value})


class UnknownConstraintError(LookupError):
    """No constraint of that name is in force."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no constraint {name!r} is declared: `kunline compat constraints` lists")


def declare(
    session: WriteSession, order: DeclarationOrder, *, who: str, now: datetime
) -> tuple[DeclaredRead, ...]:
    """Declare constraints; one that stands as it is stays, one of its name is replaced."""
    declared.hold(session)
    before = {each.name: each for each in declared.in_force(session)}
    entries = []
    for section in order.constraints:
        old, content = before.get(section.name), section.model_dump(mode="json")
        if old is not None and dict(old.content) == content:
            continue
        if old is not None:
            declared.end(session, old.id, now=now)
        new = declared.keep(session, section.name, content, who=who, now=now)
        entries.append(_entry(Act.DECLARE, new.name, order.why, who, now, (old, new)))
    audits.keep(session, entries)
    return list_declared(session)


def retract(
    session: WriteSession, order: RetractionOrder, *, who: str, now: datetime
) -> tuple[DeclaredRead, ...]:
    """Take a constraint back; it stays as history. Raises UnknownConstraintError."""
    declared.hold(session)
    found = {each.name: each for each in declared.in_force(session)}.get(order.name)
    if found is None:
        raise UnknownConstraintError(order.name)
    declared.end(session, found.id, now=now)
    audits.keep(session, [_entry(Act.RETRACT, found.name, order.why, who, now, (found, None))])
    return list_declared(session)


def list_declared(session: ReadSession) -> tuple[DeclaredRead, ...]:
    """Return the constraints in force, each with the stacks that break it and work all the same."""
    if not (constraints := declared.in_force(session)):
        return ()
    page = compat.page(session, CompatFilter(), after=None, limit=STACKS)
    versions = compat.components(session, {each.stack_key for each in page})
    works = {each.stack_key for each in page if each.state in WORKING}
    names = {each.stack_key: each.name for each in page}
    return tuple(_read(each, versions, works, names) for each in constraints)


def constraints_in_force(session: ReadSession) -> Sequence[Constraint]:
    """Return the constraints in force."""
    return [_constraint(each) for each in declared.in_force(session)]


def words_of(constraint: Constraint) -> Said:
    """Return what a constraint declares, in both languages."""
    match constraint.rule:
        case Together(components):
            return said("constraint.together", components=", ".join(components))
        case Requires(when, then) if when:
            return said("constraint.requires when", when=listed(when), then=listed(then))
        case Requires(_, then):
            return said("constraint.requires", then=listed(then))


def _constraint(found: Declared) -> Constraint:
    return ConstraintSection.model_validate(found.content).constraint()


def _read(
    found: Declared,
    versions: Mapping[str, Mapping[str, str]],
    works: set[str],
    names: Mapping[str, str],
) -> DeclaredRead:
    constraint = _constraint(found)
    breaking = [key for key, its in versions.items() if judged(constraint, its) is Held.VIOLATED]
    return DeclaredRead(
        constraint=ConstraintSection.model_validate(found.content),
        words=str(constraint),
        said=words_of(constraint),
        declared_at=found.declared_at,
        declared_by=found.declared_by,
        broken_by=len(breaking),
        contradicted_by=tuple(sorted(names[key] for key in breaking if key in works)),
    )


def _entry(
    act: Act,
    name: str,
    why: str,
    who: str,
    now: datetime,
    change: tuple[Declared | None, Declared | None],
) -> Entry:
    before, after = change
    return Entry(
        at=now,
        actor=who,
        act=act,
        noun=Noun.CONSTRAINT,
        noun_id=name,
        reason=why,
        before=before.content if before else None,
        after=after.content if after else None,
    )
