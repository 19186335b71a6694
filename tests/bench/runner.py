"""Time outside the measured load, per repeat: `python -m tests.bench.runner` prints it.

A real server on this machine's CPU and the real client; a repeat's overhead is its wall time less
the duration that the tool itself reports. Server starts are left out. Exit code 1 above the limit.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from runners.config import Settings
from runners.devices.device import device_for
from runners.run_job import Stop, run_job
from runners.steps import HostSteps
from service.formats.matrix_files import read_matrix
from service.formats.orders import JobOrder, Progress
from service.formats.planned_sessions import plan_session, session_upload
from service.formats.reports import LaunchReport, RunReport
from service.formats.sessions import SessionOrder

LIMIT_S = 2.0
MATRIX = Path(__file__).parents[2] / "matrix"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one launch gave."""

    runs: Sequence[RunReport]
    launch: LaunchReport


def main() -> int:
    """Measure one launch of a plan and print what its repeats cost beside the load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", default="smoke", help="a plan of the matrix; its first launch")
    parser.add_argument("--repeats", type=int, default=8, help="of each cell")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args()
    matrix = read_matrix(MATRIX)
    upload = session_upload(plan_session(matrix, matrix.plans.named(asked.plan)))
    seen = _launched(_first_job(upload.order, asked.repeats), upload.artefacts)
    overheads = [seconds for run in seen.runs for seconds in run.overhead_s]
    if not overheads:
        sys.stderr.write(f"nothing was measured: {seen.launch.broken or seen.runs}\n")
        return 1
    told = {
        "repeats": len(overheads),
        "overhead_median_s": round(statistics.median(overheads), 3),
        "overhead_max_s": round(max(overheads), 3),
        "load_median_s": round(
            statistics.median(value for run in seen.runs for value in run.values["duration"]), 3
        ),
        "start_up_s": round(seen.launch.start_up_s or 0.0, 1),
        "limit_s": LIMIT_S,
        "holds": statistics.median(overheads) <= LIMIT_S,
    }
    sys.stdout.write(json.dumps(told) + "\n" if asked.json else _lines(told))
    return 0 if told["holds"] else 1


def _lines(told: Mapping[str, object]) -> str:
    return (
        f"time outside the measured load, {told['repeats']} repeats: "
        f"median {told['overhead_median_s']} s, largest {told['overhead_max_s']} s "
        f"(limit {told['limit_s']} s: {'holds' if told['holds'] else 'does not hold'})\n"
        f"the load itself: median {told['load_median_s']} s; "
        f"the server's start, left out: {told['start_up_s']} s\n"
    )


def _first_job(order: SessionOrder, repeats: int) -> JobOrder:
    """Return the first launch of a session as a job, each cell with that many seeds."""
    launch = order.launches[0]
    seeds = tuple(range(1, repeats + 1))
    cells = tuple(cell.model_copy(update={"seeds": seeds}) for cell in launch.cells)
    return JobOrder(
        job_id=uuid4(),
        session_id=uuid4(),
        attempt=1,
        fencing_token=1,
        lease_s=45,
        ordinal=0,
        stack=next(stack for stack in order.stacks if stack.key == launch.stack_key),
        model=next(model for model in order.models if model.id == launch.model_id),
        client=next(client for client in order.clients if client.name == launch.client),
        launch=launch.model_copy(update={"cells": cells}),
        conditions=order.conditions,
        protocols=order.protocols,
        limits=order.limits,
    )


def _launched(order: JobOrder, artefacts: Mapping[str, bytes]) -> Seen:
    settings = Settings()
    steps = HostSteps(
        host=settings.host_name,
        cache=settings.cache_dir,
        cards=device_for(settings.chip).cards(),
        variables=dict(os.environ),
        fetch=lambda digest: artefacts[digest],
    )
    reports: list[RunReport | LaunchReport] = []
    run_job(
        order,
        steps,
        deliver=reports.append,
        progress=_say,
        stop=Stop(),
        now=lambda: datetime.now(UTC),
    )
    runs = [report for report in reports if isinstance(report, RunReport)]
    launches = [report for report in reports if isinstance(report, LaunchReport)]
    return Seen(runs, launches[-1])


def _say(told: Progress) -> None:
    if not told.text.startswith("waiting"):
        sys.stderr.write(f"{told.phase}: {told.text}\n")


if __name__ == "__main__":
    sys.exit(main())
