"""What a gate has the power to say, before it is measured: the weakest metric that it counts."""

from dataclasses import dataclass

from service.cli.lines import share
from service.domain.cell import Cell
from service.domain.ci_gate import Looks, Standing, planned_chances
from service.domain.metric import Metric
from service.domain.noise import KEPT, expected_of
from service.domain.policy import Policy
from service.domain.power import Known
from service.formats.gate_plans import GateUpload

# A worsening of so many tolerances is what a gate is asked to see.
TOLERANCES = 2.0


@dataclass(frozen=True, slots=True)
class Stated:
    """How often an equal candidate is called unchanged, and one that is worse regressed.

    is_prior: no noise is known, so it is what such metrics do elsewhere.
    """

    metric: Metric
    tolerance: float
    unchanged: float
    regressed: float
    is_prior: bool


def power_note(upload: GateUpload, known: Known) -> str | None:
    """Return what a gate's plan has the power to say; None where no cell counts.

    known: the noise of its cells; where none is known the prior speaks.
    """
    stated = [
        _stated(upload, metric, known, Cell(cell.condition.key, cell.protocol.key))
        for cell in upload.planned.cells
        if cell.standing is Standing.GATES
        for metric in KEPT
        if metric.name not in upload.order.rules.informing
    ]
    if not stated:
        return None
    weakest = min(stated, key=lambda each: (each.unchanged, each.regressed))
    from_prior = (
        "; no noise of it is stored yet, so this is the prior's" if weakest.is_prior else ""
    )
    return (
        f"planned power, at {weakest.metric.name}, the weakest: an equal candidate is called "
        f"unchanged in {share(weakest.unchanged)} of such gates, and one that is "
        f"{share(TOLERANCES * weakest.tolerance)} worse regressed in {share(weakest.regressed)}"
        f"{from_prior}"
    )


def _stated(upload: GateUpload, metric: Metric, known: Known, cell: Cell) -> Stated:
    order = upload.planned.policy
    tolerance = Policy(order.tolerances).tolerance_of(metric)
    noise = known.get((cell, metric.name))
    expected = expected_of(metric, noise)

    def chances(worsening: float) -> tuple[float, float]:
        found = planned_chances(
            expected,
            Looks(upload.order.rules.looks),
            repeats=upload.planned.plan.repeats,
            tolerance=tolerance,
            worsening=worsening,
            confidence=order.confidence,
        )
        return found.unchanged, found.regressed

    unchanged, regressed = chances(0.0)[0], chances(TOLERANCES * tolerance)[1]
    return Stated(metric, tolerance, unchanged, regressed, is_prior=noise is None)
