"""A plan file and stacks made into a session: shown first, then ordered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.domain.plan import (
    Cell,
    ConflictError,
    ExpectedTime,
    Launch,
    expected_time,
    launches,
    shared_launches,
)
from service.formats.chosen_stacks import ChosenStack, chosen, with_overrides
from service.formats.identities import KeyedCondition, KeyedProtocol
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.model_files import ModelFile
from service.formats.orders import CellOrder, LaunchOrder
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.sessions import LAUNCHES_MAX, PolicyOrder, SessionOrder
from service.formats.stack_files import StackFile, first_twice
from service.formats.yaml_file import FileProblem, FileProblemsError, YamlFile


class NotRunnableError(ValueError):
    """A plan can be shown, and not measured yet; it says all that stands in the way."""

    def __init__(self, plan: str, obstacles: Sequence[str]) -> None:
        self.obstacles = tuple(obstacles)
        super().__init__(f"plan {plan} cannot be run: " + "; ".join(obstacles))


class StackChoiceError(ValueError):
    """No stack is named, one is named twice, or one is for another chip."""


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """What would be measured: cells, stacks, launches in their order, and what stands in the way.

    groups: how many servers the cells need at once, each started anew for every stack and round.
    """

    matrix: Matrix
    file: YamlFile[PlanFile]
    stacks: tuple[ChosenStack, ...]
    cells: tuple[Cell, ...]
    launches: tuple[Launch, ...]
    groups: int
    obstacles: tuple[str, ...]

    @property
    def plan(self) -> PlanFile:
        """The plan."""
        return self.file.shape

    @property
    def policy(self) -> PolicyOrder:
        """The policy its verdicts are held to."""
        return self.plan.policy.over(self.matrix.policy.shape)

    @property
    def repeats(self) -> int:
        """How many repeats each cell gets on each stack."""
        return self.plan.launches * self.plan.repeats

    @property
    def baseline(self) -> ChosenStack | None:
        """The stack the others are held to: the plan's own, else the first that was named.

        None where nothing is measured beside it: a stack alone is held to what is pinned. A stack
        with another version of something is not the one that the plan names.
        """
        by_name = {stack.stack.name: stack for stack in self.stacks}
        if len(by_name) == 1:
            return None
        return by_name.get(self.plan.baseline or "", self.stacks[0])

    @property
    def expected(self) -> ExpectedTime:
        """How long it is expected to take, without the building of environments."""
        return expected_time(self.launches)


@dataclass(frozen=True, slots=True)
class SessionUpload:
    """A session's order, and the files it refers to: bytes by their SHA-256."""

    order: SessionOrder
    artefacts: Mapping[str, bytes]


def plan_session(
    matrix: Matrix,
    file: YamlFile[PlanFile],
    *,
    stacks: Sequence[str] = (),
    overrides: Sequence[tuple[str, str]] = (),
) -> PlannedSession:
    """Return the session that a plan asks for.

    stacks: names of stack files, or none for the plan's own. overrides: component and version,
    for the last of the stacks. Raises FileProblemsError, UnknownFileError, StackChoiceError and
    OverrideError.
    """
    arms = _chosen(matrix, file, stacks, overrides)
    return session_of(matrix, file, arms=arms, cells=planned_cells(matrix, file))


def session_of(
    matrix: Matrix,
    file: YamlFile[PlanFile],
    *,
    arms: Sequence[ChosenStack],
    cells: Sequence[Cell],
) -> PlannedSession:
    """Return the session that measures some cells on some stacks, both in the order given.

    Raises StackChoiceError where a stack is for another chip than the plan's cards, and
    FileProblemsError where a stack and a condition ask for different values of one thing.
    """
    for arm in arms:
        _require_fit(arm, file.shape)
    planned = _launches(file, cells, arms)
    return PlannedSession(
        matrix=matrix,
        file=file,
        stacks=tuple(arms),
        cells=tuple(cells),
        launches=planned,
        groups=len(shared_launches(cells)),
        obstacles=_obstacles(matrix, cells, arms, planned),
    )


def plan_problems(matrix: Matrix, file: YamlFile[PlanFile]) -> tuple[FileProblem, ...]:
    """Return all that is wrong with a plan and its own stacks; nothing when it can be planned."""
    try:
        if file.shape.stacks:
            plan_session(matrix, file)
        else:
            _own_stacks(matrix, file)
            planned_cells(matrix, file)
    except FileProblemsError as error:
        return error.problems
    return ()


def session_upload(planned: PlannedSession) -> SessionUpload:
    """Return a planned session as it is ordered. Raises NotRunnableError."""
    if planned.obstacles:
        raise NotRunnableError(planned.plan.name, planned.obstacles)
    matrix = planned.matrix
    models = {cell.model: matrix.models.named(cell.model).shape for cell in planned.cells}
    clients = {cell.client: matrix.clients.named(cell.client) for cell in planned.cells}
    locks = {name: matrix.locks[client.shown] for name, client in clients.items()}
    order = SessionOrder(
        plan=planned.plan.name,
        pool=planned.plan.pool,
        chip=planned.plan.cards.chip,
        stacks=tuple(stack.order() for stack in planned.stacks),
        models=tuple(model.order() for model in models.values()),
        clients=tuple(client.shape.order(locks[name]) for name, client in clients.items()),
        conditions=tuple(_keyed_conditions(planned.cells)),
        protocols=tuple(_keyed_protocols(planned.cells)),
        launches=tuple(_launch_order(launch, models) for launch in planned.launches),
        policy=planned.policy,
        limits=planned.plan.limits,
        baseline_stack_key=planned.baseline.stack.key if planned.baseline else None,
    )
    used = (*locks.values(), *(stack.lock for stack in planned.stacks if stack.lock is not None))
    return SessionUpload(order, {lock.digest: lock.content for lock in used})


def _keyed_conditions(cells: Sequence[Cell]) -> Iterable[KeyedCondition]:
    conditions = {cell.condition.key: cell.condition for cell in cells}
    return (KeyedCondition.of(condition) for condition in conditions.values())


def _keyed_protocols(cells: Sequence[Cell]) -> Iterable[KeyedProtocol]:
    protocols = {cell.protocol.key: cell.protocol for cell in cells}
    return (KeyedProtocol.of(protocol) for protocol in protocols.values())


def _launch_order(launch: Launch, models: Mapping[str, ModelFile]) -> LaunchOrder:
    first = launch.cells[0]
    return LaunchOrder(
        stack_key=launch.stack.key,
        model_id=models[first.model].id,
        client=first.client,
        server_arguments=dict(launch.server_arguments),
        server_environment=dict(launch.server_environment),
        cards=launch.cards,
        cells=tuple(
            CellOrder(
                condition_key=cell.condition.key,
                protocol_key=cell.protocol.key,
                seeds=launch.seeds_of(cell),
            )
            for cell in launch.cells
        ),
    )


def _chosen(
    matrix: Matrix,
    file: YamlFile[PlanFile],
    names: Sequence[str],
    overrides: Sequence[tuple[str, str]],
) -> tuple[ChosenStack, ...]:
    stacks = (
        [_fitting(matrix, file.shape, name) for name in names]
        if names
        else list(_own_stacks(matrix, file))
    )
    if not stacks:
        fitting = [name for name, stack in matrix.stacks.files.items() if _fits(stack, file.shape)]
        raise StackChoiceError(
            f"plan {file.shape.name} names no stack: name one with --stack, of "
            + (", ".join(fitting) or f"chip {file.shape.cards.chip}; the matrix has none")
        )
    stacks[-1] = with_overrides(stacks[-1], overrides)
    if twice := first_twice(stack.stack.key for stack in stacks):
        name = next(stack.stack.name for stack in stacks if stack.stack.key == twice)
        raise StackChoiceError(f"the stack {name} is named twice")
    return tuple(stacks)


def _own_stacks(matrix: Matrix, file: YamlFile[PlanFile]) -> tuple[ChosenStack, ...]:
    """Return the stacks a plan names itself; a wrong name there is a problem of the plan."""
    named = [(name, ("stacks", position)) for position, name in enumerate(file.shape.stacks)]
    baseline = file.shape.baseline
    stacks: list[ChosenStack] = []
    problems: list[FileProblem] = []
    for name, place in [*named, *([(baseline, ("baseline",))] if baseline else [])]:
        try:
            stacks.append(_fitting(matrix, file.shape, name))
        except FileProblemsError as error:
            problems += error.problems
        except (UnknownFileError, StackChoiceError) as error:
            problems.append(file.problem(str(error), *place))
    if problems:
        raise FileProblemsError(problems)
    return tuple(stacks[: len(named)])


def _fitting(matrix: Matrix, plan: PlanFile, name: str) -> ChosenStack:
    stack = chosen(matrix, name)
    _require_fit(stack, plan)
    return stack


def _require_fit(stack: ChosenStack, plan: PlanFile) -> None:
    if not _fits(stack.file, plan):
        raise StackChoiceError(
            f"the stack {stack.stack.name} is for chip {stack.file.shape.chip}, and the plan's "
            f"cards are {plan.cards.chip}"
        )


def _fits(stack: YamlFile[StackFile], plan: PlanFile) -> bool:
    return stack.shape.chip == plan.cards.chip


def _launches(
    file: YamlFile[PlanFile], cells: Sequence[Cell], stacks: Sequence[ChosenStack]
) -> tuple[Launch, ...]:
    try:
        return launches(cells, [stack.arm for stack in stacks], file.shape.launches)
    except ConflictError as error:
        raise FileProblemsError([file.problem(str(error), "cells")]) from error


def _obstacles(
    matrix: Matrix,
    cells: Sequence[Cell],
    stacks: Sequence[ChosenStack],
    planned: Sequence[Launch],
) -> tuple[str, ...]:
    too_many = len(planned) > LAUNCHES_MAX
    models = {cell.model: matrix.models.named(cell.model).shape.obstacle for cell in cells}
    return (
        *(stack.obstacle for stack in stacks if stack.obstacle is not None),
        *(f"model {name}: {obstacle}" for name, obstacle in models.items() if obstacle),
        *(
            [f"{len(planned)} launches, and a session has at most {LAUNCHES_MAX}"]
            if too_many
            else []
        ),
    )
