"""Creep as people meet it: in the verdicts of a session, between two stacks, in the overview."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.compare import compare
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.store.database import reading
from service.usecases.judge_session import judge_session
from tests.integration import path
from tests.integration.nights import CELLS, order_of, stack_of
from tests.integration.pages import get, pages, pin
from tests.integration.serving import application, served

app = typer.Typer()
app.command()(compare)
# Each 2 % beyond the one before; 3 % is the tolerance of the time per token.
CREEPING = (1.0, 1.02, 1.04)


def measured(engine: Engine, scales: Sequence[float]) -> CellComparison:
    """Measure a stack a night, the first of them pinned, and return what is said of the last."""
    for night, scale in enumerate(scales):
        stack = stack_of(night)
        order = order_of(night, conditions=CELLS[:1], arms=(stack,) * 4)
        order = order.model_copy(update={"baseline_stack_key": None})
        session_id = path.do_session(engine, order, str(night), scales={stack.name: scale})
        if night == 0:
            pin(engine, stack)
    with reading(engine) as session:
        found = judge_session(session, session_id, baseline=None, looking_back=True)
    return found.cells[0]


@pytest.mark.parametrize(
    ("scales", "crept", "accepted"),
    [
        pytest.param(CREEPING, True, "nightly-1", id="two small steps"),
        pytest.param((1.0, 1.0, 1.04), False, "nightly-1", id="one step"),
        pytest.param((1.0, 1.01, 1.02), False, "nightly-1", id="within the tolerance"),
        pytest.param((1.0, 1.02, 1.04, 1.045), True, "nightly-1", id="after a refused one"),
        pytest.param((1.0, 1.04), False, None, id="nothing between"),
    ],
)
def test_creep_is_told_where_the_sum_of_small_steps_is_beyond_the_tolerance(
    engine: Engine, scales: Sequence[float], crept: bool, accepted: str | None
) -> None:
    cell = measured(engine, scales)

    assert [each.metric for each in cell.creep] == (["tpot_p50"] if crept else [])
    assert cell.accepted_stack_name == accepted
    assert any("slow creep since nightly-0" in each for each in cell.comparison.warnings) is crept


def test_what_an_accepted_gain_loses_again_is_told_beside_an_unchanged_verdict(
    engine: Engine,
) -> None:
    cell = measured(engine, (1.0, 0.95, 0.985))

    assert cell.comparison.outcome is Outcome.UNCHANGED
    assert cell.accepted is not None
    assert cell.accepted.outcome is Outcome.REGRESSED
    assert "worse than nightly-1, which was accepted last" in cell.comparison.warnings[-1]


def test_the_overview_counts_cells_that_creep(engine: Engine, tmp_path: Path) -> None:
    measured(engine, CREEPING)

    with pages(engine, tmp_path) as client:
        for _ in range(len(CREEPING)):
            found = get(client, "/overview")

    told = {each["candidates"][0]["name"]: each["told"]["creeping"] for each in found["sessions"]}
    assert told == {"nightly-0": 0, "nightly-1": 0, "nightly-2": 1}
    assert found["last_night"]["told"]["creeping"] == 1


def test_a_comparison_of_two_stacks_says_that_the_change_crept_in(
    engine: Engine, tmp_path: Path
) -> None:
    measured(engine, CREEPING)
    words = ["nightly-0", "nightly-2"]

    with served(application(engine, tmp_path)) as address:
        answer = CliRunner().invoke(app, [*words, "--url", address])

    assert answer.exit_code == 3
    assert "note: slow creep since nightly-0: tpot_p50 +4.0% (last step +2.0%)" in answer.output
