"""What a runner's report says: what its run is worth, and the content it carries."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic import ValidationError

from service.formats.reports import Artefact, GateFinding, RunReport

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


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("//79", id="in one line"),
        pytest.param("__79", id="in the alphabet of addresses"),
        pytest.param("//\n79\n", id="in lines"),
    ],
)
def test_an_artefacts_content_is_read_however_base64_was_written(written: str) -> None:
    read = Artefact(name="log", digest=DIGEST, zstd=written.encode())

    assert read.zstd == b"\xff\xfe\xfd"
    assert '"zstd":"//79"' in read.model_dump_json()


def test_what_is_no_base64_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="zstd"):
        Artefact(name="log", digest=DIGEST, zstd=b"//7")
