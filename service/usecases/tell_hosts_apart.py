"""Tell hosts apart: how much they differ that measured the same cell under the same stack."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from service.domain.cell import Cell
from service.domain.noise import KEPT
from service.stats.hosts import HostsApart, hosts_apart
from service.store import runs, samples
from service.store.database import ReadSession
from service.store.runs import RunFilter, StoredRun

# As many of a condition's newest runs as are looked at.
RUNS = 2000


def tell_hosts_apart(
    session: ReadSession, condition_keys: Collection[str]
) -> Mapping[tuple[Cell, str], HostsApart]:
    """Return how much hosts differ in the cells of some conditions, by cell and metric.

    A cell that one host alone measured has none. Runs that may not be judged are left out.
    """
    found: dict[tuple[Cell, str], HostsApart] = {}
    for key in sorted(condition_keys):
        wanted = RunFilter(condition_key=key, state="measured")
        usable = [run for run in runs.newest(session, wanted, limit=RUNS) if run.may_be_judged]
        for cell, measured in _of_two_hosts(usable).items():
            found |= {(cell, name): told for name, told in _by_metric(session, measured).items()}
    return found


def _of_two_hosts(usable: Sequence[StoredRun]) -> Mapping[Cell, Sequence[StoredRun]]:
    by_cell: dict[Cell, list[StoredRun]] = defaultdict(list)
    for run in usable:
        by_cell[run.cell].append(run)
    return {cell: found for cell, found in by_cell.items() if len({run.host for run in found}) > 1}


def _by_metric(session: ReadSession, found: Sequence[StoredRun]) -> Mapping[str, HostsApart]:
    names = {metric.name for metric in KEPT}
    values = samples.of_runs(session, [run.id for run in found], metrics=names)
    levels: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(dict)
    for run in found:
        for metric, sample in values[run.id].items():
            logs = [math.log(value) for value in sample if value > 0 and math.isfinite(value)]
            if logs:
                of_stack = levels[metric].setdefault(run.stack_key, {})
                of_stack.setdefault(run.host, []).append(fmean(logs))
    return {metric: hosts_apart(list(stacks.values())) for metric, stacks in levels.items()}
