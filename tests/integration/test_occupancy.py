"""Packed jobs share the cards of a host; a solo job has them alone, whoever asks and when."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.condition import Condition, Occupancy
from service.formats.orders import Claim
from tests.integration import builders, path
from tests.integration.builders import NOW
from tests.integration.test_concurrency import at_once

PACKED, SOLO = Occupancy.PACKED, Occupancy.SOLO


def under(occupancy: Occupancy, *, concurrency: int = 1) -> Condition:
    """Return a condition of one card, TP1."""
    found = builders.condition(concurrency=concurrency)
    return replace(found, cards=replace(found.cards, occupancy=occupancy))


def queued(engine: Engine, *occupancies: Occupancy) -> None:
    """Queue a session of one launch for each occupancy."""
    for number, occupancy in enumerate(occupancies):
        conditions = [under(occupancy)]
        order = builders.session_order(arms=[builders.NEW], conditions=conditions, baseline=None)
        later = NOW + timedelta(seconds=number)
        path.submit(engine, order, key=f"{number}", now=later)


def asking(runner: str, host: str = "h1") -> Claim:
    """Return what a runner of one card asks, one of several of its host."""
    return builders.claim(runner, host=host, cards=1, incarnation=UUID(int=1))


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        pytest.param(PACKED, PACKED, True, id="packed beside packed"),
        pytest.param(SOLO, PACKED, False, id="packed beside solo"),
        pytest.param(PACKED, SOLO, False, id="solo beside packed"),
        pytest.param(SOLO, SOLO, False, id="solo beside solo"),
    ],
)
def test_two_jobs_run_on_one_host_at_once_only_where_both_are_packed(
    first: Occupancy, second: Occupancy, *, together: bool, engine: Engine
) -> None:
    queued(engine, first, second)
    begun = path.claimed(engine, asking("one"))

    beside = path.claim(engine, asking("two"))
    path.do_job(engine, begun)

    assert (beside is not None) is together
    assert path.claim(engine, asking("two")) is not None


def test_what_one_host_must_wait_for_another_does(engine: Engine) -> None:
    queued(engine, SOLO, SOLO)
    path.claimed(engine, asking("one"))

    assert path.claim(engine, asking("elsewhere", host="h2")) is not None


def test_a_packed_job_behind_a_solo_one_is_begun_where_the_solo_one_has_to_wait(
    engine: Engine,
) -> None:
    queued(engine, PACKED, SOLO, PACKED)
    path.claimed(engine, asking("one"))

    beside = path.claimed(engine, asking("two"))

    assert beside.conditions[0].condition.cards.occupancy is PACKED


def test_a_launch_of_which_one_cell_is_solo_runs_alone(engine: Engine) -> None:
    conditions = [under(PACKED), under(SOLO, concurrency=4)]
    order = builders.session_order(arms=[builders.NEW], conditions=conditions, baseline=None)
    path.submit(engine, order, key="mixed")
    queued(engine, PACKED)
    path.claimed(engine, asking("one"))

    assert path.claim(engine, asking("two")) is None


def test_a_job_whose_runner_is_lost_keeps_no_host(engine: Engine) -> None:
    queued(engine, SOLO)
    path.claimed(engine, asking("one"))

    again = path.claimed(engine, builders.claim("one", cards=1, incarnation=UUID(int=2)))

    assert again.attempt == 2


def test_of_ten_runners_of_one_host_that_ask_at_once_one_gets_a_solo_job(engine: Engine) -> None:
    queued(engine, *[SOLO] * 10)

    taken = at_once([partial(path.claim, engine, asking(f"r{number}")) for number in range(10)])

    assert sum(order is not None for order in taken) == 1
