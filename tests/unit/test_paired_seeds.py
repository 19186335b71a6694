"""Pairing by seed: what only one side measured is left out, and said."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.store.runs import StoredRun
from service.usecases.paired_seeds import NO_SEED_SHARED, of_seeds, seeds_of_both, unpaired

AT = datetime(2026, 11, 1, tzinfo=UTC)


def run(*seeds: int) -> StoredRun:
    return StoredRun(
        id=UUID(int=1),
        session_id=UUID(int=2),
        job_id=UUID(int=3),
        launch_id=UUID(int=4),
        condition_key="c",
        protocol_key="p",
        stack_key="s",
        host="h1",
        state="measured",
        measured_at=AT,
        finished_at=AT,
        stored_at=AT,
        seeds=list(seeds),
        overhead_s=[],
        findings=[],
        broken=None,
        drift=[],
        resolution={},
    )


@pytest.mark.parametrize(
    ("baseline", "candidate", "shared", "said"),
    [
        pytest.param([run(1, 2), run(2, 1)], [run(2, 1)], {1, 2}, [], id="the same seeds"),
        pytest.param(
            [run(1, 2, 3)],
            [run(2, 3, 4)],
            {2, 3},
            ["seeds of one side alone are left out: 1, 4"],
            id="some seeds in common",
        ),
        pytest.param([run(1)], [run(2)], set(), [NO_SEED_SHARED], id="no seed in common"),
        pytest.param([run()], [run(2)], set(), [], id="a side whose seeds nobody knows"),
    ],
)
def test_the_seeds_of_both_sides_count(
    baseline: Sequence[StoredRun],
    candidate: Sequence[StoredRun],
    shared: set[int],
    said: Sequence[str],
) -> None:
    assert seeds_of_both(baseline, candidate) == shared
    assert unpaired(baseline, candidate) == said


def test_a_run_that_may_not_be_judged_lends_no_seed() -> None:
    invalid = replace(run(1, 2), state="invalid")

    assert seeds_of_both([run(1), invalid], [run(1, 2)]) == {1}


@pytest.mark.parametrize(
    ("sample", "seeds", "kept"),
    [
        pytest.param([0.1, 0.2, 0.3], {1, 3}, [0.1, 0.3], id="the named seeds"),
        pytest.param([0.1, 0.2, 0.3], set(), [0.1, 0.2, 0.3], id="no seed named"),
        pytest.param([0.1], {2}, [0.1], id="values that tell no seeds"),
    ],
)
def test_values_are_kept_by_their_seed(
    sample: Sequence[float], seeds: set[int], kept: Sequence[float]
) -> None:
    assert list(of_seeds(run(1, 2, 3), sample, frozenset(seeds))) == kept
