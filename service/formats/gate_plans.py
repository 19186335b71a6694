"""A plan made into a gate: the candidate beside its base, the canary first, within a budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from service.domain.ci_gate import Standing
from service.domain.plan import Cell, Launch
from service.formats.chosen_stacks import ChosenStack
from service.formats.ci_gates import GateCellOrder, GateOrder, GateRules
from service.formats.costs import CostRead
from service.formats.gate_answers import GateBase, GateCandidate
from service.formats.matrix_files import Matrix
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import PlannedSession, session_of, session_upload
from service.formats.yaml_file import YamlFile

MINUTE_S = 60
# What cells cost before, by the key of their condition.
Costs = Mapping[str, CostRead]
CostsAsked = Callable[[Sequence[str]], Costs]


def unknown(condition_keys: Sequence[str]) -> Costs:  # noqa: ARG001 — nobody has measured any
    """Return what nobody knows."""
    return {}


class GatePlanError(ValueError):
    """A plan and what was asked for make no gate."""


@dataclass(frozen=True, slots=True)
class Side:
    """A stack to measure, and the files that its build needs beside its lock: bytes by digest."""

    stack: ChosenStack
    artefacts: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks for beside the plan.

    cell: how the key of the only condition begins that is measured; None for all of the plan.
    budget_s: card-seconds; None for the plan's own. command: the words to ask the same again, one
    cell left out. who: a person's name.
    """

    cell: str | None
    budget_s: float | None
    command: tuple[str, ...]
    mode: str
    who: str | None


@dataclass(frozen=True, slots=True)
class GateUpload:
    """A gate's order, and the files it refers to: bytes by their SHA-256."""

    order: GateOrder
    artefacts: Mapping[str, bytes]
    planned: PlannedSession


def gate_upload(
    matrix: Matrix,
    file: YamlFile[PlanFile],
    *,
    base: tuple[Side, GateBase],
    candidate: tuple[Side, GateCandidate],
    asked: Asked,
    costs: CostsAsked = unknown,
) -> GateUpload:
    """Return a gate as it is ordered.

    costs: tells what conditions took before, and is asked of what can be planned; what it does not
    know is expected as the plan says.
    Raises GatePlanError, StackChoiceError, FileProblemsError and NotRunnableError.
    """
    sides = candidate[0], base[0]
    if sides[0].stack.stack.key == sides[1].stack.stack.key:
        raise GatePlanError("candidate and base are the same stack: there is nothing to compare")
    budget_s = asked.budget_s or file.shape.gate.budget_s
    stacks, cells = [side.stack for side in sides], _cells(matrix, file, asked.cell)
    session_of(matrix, file, arms=stacks, cells=cells)
    known = costs(sorted({cell.condition.key for cell in cells}))
    costing = [_costing(cell, known) for cell in cells]
    planned, note = _within(matrix, file, stacks, costing, budget_s)
    upload = session_upload(planned)
    session = upload.order.model_copy(update={"baseline_stack_key": base[1].stack_key})
    gate = file.shape.gate
    order = GateOrder(
        session=session,
        base=base[1],
        candidate=candidate[1],
        cells=tuple(_cell(cell, asked) for cell in planned.cells),
        expected_s=tuple(launch.expected_s for launch in planned.launches),
        rules=GateRules(
            looks=gate.looks_of(planned.plan.launches).rounds,
            fail_fast=gate.fail_fast,
            inconclusive_blocks=gate.inconclusive == "blocks",
            informing=gate.informing,
            budget_card_s=budget_s,
            cached_control_s=gate.cached_control_h * 3600,
        ),
        mode="local" if asked.mode == "local" else "remote",
        reproduce=asked.command,
        notes=note,
        who=asked.who,
    )
    artefacts = {**upload.artefacts, **sides[0].artefacts, **sides[1].artefacts}
    return GateUpload(order, artefacts, planned)


def _cells(matrix: Matrix, file: YamlFile[PlanFile], only: str | None) -> tuple[Cell, ...]:
    """Return the cells to measure, the canary first."""
    cells = [
        cell for cell in planned_cells(matrix, file) if cell.condition.key.startswith(only or "")
    ]
    if not cells:
        raise GatePlanError(f"plan {file.shape.name} has no cell whose condition begins {only!r}")
    gating = [cell for cell in cells if cell.standing is Standing.GATES]
    named = [cell for cell in gating if cell.workload == file.shape.gate.canary]
    canary = next(iter([*named, *gating, *cells]))
    return (canary, *(cell for cell in cells if cell is not canary))


def _costing(cell: Cell, costs: Costs) -> Cell:
    """Return a cell that is expected to take what it took before, where that is known."""
    known = costs.get(cell.condition.key)
    return replace(cell, start_s=known.start_s, repeat_s=known.repeat_s) if known else cell


def _within(
    matrix: Matrix,
    file: YamlFile[PlanFile],
    stacks: Sequence[ChosenStack],
    cells: Sequence[Cell],
    budget_s: float | None,
) -> tuple[PlannedSession, tuple[str, ...]]:
    """Return the session with as many rounds as the budget allows, and a note where it cuts.

    Raises GatePlanError where it does not pay the rounds that any verdict needs.
    """
    wanted, least = file.shape.launches, _least_rounds(matrix, file)
    for rounds in range(wanted, least - 1, -1):
        shape = file.shape.model_copy(update={"launches": rounds})
        planned = session_of(matrix, replace(file, shape=shape), arms=stacks, cells=cells)
        if shape.gate.cached_control_h:
            planned = _controls_late(planned, stacks[1])
        card_s = planned.expected.card_s
        if budget_s is None or card_s <= budget_s:
            cut = f"the budget of card time allows {rounds} of the plan's {wanted} rounds"
            return planned, () if rounds == wanted else (cut,)
    often = "one launch" if least == 1 else f"{least} launches"
    raise GatePlanError(
        f"{often} of each stack, without which there is no verdict, are expected to take "
        f"{card_s:.0f} card-seconds, and the budget is {budget_s:.0f}: raise it to at least "
        f"--budget {ceil(card_s / MINUTE_S)}m, or name a plan with fewer cells"
    )


def _least_rounds(matrix: Matrix, file: YamlFile[PlanFile]) -> int:
    """Return how many rounds a verdict needs at least: fewer would be card time for nothing."""
    plan = file.shape
    if plan.gate.cached_control_h:
        return 1
    needed = plan.policy.over(matrix.policy.shape).min_repeats
    return min(ceil(needed / plan.repeats), plan.launches)


def _controls_late(planned: PlannedSession, base: ChosenStack) -> PlannedSession:
    """Return a session whose first look has all its candidates before all but one of its controls.

    Where controls of earlier sessions settle it, those that are left are never measured.
    """
    first = planned.plan.gate.looks_of(planned.plan.launches).rounds[0]
    of_group = len(planned.launches) // planned.groups
    launches: list[Launch] = []
    for at in range(0, len(planned.launches), of_group):
        group = planned.launches[at : at + of_group]
        begun, rest = group[: 2 * first], group[2 * first :]
        controls = [each for each in begun if each.stack.key == base.stack.key]
        others = [each for each in begun if each.stack.key != base.stack.key]
        launches += [others[0], controls[0], *others[1:], *controls[1:], *rest]
    return replace(planned, launches=tuple(launches))


def _cell(cell: Cell, asked: Asked) -> GateCellOrder:
    return GateCellOrder(
        condition_key=cell.condition.key,
        protocol_key=cell.protocol.key,
        workload=cell.workload,
        layout=cell.layout,
        why=cell.why,
        standing=cell.standing,
        reproduce=(*asked.command, "--cell", cell.condition.key[:12]),
    )
