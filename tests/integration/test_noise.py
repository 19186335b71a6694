"""Noise of what is stored: from equal launches alone, and never a session's own word."""

import math
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.cell import Cell
from service.domain.policy import Policy
from service.domain.stack import Stack
from service.domain.verdict import Outcome
from service.formats.comparisons import CellsCompared
from service.formats.noise import NoiseRead
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder
from service.stats.change import LAUNCH_LUCK_UNSEEN
from service.stats.expected_change import LUCK_FROM_HISTORY
from service.stats.squares import estimate
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.usecases.compare_stored import compare_stored
from service.usecases.judge_session import judge_session
from service.usecases.measure_noise import measure_noise
from service.usecases.read_noise import expected, list_noise
from service.usecases.read_runs import list_runs
from service.usecases.withdraw_run import restore_run, withdraw_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD, PROTOCOL
from tests.integration.serving import application

# What launches of one session are slower by, in their order.
LUCK = (1.0, 1.02, 0.99, 1.01)
OTHER = builders.stack("0.5.20")


def do_session(
    engine: Engine,
    key: str,
    *,
    arms: tuple[Stack, ...] = (OLD,) * 4,
    slower: float = 1.0,
    host: str = "h1",
    host_slower: float = 1.0,
) -> UUID:
    """Do a session whose launches differ by LUCK, and its new stack's by slower as well."""
    order = builders.session_order(arms=arms, baseline=OLD if OLD in arms and NEW in arms else None)
    session_id = path.submit(engine, order, key)
    while (job := path.claim(engine, builders.claim(f"on-{host}", host=host))) is not None:
        scale = host_slower * (slower if job.stack.key == NEW.key else 1.0)
        path.do_job(engine, job, scale=scale * LUCK[job.ordinal % len(LUCK)])
    return session_id


def noise(engine: Engine, session_id: UUID) -> list[NoiseRead]:
    with reading(engine) as session:
        return list(list_noise(session, session_id=session_id))


def of_metric(found: list[NoiseRead], metric: str) -> NoiseRead:
    return next(each for each in found if each.metric == metric)


def test_equal_launches_tell_how_much_launches_differ(engine: Engine) -> None:
    found = noise(engine, do_session(engine, "one"))

    ttft = of_metric(found, "ttft_p50")
    launches = [
        {seed: luck * each for seed, each in zip(builders.SEEDS, (0.99, 1.0, 1.01), strict=True)}
        for luck in LUCK
    ]
    parts = estimate([launches]).components
    assert len(found) == 6
    assert ttft.launch.spread == pytest.approx(parts.launch**0.5)
    assert ttft.seed.spread == pytest.approx(parts.seed**0.5)
    assert ttft.residual.spread == pytest.approx(0, abs=1e-6)
    assert (ttft.launch.freedom, ttft.seed.freedom, ttft.residual.freedom) == (3, 2, 6)
    assert (ttft.launches, len(ttft.run_ids), ttft.host) == (4, 4, "h1")


def test_how_much_slower_a_stack_is_adds_nothing(engine: Engine) -> None:
    arms = (OLD, OLD, NEW, NEW)

    alike = noise(engine, do_session(engine, "one", arms=arms))
    slower = noise(engine, do_session(engine, "two", arms=arms, slower=2.0))

    assert of_metric(alike, "tpot_p50").launch.freedom == 2
    assert of_metric(slower, "tpot_p50").launch.spread == pytest.approx(
        of_metric(alike, "tpot_p50").launch.spread
    )


def test_sessions_add_up(engine: Engine) -> None:
    first = do_session(engine, "one")
    second = do_session(engine, "two")

    ttft = of_metric(noise(engine, second), "ttft_p50")

    assert set(ttft.sessions) == {first, second}
    assert ttft.launch.freedom == 6


def test_two_hosts_under_one_stack_tell_how_much_hosts_differ(engine: Engine) -> None:
    do_session(engine, "one")
    alone = of_metric(noise(engine, do_session(engine, "two")), "ttft_p50")
    elsewhere = do_session(engine, "three", host="h2", host_slower=1.10)

    beside = of_metric(noise(engine, elsewhere), "ttft_p50")

    assert (alone.hosts.spread, alone.hosts.freedom) == (0.0, 0.0)
    assert beside.hosts.freedom == 1
    # Two hosts' levels lie ln 1.10 apart: their standard deviation is that over the root of two.
    assert beside.hosts.spread == pytest.approx(math.log(1.10) / math.sqrt(2), rel=0.02)
    # The launch's part is each host's own, and nothing of the other is in it.
    assert beside.launch.spread == pytest.approx(alone.launch.spread)


def test_one_launch_of_each_stack_tells_nothing(engine: Engine) -> None:
    assert noise(engine, do_session(engine, "one", arms=(OLD, NEW))) == []


def test_telling_it_again_changes_nothing(engine: Engine) -> None:
    session_id = do_session(engine, "one")
    before = noise(engine, session_id)

    with writing(engine) as session:
        measure_noise(session, session_id)

    assert noise(engine, session_id) == before


def test_a_withdrawn_run_is_out_of_it_until_it_is_restored(engine: Engine) -> None:
    session_id = do_session(engine, "one")
    before = noise(engine, session_id)
    with reading(engine) as session:
        run_id = list_runs(session, RunFilter(), limit=1, cursor=None).runs[0].id

    with writing(engine) as session:
        withdraw_run(session, run_id, WithdrawalOrder(reason="wrong card"), who="ann", now=NOW)
    without = noise(engine, session_id)
    with writing(engine) as session:
        restore_run(session, run_id, RestorationOrder(reason="right card"), who="ann", now=NOW)

    assert run_id not in {told for each in without for told in each.run_ids}
    assert noise(engine, session_id) == before


def test_a_session_is_never_its_own_history(engine: Engine) -> None:
    session_id = do_session(engine, "one")
    cell = Cell(builders.condition().key, PROTOCOL.key)

    with reading(engine) as session:
        alone = expected(session, {cell}, host="h1", without_sessions={session_id})
    do_session(engine, "two")
    with reading(engine) as session:
        beside = expected(session, {cell}, host="h1", without_sessions={session_id})

    assert alone == {}
    # Three degrees of freedom of the other session, and what the prior is worth beside them.
    assert beside[cell]["ttft_p50"].freedom == pytest.approx(3 + 4 * 0.7)


@pytest.mark.parametrize(
    ("history", "outcome"),
    [
        pytest.param(0, Outcome.INCONCLUSIVE, id="without history"),
        pytest.param(3, Outcome.REGRESSED, id="with history"),
    ],
)
def test_history_lets_two_launches_a_side_reach_a_verdict(
    engine: Engine, history: int, outcome: Outcome
) -> None:
    for number in range(history):
        do_session(engine, f"history {number}")
    session_id = do_session(engine, "judged", arms=(OLD, NEW, NEW, OLD), slower=1.05)

    with reading(engine) as session:
        cell = judge_session(session, session_id, baseline=None).cells[0]

    verdicts = {each.metric: each.outcome for each in cell.comparison.verdicts}
    assert verdicts["tpot_p50"] is outcome


def test_noise_is_asked_for_by_session_or_by_condition_and_host(
    engine: Engine, tmp_path: Path
) -> None:
    session_id = do_session(engine, "one")

    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as http:
        by_session = http.get("/api/v1/noise", params={"session_id": str(session_id)}).json()
        key = by_session[0]["condition_key"]
        by_condition = http.get("/api/v1/noise", params={"condition_key": [key]}).json()
        elsewhere = http.get("/api/v1/noise", params={"condition_key": [key], "host": "h9"}).json()
        nothing = http.get("/api/v1/noise").json()

    assert len(by_session) == 6
    assert [each for each in by_session if each["condition_key"] == key] == by_condition
    assert (elsewhere, nothing) == ([], [])


def test_two_single_launches_of_two_sessions_are_compared_by_history(engine: Engine) -> None:
    for number in range(3):
        do_session(engine, f"history {number}")
    before = do_session(engine, "before", arms=(OLD,))
    after = do_session(engine, "after", arms=(NEW,), slower=1.5)
    with reading(engine) as session:
        ids = [
            str(list_runs(session, wanted, limit=1, cursor=None).runs[0].id)
            for each in (before, after)
            for wanted in [RunFilter(session_id=each, condition_key=builders.condition().key)]
        ]
        compared = compare_stored(
            session, baseline=ids[0], candidate=ids[1], policy=Policy(min_repeats=1)
        )

    verdict = compared.cells[0].comparison.verdicts[0]
    assert verdict.outcome is Outcome.REGRESSED
    assert LUCK_FROM_HISTORY in verdict.warnings
    assert LAUNCH_LUCK_UNSEEN not in verdict.warnings


def test_what_is_stored_of_two_stacks_is_compared_by_history_where_one_session_measured_both(
    engine: Engine,
) -> None:
    arms = (OLD, NEW, NEW, OLD)
    do_session(engine, "judged", arms=arms, slower=1.05)
    with reading(engine) as session:
        before = compare_stored(session, baseline=OLD.key, candidate=NEW.key, policy=Policy())

    for number in range(3):
        do_session(engine, f"history {number}", arms=(OTHER,) * 4)
    with reading(engine) as session:
        after = compare_stored(session, baseline=OLD.key, candidate=NEW.key, policy=Policy())

    assert outcome_of(before, "tpot_p50") is Outcome.INCONCLUSIVE
    assert outcome_of(after, "tpot_p50") is Outcome.REGRESSED


def outcome_of(found: CellsCompared, metric: str) -> Outcome:
    verdicts = found.cells[0].comparison.verdicts
    return next(each.outcome for each in verdicts if each.metric == metric)
