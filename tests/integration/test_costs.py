"""What cells cost when they were measured before: budgets are held to it before they are spent."""

from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from tests.integration import builders, gating, path
from tests.integration.builders import NOW, SEEDS
from tests.integration.serving import application


def test_a_launch_costs_all_that_is_not_its_cells_and_each_of_their_repeats(
    engine: Engine, tmp_path: Path
) -> None:
    path.submit(engine, builders.session_order(conditions=gating.CELLS[:1]))
    job = path.claimed(engine)
    ended = {"start_up_s": 40.0, "stopped_at": NOW + timedelta(seconds=100)}
    launch = builders.launch_report(job, launch_id=job.job_id)
    path.tell_launch(engine, launch.model_copy(update=ended))
    path.report(engine, builders.run_report(job, launch_id=job.job_id))

    with TestClient(application(engine, tmp_path), base_url="http://localhost:8000") as http:
        keys = [condition.key for condition in gating.CELLS]
        answer = http.get("/api/v1/costs", params={"condition_key": keys}).json()

    assert answer == [
        {
            "condition_key": gating.CELLS[0].key,
            # Of 100 seconds it was ten under load, and its server was up after 40.
            "start_s": 90.0,
            "repeat_s": pytest.approx(10 / len(SEEDS)),
            "launches": 1,
        }
    ]
