"""Advise on an upgrade: what is known of both stacks, cell by cell, and what is missing."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.advice import (
    Answer,
    CellEvidence,
    Standing,
    answered,
    distance,
    measuring,
    standing,
)
from service.domain.answer import LaunchAnswer, Quality, quality
from service.domain.cell import Cell
from service.domain.compat import CompatState, tower
from service.domain.constraint import Constraint, Held, judged, left_behind, move_together
from service.domain.difference import differences
from service.domain.stack import Stack, with_version
from service.domain.stack_difference import changed_components, widest_scope
from service.domain.verdict import Outcome
from service.formats.advice import (
    AdviceQuestion,
    AdviceRead,
    CellAdvice,
    ConstraintFinding,
    Nearest,
)
from service.formats.compat import CompatCell
from service.formats.compat_words import Said, said
from service.formats.matrix_view import MetricVerdict
from service.formats.stack_differences import StackNamed
from service.formats.verdicts import DifferenceRead
from service.store import asks, compat, launches, measured, runs, stacks
from service.store.compat import CompatFilter, ToldStack
from service.store.database import ReadSession
from service.store.judged import Judged
from service.usecases.declare_constraints import constraints_in_force, words_of
from service.usecases.judge_squares import Answers, Place, Squares, digest, judge_squares
from service.usecases.sides import NamedStack

# As many cells of two stacks, runs of one, and stacks to be the nearest among, as are looked at.
CELLS = 5000
RUNS = 20_000
NEAR = 2000


@dataclass(frozen=True, slots=True)
class Sides:
    """Both stacks of an upgrade, and what the table tells of each in the cells asked for."""

    before: Stack
    after: Stack
    cells_before: Mapping[Cell, CompatCell]
    cells_after: Mapping[Cell, CompatCell]


@dataclass(frozen=True, slots=True)
class Compared:
    """What was judged of the cells that both stacks were measured in."""

    places: Mapping[Cell, Place]
    answers: Answers
    quality: Mapping[Cell, Quality]


def advise(
    session: ReadSession, asked: AdviceQuestion, *, rule: str
) -> tuple[AdviceRead, Sequence[Judged]]:
    """Return the answer to an upgrade, and what had to be judged for it and may be kept.

    Raises UnknownStackError, and UnknownComponentError for a version of what no stack pins.
    """
    sides = _sides(session, asked)
    compared, fresh = _compared(session, sides, rule=rule)
    cells = tuple(_cell(sides, compared, cell) for cell in _order(sides))
    standings = {each.standing for each in cells}
    declared = constraints_in_force(session)
    constraints = _constraints(declared, sides, standings)
    forbidden = any(each.held is Held.VIOLATED for each in constraints)
    answer = answered(standings, forbidden=forbidden)
    read = _read(session, asked, sides, cells, constraints, answer)
    changed = {change.name for change in read.changes if not change.recorded}
    with_it = move_together(declared, changed) & sides.after.versions.keys()
    return read.model_copy(update={"moves_with": tuple(sorted(with_it - changed))}), fresh


def ask_digest(asked: AdviceQuestion) -> str:
    """Return what tells one question from another, whoever asks."""
    return digest(asked.model_dump_json(exclude={"keep"}))


def _sides(session: ReadSession, asked: AdviceQuestion) -> Sides:
    before = stacks.read(session, asked.from_stack).stack
    after = before if asked.to_stack is None else stacks.read(session, asked.to_stack).stack
    for name, version in asked.versions.items():
        after = with_version(after, name=name, version=version)
    known = stacks.by_key(session, [after.key])
    if after.key in known:
        after = known[after.key].stack
    wanted = CompatFilter(model=asked.model, card_model=asked.card_model)
    found: dict[str, dict[Cell, CompatCell]] = defaultdict(dict)
    for told in compat.cells(session, [before.key, after.key], wanted, limit=CELLS):
        cell = CompatCell.model_validate(told.told)
        if asked.cards in {None, cell.cards}:
            found[told.stack_key][Cell(told.condition_key, told.protocol_key)] = cell
    return Sides(before, after, found[before.key], found[after.key])


def _order(sides: Sides) -> Sequence[Cell]:
    """Return the cells that say something: where the first works, and where the second broke."""
    works = [cell for cell, told in sides.cells_before.items() if told.usable]
    broke = [cell for cell, told in sides.cells_after.items() if told.broken]
    return list(dict.fromkeys([*works, *broke]))


def _compared(
    session: ReadSession, sides: Sides, *, rule: str
) -> tuple[Compared, Sequence[Judged]]:
    both = [
        cell
        for cell, told in sides.cells_before.items()
        if told.usable and cell in sides.cells_after and sides.cells_after[cell].usable
    ]
    before, after = (NamedStack(each.key, each.name) for each in (sides.before, sides.after))
    squares = Squares.of(measured.of_stacks(session, {before.key, after.key}, limit=CELLS * 10))
    places = {cell: squares.place(cell, after, before) for cell in both}
    answers, fresh = judge_squares(session, list(places.values()), rule=rule)
    return Compared(places, answers, _quality(session, sides, both)), fresh


def _quality(session: ReadSession, sides: Sides, cells: Sequence[Cell]) -> Mapping[Cell, Quality]:
    if not cells:
        return {}
    left, right = (_answers(session, each.key, cells) for each in (sides.before, sides.after))
    return {cell: quality(left.get(cell, ()), right.get(cell, ())) for cell in cells}


def _answers(
    session: ReadSession, stack_key: str, cells: Sequence[Cell]
) -> Mapping[Cell, Sequence[LaunchAnswer]]:
    keys = {cell.condition_key for cell in cells}
    found = runs.of_stack(session, stack_key, conditions=sorted(keys), limit=RUNS)
    usable = [run for run in found if run.may_be_judged]
    known = launches.answers(session, {run.launch_id for run in usable})
    by_cell: dict[Cell, list[LaunchAnswer]] = defaultdict(list)
    for run in usable:
        if run.launch_id in known:
            by_cell[run.cell].append(known[run.launch_id])
    return by_cell


def _cell(sides: Sides, compared: Compared, cell: Cell) -> CellAdvice:
    before, after = sides.cells_before.get(cell), sides.cells_after.get(cell)
    place = compared.places.get(cell)
    answer = compared.answers[place.subject] if place else None
    answers = compared.quality.get(cell, Quality())
    idle, loaded = answers.idle, answers.loaded
    evidence = CellEvidence(
        measured=after is not None and after.usable > 0,
        broken=after is not None and after.broken > 0,
        outcome=Outcome(answer["outcome"]) if answer else None,
        moved=answers.is_beyond,
        kv_before=before.kv_tokens if before else None,
        kv_after=after.kv_tokens if after else None,
    )
    shown = after or before
    return CellAdvice(
        condition_key=cell.condition_key,
        protocol_key=cell.protocol_key,
        title=shown.title if shown else "",
        standing=standing(evidence),
        outcome=evidence.outcome,
        host=place.host if place else after.host if after else None,
        verdicts=_verdicts(answer["verdicts"] if answer else ()),
        layer=after.layer if after else None,
        finding=after.finding if after else "never measured in this cell",
        distance=idle.distance if idle else None,
        distance_tolerance=idle.tolerance if idle else None,
        loaded_distance=loaded.distance if loaded else None,
        loaded_tolerance=loaded.tolerance if loaded else None,
        loaded_concurrency=answers.concurrency,
        kv_before=evidence.kv_before,
        kv_after=evidence.kv_after,
        measured_at=after.measured_at if after else None,
    )


def _verdicts(found: Iterable[object]) -> tuple[MetricVerdict, ...]:
    return tuple(MetricVerdict.model_validate(each) for each in found)


def _constraints(
    declared: Sequence[Constraint], sides: Sides, standings: Collection[Standing]
) -> tuple[ConstraintFinding, ...]:
    """Return the constraints that say something of the wanted stack, or of the way to it."""
    works = bool(standings) and not {Standing.BROKEN, Standing.MISSING}.intersection(standings)
    before, after = sides.before.versions, sides.after.versions
    found = []
    for each in declared:
        stays = left_behind(each, before, after)
        held = Held.VIOLATED if stays else judged(each, after)
        if held is Held.UNKNOWN and not _names(each) & after.keys():
            continue
        found.append(
            ConstraintFinding(
                name=each.name,
                words=str(each),
                said=words_of(each),
                source=each.source,
                held=held,
                stays_behind=stays,
                contradicted=works and held is Held.VIOLATED,
            )
        )
    return tuple(found)


def _names(constraint: Constraint) -> set[str]:
    rule = constraint.rule
    return {*getattr(rule, "components", ()), *getattr(rule, "when", ())}


def _read(
    session: ReadSession,
    asked: AdviceQuestion,
    sides: Sides,
    cells: Sequence[CellAdvice],
    constraints: tuple[ConstraintFinding, ...],
    answer: Answer,
) -> AdviceRead:
    changes = changed_components(sides.before, sides.after)
    known = bool(sides.cells_after)
    why = reason(answer, cells, constraints)
    return AdviceRead(
        answer=answer,
        sentence=why.en,
        said=why,
        baseline=StackNamed(name=sides.before.name, key=sides.before.key),
        candidate=StackNamed(name=sides.after.name, key=sides.after.key),
        known=known,
        changes=changes,
        scope=widest_scope(changes),
        moves_with=(),
        constraints=constraints,
        cells=tuple(cells),
        nearest=None if known else _nearest(session, asked, sides),
        command=_command(session, asked, sides, cells),
        evidence_from=min((each.measured_at for each in cells if each.measured_at), default=None),
    )


def reason(
    answer: Answer, cells: Sequence[CellAdvice], constraints: Sequence[ConstraintFinding]
) -> Said:
    """Return the answer with its reason."""
    of = {each: [cell for cell in cells if cell.standing is each] for each in Standing}
    if broken := of[Standing.BROKEN]:
        layer = str(broken[0].layer)
        return said("advice.broken", layer=layer, count=len(broken), of=len(cells))
    if answer is Answer.NO:
        declared = [each.name for each in constraints if each.held is Held.VIOLATED]
        return said("advice.forbidden", names=", ".join(declared))
    if not cells:
        return said("advice.no cells")
    if missing := of[Standing.MISSING]:
        return said("advice.missing", count=len(missing), of=len(cells))
    undecided = len(of[Standing.OPEN])
    if costs := len(of[Standing.COSTS]):
        if undecided:
            return said("advice.costs and open", count=costs, of=len(cells), open=undecided)
        return said("advice.costs", count=costs, of=len(cells))
    if undecided:
        return said("advice.open", count=undecided, of=len(cells))
    return said("advice.fine", of=len(cells))


def _command(
    session: ReadSession, asked: AdviceQuestion, sides: Sides, cells: Sequence[CellAdvice]
) -> str | None:
    wanted = {
        cell.condition_key for cell in cells if cell.standing in {Standing.MISSING, Standing.OPEN}
    }
    plans = asks.plans(session, wanted)
    if sides.after.key in stacks.by_key(session, [sides.after.key]):
        return measuring(plans, stacks=[sides.before.name, sides.after.name], versions={})
    base = asked.to_stack or asked.from_stack
    names = [sides.before.name, stacks.read(session, base).stack.name]
    return measuring(plans, stacks=names, versions=asked.versions)


def _nearest(session: ReadSession, asked: AdviceQuestion, sides: Sides) -> Nearest | None:
    tested = [state for state in CompatState if state is not CompatState.UNTESTED]
    wanted = CompatFilter(model=asked.model, card_model=asked.card_model, states=tested)
    found = compat.page(session, replace(wanted), after=None, limit=NEAR)
    versions = compat.components(session, {each.stack_key for each in found})
    own = tower(sides.after)

    def far(told: ToldStack) -> tuple[int, float]:
        its = versions[told.stack_key]
        age = told.measured_at or datetime.min  # noqa: DTZ901 — a place in an order and no moment
        return distance(sides.after, its, own.keys() | its.keys()), -age.toordinal()

    best = min(found, key=far, default=None)
    if best is None:
        return None
    apart = differences(dict(versions[best.stack_key]), dict(own))
    return Nearest(
        stack=StackNamed(name=best.name, key=best.stack_key),
        state=CompatState(best.state),
        differences=tuple(DifferenceRead.of(each) for each in apart),
    )
