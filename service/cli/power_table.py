"""The power of a plan as a person reads it: what each cell needs, and which noise that rests on."""

from collections.abc import Iterable, Mapping, Sequence

from service.cli.columns import aligned
from service.cli.lines import share
from service.client import Client
from service.domain.cell import Cell
from service.domain.noise import Noise, prior_of
from service.domain.plan import Cell as PlannedCell
from service.domain.policy import Policy
from service.domain.power import Known, Need, needs, total
from service.formats.noise import NoiseRead
from service.formats.planned_sessions import PlannedSession
from service.stats.power import LAUNCHES_MAX, Design
from service.stats.variance import ENOUGH_FREEDOM

HEADER = (
    "cell",
    "metric",
    "tolerance",
    "launch",
    "residual",
    "known from",
    "power",
    "launches",
    "repeats",
    "card-hours",
)


def known_noise(client: Client, cells: Sequence[PlannedCell], *, host: str | None) -> Known:
    """Return what the service knows of the noise of some cells; of several hosts the noisiest."""
    keys = list(dict.fromkeys(cell.condition.key for cell in cells))
    return noisiest(client.noise(condition_keys=keys, host=host))


def noisiest(found: Iterable[NoiseRead]) -> Known:
    """Return the noise of each cell and metric; of several hosts, that whose launches vary most."""
    known: dict[tuple[Cell, str], Noise] = {}
    for read in found:
        key = (Cell(read.condition_key, read.protocol_key), read.metric)
        noise = read.noise()
        if key not in known or _of_one(noise) > _of_one(known[key]):
            known[key] = noise
    return known


def needs_of(planned: PlannedSession, known: Known, *, wanted: float) -> tuple[Need, ...]:
    """Return what a plan's cells need under its policy."""
    order = planned.policy
    return needs(
        planned.cells,
        known,
        policy=Policy(order.tolerances, order.min_repeats, order.confidence),
        wanted=wanted,
        planned=Design(planned.plan.launches, planned.plan.repeats),
    )


def power_page(planned: PlannedSession, found: Sequence[Need], *, wanted: float) -> str:
    """Return what cells need as lines: a table, what it means, and what it costs together."""
    numbers = {id(cell): number for number, cell in enumerate(planned.cells, start=1)}
    table = aligned(HEADER, [_row(need, numbers) for need in found])
    all_of_it = total(planned.cells, found)
    lines = [
        f"for a power of {wanted:.0%}".replace("%", " %"),
        *(f"  {line}" for line in table.splitlines()),
        "",
        (
            "power: the chance that this plan calls equal stacks unchanged; a worsening of twice "
            "the tolerance is called regressed at least as often."
        ),
        (
            "launches, repeats: the cheapest that reach it, launches of each of two stacks and "
            "repeats of the cell in each; card-hours: of both stacks, were the cell alone."
        ),
        (
            f"all of it, cells that share a server together: {all_of_it.launches} launches, "
            f"{all_of_it.card_s / 3600:.2f} card-hours."
        ),
        *_priors(found),
    ]
    if any(need.design is None for need in found):
        lines.append(
            f"-: not with {LAUNCHES_MAX} launches; a wider tolerance or a quieter host would do."
        )
    return "\n".join(lines)


def power_document(
    planned: PlannedSession, found: Sequence[Need], *, wanted: float
) -> Mapping[str, object]:
    """Return what cells need as a part of the plan's JSON document."""
    numbers = {id(cell): number for number, cell in enumerate(planned.cells, start=1)}
    all_of_it = total(planned.cells, found)
    return {
        "wanted": wanted,
        "needs": [_document(need, numbers) for need in found],
        "launches": all_of_it.launches,
        "card_s": all_of_it.card_s,
    }


def _of_one(noise: Noise) -> float:
    return noise.estimate.components.of_launch_mean(1)


def _row(need: Need, numbers: Mapping[int, int]) -> tuple[str, ...]:
    parts, design = need.expected.components, need.design
    return (
        str(numbers[id(need.cell)]),
        need.metric.name,
        share(need.tolerance),
        share(parts.launch**0.5),
        share(parts.residual**0.5),
        _known_from(need),
        f"{need.planned:.0%}".replace("%", " %"),
        "-" if design is None else str(design.launches),
        "-" if design is None else str(design.repeats),
        "-" if need.card_s is None else f"{need.card_s / 3600:.2f}",
    )


def _known_from(need: Need) -> str:
    if need.noise is None:
        return "prior"
    told = f"{need.noise.launches} launches on {need.noise.host}"
    leans = need.noise.estimate.launch_freedom < ENOUGH_FREEDOM
    return f"{told}, prior" if leans else told


def _priors(found: Sequence[Need]) -> list[str]:
    """Say which priors were used, a line a metric."""
    metrics = dict.fromkeys(need.metric for need in found if "prior" in _known_from(need))
    return [
        (
            f"prior of {metric.name}: launch {share(prior_of(metric).launch)}, "
            f"residual {share(prior_of(metric).residual)}; "
            "measure this host's own with `kunline noise`."
        )
        for metric in metrics
    ]


def _document(need: Need, numbers: Mapping[int, int]) -> Mapping[str, object]:
    parts, prior = need.expected.components, prior_of(need.metric)
    return {
        "cell": numbers[id(need.cell)],
        "metric": need.metric.name,
        "tolerance": need.tolerance,
        "launch_spread": parts.launch**0.5,
        "residual_spread": parts.residual**0.5,
        "known_from_launches": need.noise.launches if need.noise else 0,
        "host": need.noise.host if need.noise else None,
        "prior": {"launch": prior.launch, "residual": prior.residual}
        if "prior" in _known_from(need)
        else None,
        "power": need.planned,
        "launches": need.design.launches if need.design else None,
        "repeats": need.design.repeats if need.design else None,
        "card_s": need.card_s,
    }
