"""The search for the step between two stacks that moved a number, combo by combo."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from service.cli.attribution_words import CATALOGUES, sized
from service.cli.between import Bench, BudgetSpentError, Measured, cell_of
from service.cli.plain import complain
from service.cli.verdict_words import spoken
from service.domain.attribution import (
    LOOKS,
    Attribution,
    Combo,
    Level,
    Search,
    Step,
    as_logarithm,
    is_told,
    launches_to_tell,
    level,
    most_combos,
    next_of,
    steps_of,
    told_among,
)
from service.domain.constraint import Constraint, violated
from service.domain.difference import Difference
from service.domain.metric import metric_named
from service.domain.plan import Cell
from service.domain.resolution import notes
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.attributions import AttributionAnswer, ComboRead, FollowedRead, StepRead
from service.formats.chosen_stacks import ChosenStack
from service.formats.comparisons import CellComparison
from service.formats.mixed_stacks import Between, constraints_of, parts_between
from service.formats.planned_sessions import PlannedSession
from service.formats.verdicts import VerdictRead
from service.stats.interval import Interval

# Whoever is told how far a search is.
Tell = Callable[[AttributionAnswer], None]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the stacks, the cells to measure, and the steps between the stacks.

    listed: condition keys with the metrics that an incident lists; one of them is followed where
    it is worse.
    """

    between: Between
    cells: tuple[Cell, ...]
    search: Search
    listed: frozenset[tuple[str, str]] = frozenset()


def question_of(
    between: Between,
    planned: PlannedSession,
    *,
    host_steps: bool,
    listed: Collection[tuple[str, str]] = (),
) -> Question:
    """Return what is asked, with the steps that may move and those that may not.

    planned: the session of the good and the bad stack. That there is one shows that the plan has
    nothing against either, and so nothing against a combo, which brings nothing of its own.
    Raises NothingDiffersError.
    """
    constraints = constraints_of(between.good, between.bad)
    steps = steps_of(parts_between(between.good.stack, between.bad.stack), constraints)
    held = tuple(step for step in steps if step.scope is SwapScope.HOST and not host_steps)
    moving = tuple(step for step in steps if step not in held)

    def fits(combo: Combo) -> bool:
        stack = _combo(between, (*held, *(moving[place] for place in combo)))
        return stack.obstacle is None and _keeps(constraints, stack)

    return Question(between, planned.cells, Search(moving, fits, held), frozenset(listed))


def attributed(bench: Bench, question: Question, tell: Tell = lambda _: None) -> AttributionAnswer:
    """Return what an attribution comes to, measuring whatever is not known yet.

    What stored launches explain is said first, at no cost. Where the budget is spent it ends with
    what was found by then. tell: called whenever more is known.
    """
    answer = _opened(bench, question)
    tell(answer)
    between = question.between
    try:
        whole = bench.measured([between.good, between.bad], question.cells)
    except BudgetSpentError as error:
        return answer.model_copy(update={"stopped": str(error)})
    answer = answer.model_copy(
        update={"outcome": whole.verdicts.outcome, "followed": _followed(whole, question)}
    )
    if answer.followed is None:
        return answer
    launches = launches_to_tell(_logarithm(answer.followed.verdict), bench.file.shape.launches)
    _announce(bench, answer, answer.followed, launches)
    tell(answer)
    return _searched(bench.with_launches(launches), question, answer, answer.followed, tell)


def _opened(bench: Bench, question: Question) -> AttributionAnswer:
    """Return what is known before anything is measured."""
    between, search = question.between, question.search
    wanted = {cell.condition.key for cell in question.cells}
    stored = [
        cell for cell in bench.stored(between.good, between.bad) if cell.condition_key in wanted
    ]
    explained = dict.fromkeys(each for cell in stored for each in _explanation(cell, between))
    _explain(bench, explained)
    return AttributionAnswer(
        plan=bench.file.shape.name,
        good=between.good.stack.name,
        bad=between.bad.stack.name,
        outcome=Outcome.MISSING,
        steps=(
            *(StepRead.of(step) for step in search.steps),
            *(StepRead.of(step, held=True) for step in search.held),
        ),
        most_combos=most_combos(len(search.steps)) + bool(search.held),
        followed=None,
        explained=tuple(explained),
    )


def _combo(between: Between, steps: Sequence[Step]) -> ChosenStack:
    return between.combo([part.name for step in steps for part in step.parts])


def _keeps(constraints: Sequence[Constraint], stack: ChosenStack) -> bool:
    return not violated(constraints, stack.stack.versions)


def _followed(whole: Measured, question: Question) -> FollowedRead | None:
    """Return the cell and metric in which the bad stack is surest to be worse, or None.

    What the incident lists goes first.
    """
    between = question.between
    found = [
        (cell, verdict)
        for cell in whole.verdicts.cells
        if cell.candidate_stack_key == between.bad.stack.key
        for verdict in cell.comparison.verdicts
        if verdict.outcome is Outcome.REGRESSED
    ]
    if not found:
        return None
    listed = [pair for pair in found if (pair[0].condition_key, pair[1].metric) in question.listed]
    cell, verdict = max(listed or found, key=_sureness)
    return FollowedRead(
        condition_key=cell.condition_key,
        title=cell.title,
        verdict=verdict,
        session_id=whole.session.id,
        cached=whole.cached,
        explained=_explanation(cell, between),
    )


def _sureness(pair: tuple[CellComparison, VerdictRead]) -> float:
    """Return how many of its own interval's widths a change lies from none."""
    verdict = pair[1]
    width = (verdict.high or 0.0) - (verdict.low or 0.0)
    return (verdict.worsening or 0.0) / max(width, 1e-9)


def _explanation(cell: CellComparison, between: Between) -> tuple[str, ...]:
    told = [Difference(each.field, each.baseline, each.candidate) for each in cell.resolution]
    asked = [between.good.stack.server_arguments, between.bad.stack.server_arguments]
    return notes(told, asked=asked)


def _searched(
    bench: Bench,
    question: Question,
    answer: AttributionAnswer,
    followed: FollowedRead,
    tell: Tell,
) -> AttributionAnswer:
    search = question.search
    seen: dict[Combo, Level] = {}
    while not isinstance(found := next_of(search, seen), Attribution):
        among = told_among(search, seen, found)
        try:
            combo = _measured(bench, question, found, followed)
        except BudgetSpentError as error:
            return answer.model_copy(update={"stopped": str(error)})
        combo = combo.model_copy(update={"candidates": _names([search.steps[i] for i in among])})
        seen[found] = combo.level
        answer = answer.model_copy(update={"combos": (*answer.combos, combo)})
        tell(answer)
    return answer.ended(found)


def _measured(bench: Bench, question: Question, found: Combo, followed: FollowedRead) -> ComboRead:
    """Return a combo beside the good stack, with more launches where the first do not tell."""
    search, good = question.search, question.between.good
    cells = [each for each in question.cells if each.condition.key == followed.condition_key]
    taken = (*search.held, *(search.steps[place] for place in sorted(found)))
    stack = _combo(question.between, taken)
    for look in range(LOOKS):
        longer = bench.with_launches(bench.file.shape.launches * 2**look)
        combo = _read(longer.measured([good, stack], cells), stack, taken, followed)
        words = CATALOGUES[bench.language]
        told = words[f"level {combo.level}"]
        complain(words["measured"].format(stack=stack.stack.name, level=told))
        if is_told(combo.level):
            break
    return combo


def _read(
    measured: Measured, stack: ChosenStack, taken: Sequence[Step], followed: FollowedRead
) -> ComboRead:
    cell = cell_of(measured, stack.stack.key, followed.condition_key)
    verdict = next(
        (
            each
            for each in (cell.comparison.verdicts if cell else ())
            if each.metric == followed.verdict.metric and each.worsening is not None
        ),
        None,
    )
    return ComboRead(
        at_bad=_names(taken),
        stack_key=stack.stack.key,
        stack_name=stack.stack.name,
        level=_level(verdict, followed.verdict),
        verdict=verdict,
        broken=measured.broken,
        session_id=measured.session.id,
        cached=measured.cached,
    )


def _names(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(part.name for step in steps for part in step.parts)


def _level(verdict: VerdictRead | None, whole: VerdictRead) -> Level:
    if verdict is None:
        return Level.BROKEN
    return level(_logarithm(verdict), _logarithm(whole).center)


def _logarithm(verdict: VerdictRead) -> Interval:
    worsening = Interval(verdict.low or 0.0, verdict.worsening or 0.0, verdict.high or 0.0)
    return as_logarithm(metric_named(verdict.metric), worsening)


def _announce(
    bench: Bench, answer: AttributionAnswer, followed: FollowedRead, launches: int
) -> None:
    """Say on stderr what is known before a combo is measured."""
    words, verdict = CATALOGUES[bench.language], followed.verdict
    size = sized(verdict, bench.language)
    complain(words["followed"].format(metric=verdict.metric, title=followed.title, size=size))
    _explain(bench, [each for each in followed.explained if each not in answer.explained])
    told = {"count": len(answer.steps), "combos": answer.most_combos, "launches": launches}
    complain(words["announced"].format_map(told))


def _explain(bench: Bench, explained: Iterable[str]) -> None:
    """Say on stderr what the two servers settled differently."""
    for each in explained:
        said = spoken(each, bench.language)
        complain(CATALOGUES[bench.language]["explained"].format(each=said))
