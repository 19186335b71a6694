"""What a runner's report of a run is worth, by the gates' findings it carries."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.formats.reports import GateFinding, RunReport

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DIGEST = "d" * 64


def unknown(code: str) -> GateFinding:
    return GateFinding(code=code, severity="unknown", message="…", observed="unknown", required="…")


def failed(code: str) -> GateFinding:
    return GateFinding(code=code, severity="failure", message="…", observed="0", required="1")


@pytest.mark.parametrize(
    ("findings", "state"),
    [
        ((), "measured"),
        ((unknown("card_throttled"),), "measured"),
        ((unknown("server_errors"),), "incomplete"),
        ((unknown("server_errors"), failed("ttft_zero")), "invalid"),
        ((failed("a code of a newer runner"),), "invalid"),
    ],
)
def test_a_report_says_what_its_run_is_worth(findings: tuple[GateFinding, ...], state: str) -> None:
    sent = RunReport(
        run_id=UUID(int=1),
        job_id=UUID(int=2),
        launch_id=UUID(int=3),
        fencing_token=1,
        condition_key=DIGEST,
        protocol_key=DIGEST,
        measured_at=NOW,
        finished_at=NOW,
        seeds=(1,),
        values={"ttft_p50": (0.1,)},
        findings=findings,
    )

    assert sent.state == state
