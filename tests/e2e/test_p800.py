"""The shrunk matrix of a P800 host on an emulated one, real SGLang on this CPU behind it.

Emulated: no figure here is a card's. What is shown is that both plans go through whole: one card
and two, from the command line and through Redis, on two runner processes of one host, whose torch
counts the cards in another order than `xpu-smi`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.p800_site import Site, serving_host
from tests.e2e.production import service_client
from tests.hosts.p800.shrunk import shrunk_matrix

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1800)]

RUN_LIMIT_S = 900
CELLS = {"p800-single": 13, "p800-multi": 6}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    host = serving_host(tmp_path / "host", cards=4, faults=["other-order"])
    found = Site(tmp_path, host)
    try:
        found.open({"one": 2, "other": 2})
        with service_client(found.port):
            yield found
    finally:
        found.stop()


def test_every_cell_of_both_plans_of_a_p800_host_is_measured(site: Site, tmp_path: Path) -> None:
    matrices = {
        "p800-single": shrunk_matrix(tmp_path / "single", ["p800-single"], tp=1),
        "p800-multi": shrunk_matrix(tmp_path / "multi", ["p800-multi"], tp=2),
    }

    running = {plan: site.run(plan, matrix) for plan, matrix in matrices.items()}
    told = {
        plan: json.loads(process.communicate(timeout=RUN_LIMIT_S)[0])
        for plan, process in running.items()
    }

    for plan in matrices:
        page = site.asked("runs", "--session", told[plan]["session_id"])
        fallen = [run["id"] for run in page["runs"] if run["state"] != "measured"]
        # What falls is shown with what it fell at.
        assert [site.asked("runs", run_id) for run_id in fallen] == []
        assert len(page["runs"]) == len(told[plan]["cells"]) == CELLS[plan]
