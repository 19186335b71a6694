"""Noise and power of a plan: priors where nothing is known, and what the neediest cell costs."""

import re
from pathlib import Path

import pytest

from service.domain.cell import Cell
from service.domain.metric import METRICS, Metric, metric_named
from service.domain.noise import KEPT, Noise, expected_of, prior_of
from service.domain.policy import Policy
from service.domain.power import needs, total
from service.stats.power import Design
from service.stats.variance import PRIOR_FREEDOM, Components, Estimate
from tests.tracked_files import text_of
from tests.unit.test_plan import cell

TTFT = metric_named("ttft_p50")
POLICY = Policy({"ttft_p50": 0.1, "tpot_p50": 0.05, "output_throughput": 0.05})


def noise(launch: float, *, metric: str = "ttft_p50", freedom: float = 20) -> Noise:
    parts = Components(launch**2, 0.0, 0.01**2)
    return Noise(metric, "h1", Estimate(parts, freedom, freedom, freedom), 21, 3)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_has_a_prior(metric: Metric) -> None:
    assert prior_of(metric).launch > 0


def test_a_median_and_a_tail_of_one_quantity_share_a_prior() -> None:
    assert prior_of(TTFT) == prior_of(metric_named("ttft_p99")) != prior_of(METRICS["tpot_p50"])


def test_where_nothing_is_known_the_prior_is_expected() -> None:
    expected = expected_of(TTFT, None)

    assert expected.components == prior_of(TTFT).components
    assert expected.freedom == PRIOR_FREEDOM


def test_what_is_known_well_is_expected_as_it_is() -> None:
    assert expected_of(TTFT, noise(0.2)).components.launch == pytest.approx(0.04)


def test_a_noisier_cell_needs_more_launches_and_has_less_power() -> None:
    cells = [cell()]
    key = Cell(cells[0].condition.key, cells[0].protocol.key)

    def need(launch: float) -> tuple[float, int]:
        known = {(key, "ttft_p50"): noise(launch)}
        found = needs(cells, known, policy=POLICY, wanted=0.8, planned=Design(3, 3))[0]
        assert found.design is not None
        return found.planned, found.design.launches

    assert need(0.01)[0] > need(0.05)[0]
    assert need(0.01)[1] < need(0.05)[1]


def test_each_judged_metric_of_each_cell_has_a_need() -> None:
    found = needs([cell(), cell()], {}, policy=POLICY, wanted=0.8, planned=Design(2, 3))

    assert [need.metric for need in found] == [*KEPT, *KEPT]
    assert all(need.noise is None and need.design is not None for need in found)


def test_cells_that_share_a_server_cost_its_start_once() -> None:
    one, other = cell(), cell()
    alone = needs([one], {}, policy=POLICY, wanted=0.8, planned=Design(2, 3))
    both = needs([one, other], {}, policy=POLICY, wanted=0.8, planned=Design(2, 3))

    assert total([one, other], both).launches == total([one], alone).launches
    assert total([one, other], both).card_s < 2 * total([one], alone).card_s


def test_a_need_out_of_reach_has_no_design_and_costs_nothing() -> None:
    tight = Policy({metric.name: 0.0001 for metric in KEPT})

    found = needs([cell()], {}, policy=tight, wanted=0.8, planned=Design(2, 3))

    assert all(need.design is None and need.card_s is None for need in found)
    assert total([found[0].cell], found).card_s == 0


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_the_page_on_comparison_tells_the_prior(metric: Metric) -> None:
    section = text_of(Path("docs/comparison.md")).partition("| metric | launch | seed |")[2]
    rows = {
        name: [float(cell.strip().removesuffix("%")) / 100 for cell in line.split("|")[2:5]]
        for line in section.partition("\n\n")[0].splitlines()[2:]
        for name in re.findall(r"`(\w+)`|all (others)", line.split("|")[1])
        for name in [name[0] or name[1]]
    }

    told = rows.get(metric.name) or rows.get(metric.name.rpartition("_")[0]) or rows["others"]

    prior = prior_of(metric)
    assert told == [prior.launch, prior.seed, prior.residual]
