"""The advisor's four answers, each from stored runs, and what it says beside them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.domain.audit import Noun
from service.domain.layer import Layer
from service.formats.orders import JobOrder
from service.formats.reports import Broken
from service.store import audits
from service.store.database import reading
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD
from tests.integration.pages import dated, get, pages

SLOW = builders.stack("0.5.19")
WRONG = builders.stack("0.5.20")
ORDERED = builders.stack("0.5.22")
IMPORT_ERROR = Broken(layer=Layer.SERVER, finding="ImportError: transformers.AutoProcessor")
TOGETHER = {
    "name": "server-with-its-torch",
    "together": ["sglang", "torch"],
    "source": "the vendor's release notes, page 4",
}


def measured(engine: Engine) -> None:
    order = dated(builders.session_order(arms=(OLD, NEW, SLOW) * 3))
    path.do_session(engine, order, scales={SLOW.name: 1.5})
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    told = builders.launch_report(job, launch_id=job.job_id, broken=IMPORT_ERROR)
    path.tell_launch(engine, told)
    path.finish(engine, job)
    path.submit(engine, builders.session_order(arms=(ORDERED,), baseline=None), "last")


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


def check(http: TestClient, **asked: Any) -> Any:
    answer = http.post("/api/v1/compat/check", json={"from_stack": OLD.name, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("to", "answer", "sentence"),
    [
        pytest.param(NEW.name, "yes", "yes: no cell of 2 gets worse by its tolerance", id="alike"),
        pytest.param(
            SLOW.name, "yes, with costs", "yes, with costs: 2 of 2 cells get worse", id="slower"
        ),
        pytest.param(WRONG.name, "no", "no: broken at server in 2 of 2 cells", id="broken"),
        pytest.param(
            ORDERED.name, "unknown", "unknown: 2 of 2 cells were never measured", id="untested"
        ),
    ],
)
@pytest.mark.scene(played=measured)
def test_an_upgrade_is_answered_from_what_was_measured(
    http: TestClient, to: str, answer: str, sentence: str
) -> None:
    told = check(http, to_stack=to)

    assert (told["answer"], told["sentence"]) == (answer, sentence)


@pytest.mark.scene(played=measured)
def test_a_cost_is_said_with_its_interval_cell_by_cell(http: TestClient) -> None:
    told = check(http, to_stack=SLOW.name)

    assert len(told["cells"]) == 2
    for cell in told["cells"]:
        verdicts = {each["metric"]: each for each in cell["verdicts"]}
        assert verdicts["tpot_p50"]["worsening"] == pytest.approx(0.5, abs=0.01)
        assert verdicts["tpot_p50"]["low"] > 0
    assert told["command"] is None


@pytest.mark.scene(played=measured)
def test_what_is_missing_is_measured_by_one_command(http: TestClient) -> None:
    told = check(http, to_stack=ORDERED.name)

    keys = sorted(cell["condition_key"] for cell in told["cells"])
    cells = " ".join(f"--cell {key[:12]}" for key in keys)
    assert told["command"] == (
        f"kunline run demo --stack {OLD.name} --stack {ORDERED.name} {cells}"
    )


@pytest.mark.scene(played=measured)
def test_of_an_unknown_stack_the_nearest_tested_one_is_named(http: TestClient) -> None:
    told = check(http, versions={"torch": "2.10.0"})

    assert (told["answer"], told["known"]) == ("unknown", False)
    assert told["nearest"]["stack"]["name"] == OLD.name
    assert told["nearest"]["differences"] == [
        {"field": "torch", "baseline": "2.9.1", "candidate": "2.10.0"}
    ]
    assert "--with torch=2.10.0" in told["command"]


@pytest.mark.scene(played=measured)
def test_other_versions_may_name_a_stack_that_was_tested(http: TestClient) -> None:
    told = check(http, versions={"sglang": "0.5.20"})

    assert (told["answer"], told["candidate"]["name"]) == ("no", WRONG.name)


@pytest.mark.parametrize(
    ("asked", "cells"),
    [
        pytest.param({"cards": 1}, 2, id="as many cards as were measured"),
        pytest.param({"cards": 8}, 0, id="other cards"),
        pytest.param({"model": "other/model"}, 0, id="another model"),
    ],
)
@pytest.mark.scene(played=measured)
def test_only_cells_that_are_asked_for_count(
    http: TestClient, asked: dict[str, Any], cells: int
) -> None:
    told = check(http, to_stack=NEW.name, **asked)

    assert len(told["cells"]) == cells
    assert told["answer"] == ("yes" if cells else "unknown")


def declare(http: TestClient, *constraints: dict[str, Any]) -> Any:
    answer = http.post(
        "/api/v1/compat/constraints",
        json={"constraints": list(constraints), "why": "new notes", "who": "ann"},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.scene(played=measured)
def test_what_was_never_measured_and_is_declared_against_is_a_no(http: TestClient) -> None:
    declare(http, TOGETHER)

    told = check(http, to_stack=ORDERED.name)

    assert told["answer"] == "no"
    assert told["moves_with"] == ["torch"]
    (finding,) = told["constraints"]
    assert (finding["held"], finding["stays_behind"]) == ("violated", ["torch"])
    assert finding["source"] == TOGETHER["source"]


@pytest.mark.scene(played=measured)
def test_what_works_against_a_declaration_is_a_contradiction(http: TestClient) -> None:
    declare(http, TOGETHER)

    told = check(http, to_stack=NEW.name)

    assert told["answer"] == "yes"
    assert [each["contradicted"] for each in told["constraints"]] == [True]


@pytest.mark.scene(played=measured)
def test_a_declaration_is_shown_beside_the_stacks_that_contradict_it(http: TestClient) -> None:
    rule = {"name": "new-torch", "then": {"torch": ">=2.10"}, "source": "notes"}
    declare(http, rule)

    (told,) = get(http, "/compat/constraints")

    assert told["words"] == "needs torch >=2.10"
    assert told["broken_by"] == 5
    assert told["contradicted_by"] == [OLD.name, SLOW.name, NEW.name]
    works = get(http, "/compat", state="works")["entries"]
    assert {each["contradictions"][0] for each in works} == {
        "works, though new-torch declares: needs torch >=2.10 (notes)"
    }


def test_declaring_is_audited_and_saying_it_twice_changes_nothing(
    http: TestClient, engine: Engine
) -> None:
    first = declare(http, TOGETHER)
    again = declare(http, TOGETHER)
    body = {"name": TOGETHER["name"], "why": "it was wrong", "who": "ann"}
    gone = http.post("/api/v1/compat/constraints/retraction", json=body)

    assert first == again
    assert gone.json() == {"constraints": []}
    assert acts(engine) == [("declare", "ann", "new notes"), ("retract", "ann", "it was wrong")]
    assert http.post("/api/v1/compat/constraints/retraction", json=body).status_code == 404


def acts(engine: Engine) -> list[tuple[str, str, str]]:
    with reading(engine) as session:
        found = audits.of_thing(session, Noun.CONSTRAINT, str(TOGETHER["name"]))
    return [(each.act.value, each.actor, each.reason) for each in found]


@pytest.mark.scene(played=measured)
@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param({"from_stack": OLD.name}, 422, id="no target"),
        pytest.param({"from_stack": "nobody", "to_stack": NEW.name}, 404, id="an unknown stack"),
        pytest.param(
            {"from_stack": OLD.name, "versions": {"xre": "5.37"}}, 422, id="an unknown component"
        ),
    ],
)
def test_a_wrong_question_is_refused(http: TestClient, asked: dict[str, Any], status: int) -> None:
    assert http.post("/api/v1/compat/check", json=asked).status_code == status


@pytest.mark.scene(played=measured)
def test_what_people_ask_about_is_proposed_first_and_within_the_budget(http: TestClient) -> None:
    for _ in range(3):
        check(http, to_stack=ORDERED.name)
    check(http, versions={"torch": "2.10.0"})
    check(http, to_stack=SLOW.name)

    told = get(http, "/compat/plan", budget_s=8 * 3600)
    little = get(http, "/compat/plan", budget_s=int(told["proposals"][0]["seconds"]) + 1)

    names = [each["name"] for each in told["proposals"]]
    assert names == [f"{OLD.name} → {ORDERED.name}", f"{OLD.name} → {OLD.name}+torch=2.10.0"]
    assert "asked 3 times, 2 of 2 cells open" in told["proposals"][0]["why"]
    assert told["proposals"][0]["command"].startswith("kunline run demo --stack")
    assert ([each["name"] for each in little["proposals"]], little["left"]) == (names[:1], 1)


def timed(engine: Engine, job: JobOrder, *, start_up_s: float, load_s: float) -> None:
    """Do a job whose launch and loads took so long, each with an overhead of a second a repeat."""
    told = builders.launch_report(job, launch_id=job.job_id)
    path.tell_launch(engine, told.model_copy(update={"start_up_s": start_up_s}))
    for cell in range(len(job.launch.cells)):
        run = builders.run_report(job, cell=cell, launch_id=job.job_id)
        values = {**run.values, "duration": (load_s,) * len(run.seeds)}
        path.report(engine, run.model_copy(update={"values": values}))
    path.finish(engine, job)


def test_what_is_proposed_takes_the_card_time_that_it_took_before(
    engine: Engine, http: TestClient
) -> None:
    path.submit(engine, dated(builders.session_order(arms=(OLD,) * 2, baseline=None)))
    for start_up_s in (20.0, 24.0):
        timed(engine, path.claimed(engine), start_up_s=start_up_s, load_s=9.0)
    path.submit(engine, builders.session_order(arms=(ORDERED,), baseline=None), "last")
    check(http, to_stack=ORDERED.name)

    (told,) = get(http, "/compat/plan", budget_s=8 * 3600)["proposals"]

    # Two stacks, two launches each as last time: start-up, and three repeats of both cells.
    assert told["assumed"] == 0
    assert told["seconds"] == pytest.approx(2 * 2 * (22 + 2 * 3 * (9 + 1)))


def test_what_nobody_measured_is_planned_with_a_fixed_cost_and_says_so(
    engine: Engine, http: TestClient
) -> None:
    path.do_session(engine, dated(builders.session_order(arms=(OLD,), baseline=None)))
    path.submit(engine, builders.session_order(arms=(ORDERED,), baseline=None), "last")
    check(http, to_stack=ORDERED.name)

    (told,) = get(http, "/compat/plan", budget_s=8 * 3600)["proposals"]

    assert told["assumed"] == 2
    assert told["seconds"] == 2 * 3 * (120 + 2 * 180)
    assert told["said"]["zh"] == (
        f"{OLD.name} → {ORDERED.name}：被询问 1 次，2 个单元中有 2 个尚无结论"
    )
