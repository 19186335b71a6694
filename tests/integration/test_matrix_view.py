"""The matrix says of each square what a comparison says, and judges it once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, select, update

from service.formats.withdrawals import WithdrawalOrder
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.store.tables import JudgedRow
from service.usecases.read_runs import list_runs
from service.usecases.withdraw_run import withdraw_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.pages import get, pages, pin

JUDGED = ["ttft_p50", "tpot_p50", "output_throughput"]


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


@pytest.fixture
def measured(engine: Engine) -> Engine:
    """Measure two cells on both stacks, the new one half as fast."""
    path.do_session(engine, builders.session_order(), scales={NEW.name: 2.0})
    return engine


def squares(matrix: Any) -> list[Any]:
    return [square for row in matrix["rows"] for square in row["squares"]]


@pytest.mark.usefixtures("measured")
def test_a_square_says_what_the_comparison_of_its_stacks_says(http: TestClient) -> None:
    matrix = get(http, "/matrix", stack=NEW.key, baseline=OLD.key)
    compared = get(http, "/comparisons", baseline=OLD.key, candidate=NEW.key)

    by_cell = {cell["condition_key"]: cell for cell in compared["cells"]}
    assert len(matrix["rows"]) == len(by_cell) == 2
    for row in matrix["rows"]:
        cell, (square,) = by_cell[row["condition_key"]], row["squares"]
        assert square["outcome"] == cell["comparison"]["outcome"] == "regressed"
        assert square["candidate_launches"] == cell["candidate_launches"] == 2
        assert [
            (each["metric"], each["worsening"], each["low"], each["high"])
            for each in square["verdicts"]
        ] == [
            (each["metric"], each["worsening"], each["low"], each["high"])
            for each in sorted(
                cell["comparison"]["verdicts"], key=lambda each: JUDGED.index(each["metric"])
            )
        ]


def test_without_a_stack_named_it_is_the_one_measured_last_against_the_pins(
    measured: Engine, http: TestClient
) -> None:
    pin(measured, OLD)

    matrix = get(http, "/matrix")

    assert [stack["name"] for stack in matrix["stacks"]] == [NEW.name]
    assert matrix["against"] == "channel"
    assert matrix["outcomes"] == {"regressed": 2}
    assert {row["baseline"]["name"] for row in matrix["rows"]} == {OLD.name}


@pytest.mark.usefixtures("measured")
def test_a_row_without_a_pin_has_no_baseline(http: TestClient) -> None:
    matrix = get(http, "/matrix", stack=NEW.key)

    assert [row["baseline"] for row in matrix["rows"]] == [None, None]
    assert matrix["outcomes"] == {"insufficient baseline": 2}
    assert squares(matrix)[0]["verdicts"][0]["reason"] is not None


def test_a_pinned_cell_that_a_stack_never_measured_is_missing(
    measured: Engine, http: TestClient
) -> None:
    pin(measured, OLD)
    other = builders.stack("0.5.99")
    only = [builders.condition(concurrency=1)]
    order = builders.session_order(arms=(other,), conditions=only, baseline=None)
    path.do_session(measured, order, "two")

    matrix = get(http, "/matrix", stack=other.key)

    found = {row["fields"]["concurrency"]: row["squares"][0] for row in matrix["rows"]}
    assert found[4]["outcome"] == "missing"
    assert found[4]["measured_at"] is None
    assert found[1]["candidate_launches"] == 1


def test_what_was_judged_is_not_judged_again(measured: Engine, http: TestClient) -> None:
    first = get(http, "/matrix", stack=NEW.key, baseline=OLD.key)
    with writing(measured) as session:
        answers = session.execute(select(JudgedRow.subject, JudgedRow.answer)).all()
        for subject, answer in answers:
            told = {**answer, "outcome": "improved"}
            session.execute(
                update(JudgedRow).where(JudgedRow.subject == subject).values(answer=told)
            )

    # Another question, whose squares are the same: the first answer's rows are kept as well.
    again = get(http, "/matrix", stack=NEW.key, baseline=OLD.key, metric="ttft_p50")

    assert first["outcomes"] == {"regressed": 2}
    assert again["outcomes"] == {"improved": 2}


def test_a_withdrawn_run_is_out_of_the_square_at_once(measured: Engine, http: TestClient) -> None:
    before = get(http, "/matrix", stack=NEW.key, baseline=OLD.key)
    with reading(measured) as session:
        wanted = RunFilter(stack_key=NEW.key)
        run = list_runs(session, wanted, limit=1, cursor=None).runs[0]
    with writing(measured) as session:
        withdraw_run(session, run.id, WithdrawalOrder(reason="wrong card"), who="ann", now=NOW)

    after = get(http, "/matrix", stack=NEW.key, baseline=OLD.key)

    assert [square["candidate_launches"] for square in squares(before)] == [2, 2]
    assert sorted(square["candidate_launches"] for square in squares(after)) == [1, 2]


@pytest.mark.usefixtures("measured")
def test_many_stacks_by_one_metric(http: TestClient) -> None:
    matrix = get(http, "/matrix", stack=[NEW.key, OLD.key], baseline=OLD.key, metric="ttft_p50")

    for row in matrix["rows"]:
        assert [square["stack_key"] for square in row["squares"]] == [NEW.key, OLD.key]
        assert [len(square["verdicts"]) for square in row["squares"]] == [1, 1]


@pytest.mark.usefixtures("measured")
def test_pages_hold_every_row_once(http: TestClient) -> None:
    asked = {"stack": NEW.key, "baseline": OLD.key, "limit": 1}

    first = get(http, "/matrix", **asked)
    second = get(http, "/matrix", **asked, cursor=first["cursor"])

    keys = [row["condition_key"] for row in (*first["rows"], *second["rows"])]
    assert len(set(keys)) == 2
    assert second["cursor"] is None


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        pytest.param("tiny/tiny", 2, id="the model measured"),
        pytest.param("other/model", 0, id="a model nobody measured"),
    ],
)
@pytest.mark.usefixtures("measured")
def test_rows_of_one_model(http: TestClient, model: str, rows: int) -> None:
    assert len(get(http, "/matrix", stack=NEW.key, model=model)["rows"]) == rows


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param({"stack": "0" * 64}, 404, id="a stack that is not there"),
        pytest.param({"metric": "ttft"}, 404, id="a metric that is not there"),
        pytest.param({"metric": "kv_capacity"}, 422, id="a metric that is not judged"),
        pytest.param({"cursor": "first"}, 422, id="a cursor of nobody's"),
    ],
)
def test_a_wrong_question_is_refused(http: TestClient, asked: dict[str, str], status: int) -> None:
    assert http.get("/api/v1/matrix", params=asked).status_code == status


def test_an_empty_service_has_an_empty_matrix(http: TestClient) -> None:
    matrix = get(http, "/matrix")

    assert (matrix["stacks"], matrix["rows"]) == ([], [])


@pytest.mark.usefixtures("measured")
def test_who_asks_again_with_the_tag_is_sent_nothing(http: TestClient) -> None:
    asked = {"stack": NEW.key, "baseline": OLD.key}
    first = http.get("/api/v1/matrix", params=asked)

    again = http.get(
        "/api/v1/matrix", params=asked, headers={"If-None-Match": first.headers["ETag"]}
    )

    assert (again.status_code, again.content) == (304, b"")


def test_the_list_of_metrics_says_which_are_judged(http: TestClient) -> None:
    metrics = get(http, "/metrics")

    assert [each["name"] for each in metrics if each["judged"]] == JUDGED
    assert {each["better"] for each in metrics} == {"lower", "higher"}
