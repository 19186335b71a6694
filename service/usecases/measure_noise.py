"""Measure the noise of a session: what its launches of like stacks tell of the three variances."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from service.domain.cell import Cell
from service.domain.noise import KEPT
from service.stats.squares import SeededLaunch, squares_of
from service.stats.variance import Squares
from service.store import noise, runs, samples
from service.store.database import WriteSession
from service.store.noise import NoiseKey, SessionNoise
from service.store.runs import StoredRun

# As many runs of a session as are looked at.
RUNS = 20_000

Values = Mapping[UUID, Mapping[str, Sequence[float]]]


def measure_noise(session: WriteSession, session_id: UUID) -> None:
    """Store what a session tells of the noise of its cells, in place of what it told before.

    Only runs that may be judged count. Launches of one stack are held against one another and
    against no others, so a stack that is faster than the next adds nothing.
    """
    usable = [run for run in runs.of_session(session, session_id, limit=RUNS) if run.may_be_judged]
    values = samples.of_runs(
        session, [run.id for run in usable], metrics={metric.name for metric in KEPT}
    )
    noise.keep(session, session_id, list(_told(session_id, usable, values)))


def _told(session_id: UUID, usable: Sequence[StoredRun], values: Values) -> Iterator[SessionNoise]:
    for (cell, host), found in _by_cell(usable).items():
        for metric in KEPT:
            speaking = [run for run in found if _launch(run, values[run.id].get(metric.name, ()))]
            if (squares := _squares(speaking, metric.name, values)) is not None:
                yield SessionNoise(
                    key=NoiseKey(cell, metric.name, host),
                    session_id=session_id,
                    squares=squares,
                    launches=len({run.launch_id for run in speaking}),
                    run_ids=[run.id for run in speaking],
                    measured_at=max(run.measured_at for run in speaking),
                )


def _by_cell(usable: Iterable[StoredRun]) -> Mapping[tuple[Cell, str], Sequence[StoredRun]]:
    found: dict[tuple[Cell, str], list[StoredRun]] = defaultdict(list)
    for run in usable:
        found[run.cell, run.host].append(run)
    return found


def _squares(found: Iterable[StoredRun], metric: str, values: Values) -> Squares | None:
    """Return the squares of the stacks' launches, or None where no stack has two."""
    by_stack: dict[str, list[SeededLaunch]] = defaultdict(list)
    for run in found:
        by_stack[run.stack_key].append(_launch(run, values[run.id][metric]))
    squares = squares_of(list(by_stack.values()))
    return squares if squares.launch.freedom else None


def _launch(run: StoredRun, sample: Sequence[float]) -> SeededLaunch:
    """Return a run's values by seed, without those that have no logarithm."""
    if len(run.seeds) != len(sample):
        return {}
    return {
        seed: value
        for seed, value in zip(run.seeds, sample, strict=True)
        if value > 0 and math.isfinite(value)
    }
