"""Controls that a gate need not measure again: launches of its base on the same host, not long ago.

They stand beside at least one launch of the gate's own session, and only to call a cell unchanged
or improved: nobody is blamed by values of another day.
"""

from collections import defaultdict
from datetime import timedelta
from uuid import UUID

from service.store import runs
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.gate_cells import NOTHING_CACHED, RUNS, Cached, GateState

# Fewer sessions do not tell how much one day differs from the next.
SESSIONS_MIN = 2
# More launches than that make an interval hardly narrower than the candidate's own few do.
LAUNCHES_MAX = 12


def cached_controls(session: ReadSession, state: GateState) -> Cached:
    """Return the base's launches of earlier sessions in each cell that has enough of them.

    Those count that ended before the gate was asked for, on the host that it runs on, so that it
    has the same answer whenever it is read.
    """
    age_s, host = state.content.rules.cached_control_s, state.session.host
    if not age_s or host is None:
        return NOTHING_CACHED
    asked_at = state.stored.asked_at
    found = runs.of_stack(
        session,
        state.content.base.stack_key,
        conditions={gated.cell.condition_key for gated in state.cells},
        host=host,
        limit=RUNS,
    )
    fresh = [
        run
        for run in found
        if run.may_be_judged
        and run.session_id not in {None, state.session.id}
        and asked_at - timedelta(seconds=age_s) <= run.measured_at <= asked_at
    ]
    return {
        gated.cell: launches
        for gated in state.cells
        if (launches := _enough([run for run in fresh if run.cell == gated.cell], state))
    }


def _enough(fresh: list[StoredRun], state: GateState) -> list[list[StoredRun]]:
    """Return the newest launches, or nothing where there are too few of them."""
    by_launch: dict[UUID, list[StoredRun]] = defaultdict(list)
    for run in fresh:
        by_launch[run.launch_id].append(run)
    newest = sorted(by_launch.values(), key=lambda launch: launch[0].measured_at, reverse=True)
    kept = newest[:LAUNCHES_MAX]
    sessions = {run.session_id for launch in kept for run in launch}
    enough = len(sessions) >= SESSIONS_MIN and len(kept) >= state.looks.rounds[0]
    return kept if enough else []
