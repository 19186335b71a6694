"""Power: the launches and repeats that a plan's cells need for their tolerances, and their cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.cell import Cell
from service.domain.metric import Metric
from service.domain.noise import KEPT, Noise, expected_of
from service.domain.plan import Cell as PlannedCell
from service.domain.plan import shared_launches
from service.domain.policy import Policy
from service.stats.power import Design, Goal, Time, cheapest, power
from service.stats.variance import Expected

# What is known of the noise of each cell and metric.
Known = Mapping[tuple[Cell, str], Noise]


@dataclass(frozen=True, slots=True)
class Need:
    """What one metric of one cell needs.

    noise: what is known of it, or None where only the prior speaks. planned: the power of the
    plan as it stands. design: the cheapest that has the power asked for, or None where none has.
    """

    cell: PlannedCell
    metric: Metric
    tolerance: float
    noise: Noise | None
    expected: Expected
    planned: float
    design: Design | None

    @property
    def card_s(self) -> float | None:
        """Card-seconds of both arms, were the cell alone in its launches."""
        return None if self.design is None else card_seconds([self.cell], self.design)


@dataclass(frozen=True, slots=True)
class Total:
    """Card-seconds and launches of two arms that reach all that can be reached, cells shared."""

    launches: int
    card_s: float


def needs(
    cells: Sequence[PlannedCell], known: Known, *, policy: Policy, wanted: float, planned: Design
) -> tuple[Need, ...]:
    """Return what each judged metric of each cell needs for its tolerance.

    wanted: the power, between 0 and 1. planned: launches and repeats as the plan has them.
    """
    return tuple(
        _need(cell, metric, known, policy, wanted, planned) for cell in cells for metric in KEPT
    )


def total(cells: Sequence[PlannedCell], found: Sequence[Need]) -> Total:
    """Return what all needs of a plan's cells cost together, each group with its neediest launches.

    A need without any design is left out of it.
    """
    launches, card_s = 0, 0.0
    for group in shared_launches(cells):
        members = {id(cell) for cell in group}
        designs = [need.design for need in found if need.design and id(need.cell) in members]
        if designs:
            most = Design(
                max(design.launches for design in designs),
                max(design.repeats for design in designs),
            )
            launches += 2 * most.launches
            card_s += card_seconds(group, most)
    return Total(launches, card_s)


def card_seconds(cells: Sequence[PlannedCell], design: Design) -> float:
    """Return the card-seconds of both arms of a design that measures some cells in each launch."""
    measured = sum(cell.repeat_s for cell in cells)
    return Time(cells[0].start_s, measured).of(design) * cells[0].condition.cards.count


def _need(
    cell: PlannedCell, metric: Metric, known: Known, policy: Policy, wanted: float, planned: Design
) -> Need:
    noise = known.get((Cell(cell.condition.key, cell.protocol.key), metric.name))
    expected, tolerance = expected_of(metric, noise), policy.tolerance_of(metric)
    goal = Goal(tolerance, wanted, policy.min_repeats, policy.confidence)
    return Need(
        cell=cell,
        metric=metric,
        tolerance=tolerance,
        noise=noise,
        expected=expected,
        planned=power(expected, planned, tolerance=tolerance, confidence=policy.confidence),
        design=cheapest(expected, Time(cell.start_s, cell.repeat_s), goal),
    )
