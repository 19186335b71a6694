"""A report: stored once, whole or not at all, and only from who holds the job."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest
import zstandard
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.job import StaleTokenError
from service.formats.orders import JobOrder
from service.formats.reports import ARTEFACT_BYTES_MAX, Artefact, GateFinding, RunReport
from service.store import runs, samples
from service.store.database import reading
from service.store.jobs import UnknownJobError
from service.store.runs import RunFilter
from service.store.whole_runs import keep_at_once
from service.usecases.keep_artefact import (
    ArtefactTooLargeError,
    ArtefactUnreadableError,
    DigestMismatchError,
    read_artefact,
)
from service.usecases.read_runs import list_runs, read_run
from service.usecases.report_run import CellNotInJobError, whole_run
from tests.integration import builders, path
from tests.integration.builders import NOW
from tests.integration.serving import application


@pytest.fixture
def order(engine: Engine) -> JobOrder:
    path.submit(engine, builders.session_order())
    return path.claimed(engine)


def test_a_run_comes_back_as_it_was_reported(engine: Engine, order: JobOrder) -> None:
    sent = builders.run_report(order, text=b"line one\nline two\n")

    answer = path.report(engine, sent)

    assert answer.stored
    with reading(engine) as session:
        read = read_run(session, sent.run_id)
        text = read_artefact(session, path.FILES, digest=read.artefacts[0].digest)
    assert read.values == sent.values
    assert read.seeds == builders.SEEDS
    assert read.run.host == "h1"
    assert read.run.medians["ttft_p50"] == pytest.approx(0.02)
    assert text == b"line one\nline two\n"


def test_the_same_report_is_stored_once(engine: Engine, order: JobOrder) -> None:
    sent = builders.run_report(order)

    answers = [path.report(engine, sent).stored for _ in range(3)]

    assert answers == [True, False, False]


def test_a_second_report_of_a_cell_is_not_stored(engine: Engine, order: JobOrder) -> None:
    first, second = builders.run_report(order), builders.run_report(order, scale=2)
    path.report(engine, first)

    answer = path.report(engine, second)

    assert not answer.stored
    with reading(engine) as session:
        assert not runs.is_stored(session, second.run_id)


def test_a_stale_token_is_refused(engine: Engine, order: JobOrder) -> None:
    path.claimed(engine)

    with pytest.raises(StaleTokenError, match="claimed again"):
        path.report(engine, builders.run_report(order))


def test_what_was_stored_in_time_may_be_sent_again_with_a_stale_token(
    engine: Engine, order: JobOrder
) -> None:
    sent = builders.run_report(order)
    path.report(engine, sent)
    path.claimed(engine)

    assert not path.report(engine, sent).stored


def test_a_lost_jobs_run_still_counts_while_nobody_claimed_it_again(
    engine: Engine, order: JobOrder
) -> None:
    path.claim(engine, builders.claim(pool="elsewhere"))

    assert path.report(engine, builders.run_report(order)).stored


def test_a_cell_the_job_never_asked_for_is_refused(engine: Engine, order: JobOrder) -> None:
    sent = builders.run_report(order).model_copy(update={"condition_key": "0" * 64})

    with pytest.raises(CellNotInJobError):
        path.report(engine, sent)


def test_a_job_nobody_knows_is_refused(engine: Engine, order: JobOrder) -> None:
    sent = builders.run_report(order).model_copy(update={"job_id": uuid4()})

    with pytest.raises(UnknownJobError):
        path.report(engine, sent)


def _with(order: JobOrder, artefact: Artefact) -> RunReport:
    return builders.run_report(order).model_copy(update={"artefacts": (artefact,)})


def test_content_that_is_not_its_digest_stores_nothing(engine: Engine, order: JobOrder) -> None:
    lie = builders.artefact(b"one").model_copy(update={"digest": "0" * 64})
    sent = _with(order, lie)

    with pytest.raises(DigestMismatchError):
        path.report(engine, sent)
    with reading(engine) as session:
        assert not runs.is_stored(session, sent.run_id)


def test_content_that_grows_beyond_the_bound_is_refused(engine: Engine, order: JobOrder) -> None:
    bomb = builders.artefact(b"\0" * (ARTEFACT_BYTES_MAX + 1))

    with pytest.raises(ArtefactTooLargeError):
        path.report(engine, _with(order, bomb))


def test_content_that_is_no_zstd_is_refused(engine: Engine, order: JobOrder) -> None:
    broken = builders.artefact(b"one").model_copy(update={"zstd": b"not zstd at all"})

    with pytest.raises(ArtefactUnreadableError):
        path.report(engine, _with(order, broken))


def test_large_content_lies_in_a_file_and_comes_back_byte_exact(
    engine: Engine, order: JobOrder
) -> None:
    noise = b"".join(uuid4().bytes for _ in range(8000))
    sent = builders.run_report(order, text=noise)
    path.report(engine, sent)

    digest = sent.artefacts[0].digest

    assert zstandard.ZstdDecompressor().decompressobj().decompress(path.FILES.read(digest)) == noise
    with reading(engine) as session:
        assert read_artefact(session, path.FILES, digest=digest) == noise


def test_a_failed_gate_makes_a_run_invalid(engine: Engine, order: JobOrder) -> None:
    finding = GateFinding(
        code="ttft_zero", severity="failure", message="zero", observed="0", required="> 0"
    )
    sent = builders.run_report(order).model_copy(update={"findings": (finding,)})
    path.report(engine, sent)

    with reading(engine) as session:
        read = read_run(session, sent.run_id)

    assert read.run.state == "invalid"
    assert read.findings == (finding,)


def test_pages_hold_every_run_once(engine: Engine) -> None:
    path.do_session(engine, builders.session_order())
    seen: list[UUID] = []
    cursor: str | None = None

    for _ in range(3):
        with reading(engine) as session:
            page = list_runs(session, RunFilter(), limit=3, cursor=cursor)
        seen += [run.id for run in page.runs]
        cursor = page.cursor

    assert cursor is None
    assert len(seen) == len(set(seen)) == 8


def test_samples_are_kept_bit_for_bit(engine: Engine, order: JobOrder) -> None:
    values = (0.1 + 0.2, 5e-324, 1.7976931348623157e308)
    sent = builders.run_report(order).model_copy(update={"values": {"ttft_p50": values}})
    path.report(engine, sent)

    with reading(engine) as session:
        found = samples.of_runs(session, [sent.run_id])

    assert found[sent.run_id] == {"ttft_p50": values}


def test_over_http_each_report_is_told_what_became_of_it(
    engine: Engine, order: JobOrder, tmp_path: Path
) -> None:
    http = TestClient(application(engine, tmp_path), base_url="http://localhost:8000")
    sent = builders.run_report(order)
    stale = builders.run_report(order, cell=1).model_copy(update={"fencing_token": 9})

    answers = [
        http.put(f"/api/v1/runs/{each.run_id}", content=each.model_dump_json()).json()
        for each in (sent, sent, stale, builders.run_report(order, cell=1))
    ]

    assert [answer.get("stored", answer.get("type")) for answer in answers] == [
        True,
        False,
        "StaleTokenError",
        True,
    ]


def test_all_at_once_takes_what_is_new_and_leaves_the_rest_to_the_ordinary_way(
    engine: Engine, order: JobOrder
) -> None:
    quick = engine.dialect.name == "postgresql"
    first, second = (whole_run(builders.run_report(order, cell=cell), NOW) for cell in (0, 1))

    stored = keep_at_once(engine, path.FILES, [first])
    again = keep_at_once(engine, path.FILES, [first, second])

    assert stored == ({first.run.id} if quick else frozenset())
    assert again == ({second.run.id} if quick else frozenset())


def test_all_at_once_stores_nothing_where_one_cannot_be_stored(
    engine: Engine, order: JobOrder
) -> None:
    good, bad = builders.run_report(order), builders.run_report(order, cell=1)
    unstorable = bad.model_copy(
        update={
            "findings": [
                GateFinding(code="a\x00", severity="warning", message="", observed="", required="")
            ]
        }
    )

    stored = keep_at_once(engine, path.FILES, [whole_run(each, NOW) for each in (good, unstorable)])

    assert stored == frozenset()
    with reading(engine) as session:
        assert not runs.is_stored(session, good.run_id)
    assert path.report(engine, good).stored
