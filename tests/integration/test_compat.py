"""The compatibility table says of each cell what its stored runs say, and no more."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, delete

from service.cli.advice import page as page_of
from service.cli.dossier_words import Language
from service.domain.layer import Layer
from service.formats.advice import AdviceRead
from service.formats.reports import Broken, LoadedAnswer
from service.formats.withdrawals import WithdrawalOrder
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.store.tables import CompatComponentRow, CompatRow, CompatStackRow, CompatToldRow
from service.usecases.read_runs import list_runs
from service.usecases.withdraw_run import withdraw_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.pages import dated, get, pages, pin

SLOW = builders.stack("0.5.19")
WRONG = builders.stack("0.5.20")
DRIFTED = builders.stack("0.5.21")
ORDERED = builders.stack("0.5.22")
NO_TRANSFORMERS = Broken(layer=Layer.SERVER, finding="ImportError: transformers.AutoProcessor")


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


def measured(engine: Engine) -> None:
    """Measure two stacks, a slow one, one that breaks and one that drifts; order one more."""
    order = dated(builders.session_order(arms=(OLD, NEW, SLOW) * 2))
    path.do_session(engine, order, scales={SLOW.name: 1.5})
    pin(engine, OLD)
    break_one(engine)
    drift_one(engine)
    path.submit(engine, builders.session_order(arms=(ORDERED,), baseline=None), "last")


def break_one(engine: Engine) -> None:
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    path.tell_launch(
        engine, builders.launch_report(job, launch_id=job.job_id, broken=NO_TRANSFORMERS)
    )
    path.finish(engine, job)


def drift_one(engine: Engine) -> None:
    path.submit(engine, builders.session_order(arms=(DRIFTED,), baseline=None), "drifted")
    job = path.claimed(engine)
    seen = {**job.stack.stack.versions, "torch": "2.8.0"}
    path.tell_launch(engine, builders.launch_report(job, launch_id=job.job_id, observed=seen))
    for cell in range(len(job.launch.cells)):
        path.report(engine, builders.run_report(job, cell=cell, launch_id=job.job_id))
    path.finish(engine, job)


def states(page: Any) -> dict[str, str]:
    return {entry["stack_name"]: entry["state"] for entry in page["entries"]}


@pytest.mark.scene(played=measured)
def test_every_stack_is_told_as_its_runs_tell_it(http: TestClient) -> None:
    page = get(http, "/compat")

    assert states(page) == {
        OLD.name: "works",
        NEW.name: "works",
        SLOW.name: "works, regressed",
        WRONG.name: "broken",
        DRIFTED.name: "untested",
        ORDERED.name: "untested",
    }
    assert page["due"] == 0


@pytest.mark.scene(played=measured)
def test_a_broken_stack_names_its_layer_and_the_finding(http: TestClient) -> None:
    (entry,) = get(http, "/compat", state="broken")["entries"]

    assert entry["told"]["cells"] == {"broken": 2}
    assert entry["told"]["chief"]["layer"] == "server"
    assert entry["told"]["chief"]["finding"] == NO_TRANSFORMERS.finding
    assert entry["told"]["chief"]["run_id"] is not None


@pytest.mark.scene(played=measured)
def test_a_regressed_stack_says_how_much_in_which_metric(http: TestClient) -> None:
    (entry,) = get(http, "/compat", state="works, regressed")["entries"]

    chief = entry["told"]["chief"]
    assert entry["told"]["cells"] == {"works, regressed": 2}
    assert chief["metric"] == "tpot_p50"
    assert 0 < chief["low"] <= chief["worsening"] <= chief["high"]
    assert chief["worsening"] == pytest.approx(0.5, abs=0.01)
    assert chief["baseline_stack_key"] == OLD.key
    assert chief["host"] == "h1"


@pytest.mark.scene(played=measured)
def test_a_drifted_stack_is_untested_and_says_why(http: TestClient) -> None:
    told = get(http, f"/compat/stacks/{DRIFTED.key}")

    assert [cell["state"] for cell in told["cells"]] == ["untested", "untested"]
    assert {cell["finding"] for cell in told["cells"]} == {"stack drift: torch 2.9.1 ≠ 2.8.0"}


@pytest.mark.parametrize(
    ("loaded", "word"),
    [
        pytest.param((-2.0, -3.001), "alike", id="alike"),
        pytest.param((-2.0, -3.5), "moved", id="moved at saturation alone"),
    ],
)
def test_the_quality_is_told_idle_and_at_saturation(
    engine: Engine, http: TestClient, loaded: tuple[float, ...], word: str
) -> None:
    path.submit(engine, dated(builders.session_order(arms=(OLD, NEW) * 2)))
    while (job := path.claim(engine)) is not None:
        theirs = loaded if job.stack.stack.name == NEW.name else (-2.0, -3.0)
        told = builders.launch_report(
            job,
            launch_id=job.job_id,
            answer=(-2.0, -3.0),
            loaded_answer=LoadedAnswer(concurrency=4, log_probabilities=theirs),
        )
        path.tell_launch(engine, told)
        for cell in range(len(job.launch.cells)):
            path.report(engine, builders.run_report(job, cell=cell, launch_id=job.job_id))
        path.finish(engine, job)
    pin(engine, OLD)

    (entry,) = get(http, "/compat", stack=NEW.key)["entries"]
    body = {"from_stack": OLD.name, "to_stack": NEW.name}
    advice = http.post("/api/v1/compat/check", json=body).json()

    told_of = entry["told"]
    assert (told_of["distance"], told_of["loaded_concurrency"]) == (0.0, 4)
    assert told_of["loaded_distance"] == pytest.approx(-3.0 - loaded[1])
    assert told_of["loaded_tolerance"] == 0.01
    assert advice["answer"] == ("yes, with costs" if word == "moved" else "yes")
    assert {cell["loaded_concurrency"] for cell in advice["cells"]} == {4}
    page = page_of(AdviceRead.model_validate_json(json.dumps(advice)), Language.ZH)
    assert ("4 并发时回答偏移 0.5 nat/token" in page) == (word == "moved")


@pytest.mark.scene(played=measured)
def test_of_a_model_asked_for_a_stack_without_a_run_is_untested(http: TestClient) -> None:
    page = get(http, "/compat", model="other/model")

    assert set(states(page).values()) == {"untested"}
    assert len(page["entries"]) == 6


@pytest.mark.scene(played=measured)
def test_pinned_cells_without_a_run_count_as_untested(engine: Engine, http: TestClient) -> None:
    other = builders.stack("0.5.99")
    only = [builders.condition(concurrency=1)]
    with writing(engine) as session:
        session.execute(delete(CompatToldRow))
    path.submit(
        engine, builders.session_order(arms=(other,), conditions=only, baseline=None), "one cell"
    )
    while (job := path.claim(engine)) is not None:
        path.do_job(engine, job)

    (entry,) = get(http, "/compat", stack=other.key)["entries"]

    assert entry["told"]["cells"] == {"works": 1, "untested": 1}


@pytest.mark.scene(played=measured)
def test_a_withdrawn_run_is_out_of_the_table_at_once(engine: Engine, http: TestClient) -> None:
    get(http, "/compat")
    with reading(engine) as session:
        found = list_runs(session, RunFilter(stack_key=WRONG.key), limit=9, cursor=None).runs
    with writing(engine) as session:
        for run in found:
            withdraw_run(session, run.id, WithdrawalOrder(reason="bad host"), who="ann", now=NOW)

    assert states(get(http, "/compat"))[WRONG.name] == "untested"


@pytest.mark.scene(played=measured)
def test_another_baseline_tells_the_table_anew(engine: Engine, http: TestClient) -> None:
    before = states(get(http, "/compat"))
    pin(engine, SLOW)

    after = states(get(http, "/compat"))

    assert (before[SLOW.name], after[SLOW.name]) == ("works, regressed", "works")


@pytest.mark.scene(played=measured)
def test_the_table_may_be_emptied_at_any_time(engine: Engine, http: TestClient) -> None:
    before = get(http, "/compat")
    with writing(engine) as session:
        for table in (CompatRow, CompatStackRow, CompatComponentRow, CompatToldRow):
            session.execute(delete(table))

    assert get(http, "/compat") == before


@pytest.mark.scene(played=measured)
def test_pages_hold_every_line_once(http: TestClient) -> None:
    names, cursor = [], None
    for _ in range(4):
        page = get(http, "/compat", limit=2, **({"cursor": cursor} if cursor else {}))
        names += [entry["stack_name"] for entry in page["entries"]]
        cursor = page["cursor"]
        if cursor is None:
            break

    assert len(names) == len(set(names)) == 6


@pytest.mark.parametrize(
    ("component", "found"),
    [
        pytest.param("sglang=0.5.19", {SLOW.name}, id="a whole version"),
        pytest.param("torch=2.9", {"six"}, id="how a version begins"),
        pytest.param("torch=2", {"six"}, id="its first number"),
        pytest.param("torch=2.9.10", set(), id="a longer one"),
    ],
)
@pytest.mark.scene(played=measured)
def test_lines_are_filtered_by_a_component(
    http: TestClient, component: str, found: set[str]
) -> None:
    names = set(states(get(http, "/compat", component=component)))

    assert (names if len(names) < 6 else {"six"}) == found


@pytest.mark.scene(played=measured)
def test_the_table_turns_by_two_components(http: TestClient) -> None:
    turned = get(http, "/compat/pivot", row="sglang", column="torch")

    assert turned["rows"] == [f"0.5.{minor}" for minor in (18, 19, 20, 21, 22, 23)]
    assert turned["columns"] == ["2.9.1"]
    by_row = {square["row"]: square["states"] for square in turned["squares"]}
    assert by_row["0.5.20"] == {"broken": 1}
    assert by_row["0.5.18"] == {"works": 1}


def test_a_history_says_until_when_a_cell_worked(engine: Engine, http: TestClient) -> None:
    path.do_session(engine, dated(builders.session_order(arms=(OLD,), baseline=None)))
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    path.tell_launch(
        engine, builders.launch_report(job, launch_id=job.job_id, broken=NO_TRANSFORMERS)
    )
    path.finish(engine, job, now=NOW + timedelta(days=1))
    key = builders.condition(concurrency=1).key

    told = get(http, f"/compat/cells/{key}", component="sglang")

    assert [past["cell"]["state"] for past in told["past"]] == ["works", "broken"]
    assert told["sentence"] == (
        "worked until sglang 0.5.18 (cpu-0.5.18); broken at server since sglang 0.5.20 (cpu-0.5.20)"
    )


@pytest.mark.parametrize(
    ("place", "asked", "status"),
    [
        pytest.param("/compat", {"cursor": "first"}, 422, id="a cursor of nobody's"),
        pytest.param("/compat", {"component": "torch"}, 422, id="a component without a version"),
        pytest.param("/compat/stacks/none", {}, 404, id="a stack that is not there"),
        pytest.param(f"/compat/cells/{'0' * 64}", {}, 404, id="a cell that is not there"),
    ],
)
def test_a_wrong_question_is_refused(
    http: TestClient, place: str, asked: dict[str, str], status: int
) -> None:
    assert http.get(f"/api/v1{place}", params=asked).status_code == status
