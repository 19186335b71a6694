"""`kunline attribute`: which component between a good and a bad stack moved the number."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from service.cli.between import Bench, Measured, cell_of
from service.cli.columns import aligned
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, complain, service
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.lines import percent
from service.cli.matrix import MatrixOption
from service.cli.plan import read_matrix_and_plan
from service.domain.attribution import (
    LOOKS,
    Attribution,
    Combo,
    Level,
    NothingDiffersError,
    Search,
    Step,
    is_told,
    launches_to_tell,
    level,
    most_combos,
    next_of,
    steps_of,
)
from service.domain.constraint import Constraint, violated
from service.domain.difference import Difference
from service.domain.plan import Cell
from service.domain.resolution import notes
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.attributions import AttributionAnswer, ComboRead, FollowedRead, StepRead
from service.formats.chosen_stacks import ChosenStack, chosen, chosen_file
from service.formats.comparisons import CellComparison
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.mixed_stacks import Between, constraints_of, parts_between
from service.formats.planned_cells import planned_cells
from service.formats.verdicts import VerdictRead
from service.formats.yaml_file import FileProblemsError
from service.stats.interval import Interval

StackFileOrName = Annotated[
    str, typer.Option(metavar="STACK", help="A stack of the matrix by name, or a path to its file.")
]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the stacks, all cells of the plan, and the steps between the stacks."""

    between: Between
    cells: tuple[Cell, ...]
    search: Search


def attribute(
    good: StackFileOrName,
    bad: StackFileOrName,
    matrix: MatrixOption,
    plan: Annotated[str, typer.Option(help="A plan of the matrix by name, or a path.")],
    host_steps: Annotated[
        bool,
        typer.Option("--host-steps", help="Yes: drivers and firmware may be moved on the host."),
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Find which component, argument or variable makes the bad stack slower than the good one.

    The bad stack is measured in turn with the good one first. Only where it is worse are combos of
    the two measured, each in turn with the good stack, at most ceil(log2 k) + 1 of them for one
    culprit among k steps. What sessions of the same plan measured before is not measured again.

    Exit codes: 0 where a culprit or an interaction is named, or nothing regressed; 4 where it could
    not be told; else that of the verdict on the bad stack.

    Example: kunline attribute --good cpu-sglang-0.5.18 --bad cpu-sglang-0.5.23 --plan smoke
    """
    try:
        read, file = read_matrix_and_plan(plan, matrix)
        between = Between(
            _stack(read, good),
            _stack(read, bad),
            [chosen(read, name) for name in read.stacks.files],
        )
        question = question_of(between, planned_cells(read, file), host_steps=host_steps)
    except (FileProblemsError, UnknownFileError, NothingDiffersError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    with service(url, token) as client:
        answer = attributed(Bench(client, read, file), question)
    typer.echo(answer.model_dump_json(indent=2) if as_json else page(answer))
    raise typer.Exit(exit_code(answer))


def attributed(bench: Bench, question: Question) -> AttributionAnswer:
    """Return what an attribution comes to, measuring whatever is not known yet."""
    between, search = question.between, question.search
    whole = bench.measured([between.good, between.bad], question.cells)
    answer = AttributionAnswer(
        plan=bench.file.shape.name,
        good=between.good.stack.name,
        bad=between.bad.stack.name,
        outcome=whole.verdicts.outcome,
        steps=(
            *(StepRead.of(step) for step in search.steps),
            *(StepRead.of(step, held=True) for step in search.held),
        ),
        most_combos=most_combos(len(search.steps)) + bool(search.held),
        followed=_followed(whole, between),
    )
    if answer.followed is None:
        return answer
    launches = launches_to_tell(_interval(answer.followed.verdict), bench.file.shape.launches)
    _announce(answer, answer.followed, launches)
    return _searched(bench.with_launches(launches), question, answer, answer.followed)


def exit_code(answer: AttributionAnswer) -> int:
    """Return the exit code: named or nothing to name, not told, or the bad stack's own verdict."""
    if answer.cause is None:
        return EXIT_CODE[answer.outcome]
    return DONE if answer.is_named else EXIT_CODE[Outcome.INCONCLUSIVE]


def page(answer: AttributionAnswer) -> str:
    """Return an answer as a person reads it."""
    lines = [f"{answer.bad} against {answer.good}, plan {answer.plan}: {answer.outcome}"]
    if answer.followed is None:
        return "\n".join([*lines, "Nothing regressed, so there is nothing to attribute."])
    lines += [_followed_line(answer.followed), *_explained(answer.followed), ""]
    rows = [
        (
            ", ".join(combo.at_bad) or "(none)",
            _sized(combo.verdict) if combo.verdict else combo.broken or "-",
            combo.level,
            f"{str(combo.session_id)[:8]}{', measured before' if combo.cached else ''}",
        )
        for combo in answer.combos
    ]
    if rows:
        lines += [aligned(("taken from the bad stack", "worse by", "is", "session"), rows), ""]
    named = [
        " with ".join(f"{part.name} {part.good} → {part.bad}" for part in step.parts)
        for step in answer.found
    ]
    return "\n".join([*lines, f"{answer.cause}: {'; '.join(named)}", f"  {answer.reason}"])


def question_of(between: Between, cells: Sequence[Cell], *, host_steps: bool) -> Question:
    """Return what is asked, with the steps that may move and those that may not.

    Raises NothingDiffersError.
    """
    constraints = constraints_of(between.good, between.bad)
    steps = steps_of(parts_between(between.good.stack, between.bad.stack), constraints)
    held = tuple(step for step in steps if step.scope is SwapScope.HOST and not host_steps)
    moving = tuple(step for step in steps if step not in held)

    def fits(combo: Combo) -> bool:
        stack = _combo(between, (*held, *(moving[place] for place in combo)))
        return stack.obstacle is None and _keeps(constraints, stack)

    return Question(between, tuple(cells), Search(moving, fits, held))


def _combo(between: Between, steps: Sequence[Step]) -> ChosenStack:
    return between.combo([part.name for step in steps for part in step.parts])


def _keeps(constraints: Sequence[Constraint], stack: ChosenStack) -> bool:
    return not violated(constraints, stack.stack.versions)


def _stack(matrix: Matrix, name: str) -> ChosenStack:
    is_path = name.endswith(".yaml") or "/" in name
    return chosen_file(Path(name)) if is_path else chosen(matrix, name)


def _followed(whole: Measured, between: Between) -> FollowedRead | None:
    """Return the cell and metric in which the bad stack is surest to be worse, or None."""
    found = [
        (cell, verdict)
        for cell in whole.verdicts.cells
        if cell.candidate_stack_key == between.bad.stack.key
        for verdict in cell.comparison.verdicts
        if verdict.outcome is Outcome.REGRESSED
    ]
    if not found:
        return None
    cell, verdict = max(found, key=_sureness)
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
    bench: Bench, question: Question, answer: AttributionAnswer, followed: FollowedRead
) -> AttributionAnswer:
    search, between = question.search, question.between
    cells = [each for each in question.cells if each.condition.key == followed.condition_key]
    seen: dict[Combo, Level] = {}
    combos: list[ComboRead] = []
    while not isinstance(found := next_of(search, seen), Attribution):
        taken = (*search.held, *(search.steps[place] for place in sorted(found)))
        stack = _combo(between, taken)
        for look in range(LOOKS):
            longer = bench.with_launches(bench.file.shape.launches * 2**look)
            measured = longer.measured([between.good, stack], cells)
            combo = _read(measured, stack, taken, followed)
            complain(f"{stack.stack.name}: {combo.level}")
            if is_told(combo.level):
                break
        seen[found] = combo.level
        combos.append(combo)
    return answer.ended(found, tuple(combos))


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
        at_bad=tuple(part.name for step in taken for part in step.parts),
        stack_key=stack.stack.key,
        stack_name=stack.stack.name,
        level=_level(verdict, followed.verdict),
        verdict=verdict,
        broken=measured.broken,
        session_id=measured.session.id,
        cached=measured.cached,
    )


def _level(verdict: VerdictRead | None, whole: VerdictRead) -> Level:
    if verdict is None:
        return Level.BROKEN
    return level(_interval(verdict), whole.worsening or 0.0)


def _interval(verdict: VerdictRead) -> Interval:
    return Interval(verdict.low or 0.0, verdict.worsening or 0.0, verdict.high or 0.0)


def _announce(answer: AttributionAnswer, followed: FollowedRead, launches: int) -> None:
    """Say on stderr what is known before a combo is measured."""
    for line in (_followed_line(followed), *_explained(followed)):
        complain(line)
    complain(
        f"{len(answer.steps)} steps between the stacks: at most {answer.most_combos} combos "
        f"for a single culprit, more for an interaction, each of {launches} launches a stack"
    )


def _followed_line(followed: FollowedRead) -> str:
    return f"followed: {followed.verdict.metric} of {followed.title}, {_sized(followed.verdict)}"


def _explained(followed: FollowedRead) -> tuple[str, ...]:
    return tuple(f"the servers settled differently: {each}" for each in followed.explained)


def _sized(verdict: VerdictRead) -> str:
    low, center, high = (
        percent(each or 0.0) for each in (verdict.low, verdict.worsening, verdict.high)
    )
    return f"{center} ({low} to {high})"
