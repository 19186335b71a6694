"""The examples of docs/comparison.md are worked as the code works them."""

import re
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from service.cli import experiment
from service.cli.lines import percent
from service.domain.experiment import Parameter, Seen, confidence_of_each, recommended
from service.domain.metric import METRICS
from service.domain.verdict import Outcome, Terms, judge, judge_samples
from service.formats.experiments import ExperimentAnswer, RecommendationRead
from service.stats import screen as scan
from service.stats.crossover import crossover
from service.stats.detectable import smallest_detectable
from service.stats.interval import Interval
from service.stats.power import Design, power
from service.stats.spending import confidences
from service.stats.variance import Components, Expected
from tests.golden_file import GOLDEN
from tests.tracked_files import text_of

PAGE = text_of(Path("docs/comparison.md"))
SPEED = METRICS["output_throughput"]


def test_three_launches_an_arm_are_judged_alone_and_with_history() -> None:
    rows = re.findall(r"^\| (?:baseline|candidate) \| ([\d. ·]+) \|", PAGE, re.MULTILINE)
    arms = [[[*map(float, launch.split())] for launch in row.split("·")] for row in rows]
    known = Terms(expected=Expected(Components(0.02**2, 0.0, 0.015**2), 10))

    alone = judge_samples(SPEED, *arms, tolerance=0.03).worsening
    beside = judge_samples(SPEED, *arms, tolerance=0.03, terms=known).worsening

    assert alone is not None
    assert beside is not None
    assert f"interval of the worsening {percent(alone.low)} to {percent(alone.high)}" in PAGE
    assert f"and {percent(beside.low)} to {percent(beside.high)}: this session was lucky" in PAGE


def test_the_power_of_two_designs_is_as_told() -> None:
    known = Expected(Components(0.015**2, 0.0, 0.015**2), 10)
    few, many = (power(known, each, tolerance=0.03) for each in (Design(3, 3), Design(10, 2)))

    assert f"a power of {few:.0%}".replace("%", " %") in PAGE
    assert f"and {many:.0%}".replace("%", " %") in PAGE


def test_the_smallest_change_that_a_screen_would_see_is_as_told() -> None:
    # One column: a scale of 5 % above the standard deviation, as 80 normal runs have on average.
    state = scan.begin(200)
    noise = np.random.default_rng(1).normal(0, 0.01, (81, 200))
    for row in noise:
        state = scan.advance(state, row)
    alone, many, most = (
        np.median(
            smallest_detectable(state.levels[:, :, 0], threshold=scan.threshold_for(together))
        )
        / 0.01
        for together in (1, 24, 8000)
    )

    told = (
        f"about {alone:.1f} standard deviations of a run for a series alone, {many:.1f} in a "
        f"matrix of 24 and {most:.1f} among 8,000"
    )
    assert told in PAGE


def test_a_crossover_takes_off_what_time_did_to_both_hosts() -> None:
    rows = re.findall(
        r"^\| (?:canary|control) \| (.+?), level .+? \| (.+?), level", PAGE, re.MULTILINE
    )
    canary, control = (
        ([[float(each)] for each in before.split()], [[float(each)] for each in after.split()])
        for before, after in rows
    )

    change = crossover(canary, control)

    told = change.interval
    assert f"1.090 / 1.020 − 1 = {percent(told.center)}" in PAGE
    assert f"√(4/3) = {change.spread:.2%}".replace("%", " %") in PAGE
    assert f"the interval {percent(told.low)} to {percent(told.high)}: *regressed*" in PAGE
    assert judge(METRICS["tpot_p50"], told, tolerance=0.03).outcome is Outcome.REGRESSED


def test_the_first_look_of_a_confirm_of_two_cells_is_at_the_confidence_told() -> None:
    first = confidences((2, 4, 6), whole=1 - (1 - 0.99) / 2)[0]

    assert f"look after 2 + 2, at {first:.1%}".replace("%", " %") in PAGE


def test_an_attribution_reads_as_its_golden_file() -> None:
    assert f"```\n{(GOLDEN / 'attribute.txt').read_text()}```" in PAGE


def test_an_experiment_recommends_what_its_example_says() -> None:
    parameter = Parameter("OMP_NUM_THREADS", ("1", "2", "4"))
    rows = [
        re.findall(r"([-+]\d+\.\d)", row)
        for row in re.findall(r"^\| [24] \| .*$", PAGE, re.MULTILINE)
    ]
    chat, prefill = (
        [Interval(*(float(row[place + at]) / 100 for at in (1, 0, 2))) for row in rows]
        for place in (0, 3)
    )
    seen = {
        value: [
            Seen("chat", {SPEED.name: Outcome.IMPROVED}, {SPEED.name: chat[at]}),
            Seen("prefill-heavy", outcomes, {SPEED.name: prefill[at]}),
        ]
        for at, (value, outcomes) in enumerate(
            {
                "2": {SPEED.name: Outcome.UNCHANGED, "ttft_p50": Outcome.REGRESSED},
                "4": {SPEED.name: Outcome.REGRESSED},
            }.items()
        )
    }

    answer = ExperimentAnswer(
        plan="small",
        parameter=parameter.name,
        metric=SPEED.name,
        arms=(),
        confidence=confidence_of_each(0.95, 3),
        session_id=UUID(int=1),
        cached=False,
        card_s=0.0,
        recommendation=RecommendationRead.of(recommended(parameter, seen, metric=SPEED.name)),
        cells=(),
    )

    *told, spent = experiment.page(answer).splitlines()
    assert "```\n" + "\n".join(told) + "\n```" in PAGE
    assert answer.confidence == pytest.approx(0.975)
    assert "97.5%" in spent
