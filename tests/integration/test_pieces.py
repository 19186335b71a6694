"""Answers that are put together of kept pieces are those that are told whole, whatever happened."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.api.pieces import KeptPieces
from service.domain.cell import Cell
from service.formats.orders import JobOrder
from service.formats.sessions import SessionOrder
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder
from service.store import noise, schema
from service.store.database import reading, writing
from service.usecases import whole_answers
from service.usecases.pieces import Pieces
from service.usecases.withdraw_run import restore_run, withdraw_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD, PROTOCOL
from tests.integration.pages import LOCAL, get, pin
from tests.integration.serving import application

BETWEEN = builders.stack("0.5.20")
BUILT = {stack.key: date(2026, 9, number + 1) for number, stack in enumerate((OLD, BETWEEN, NEW))}
UNDER = (builders.condition(), builders.condition(tp=2), builders.condition(concurrency=8))
SERIES = {"condition_key": UNDER[0].key, "protocol_key": PROTOCOL.key, "metric": "ttft_p50"}
BOTH = {"baseline": OLD.key, "candidate": NEW.key}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "rows": ("/matrix", {"stack": [BETWEEN.key, NEW.key]}),
    "cells": ("/comparisons", BOTH),
    "sides": ("/curves", {"stack": [OLD.key, NEW.key], "at_most": "ttft_p50:0.03"}),
    "scaled": ("/scaling", {"stack": NEW.key}),
    "outlined": ("/series/outline", SERIES),
    "screened": ("/series", SERIES),
}
ACTS = ("report", "report", "report", "launch", "finish", "withdraw", "restore", "pin")


@dataclass
class Site:
    """Two hosts that measure one job after the other, and a person who takes runs out."""

    engine: Engine
    draw: random.Random
    jobs: dict[str, tuple[JobOrder, int]] = field(default_factory=dict)
    runs: list[UUID] = field(default_factory=list)
    taken: list[UUID] = field(default_factory=list)
    asked: int = 0

    def report(self) -> None:
        host = self.draw.choice(("h1", "h2"))
        job, cell = self.jobs.get(host) or (self.claimed(host), 0)
        if cell == len(job.launch.cells):
            return
        scale = self.draw.choice((1.0, 1.02, 1.3))
        sent = builders.run_report(job, cell=cell, launch_id=job.job_id, scale=scale)
        path.report(self.engine, sent)
        self.runs.append(sent.run_id)
        self.jobs[host] = job, cell + 1

    def launch(self) -> None:
        for host, (job, _) in self.jobs.items():
            stopped = NOW + timedelta(minutes=self.draw.randrange(9))
            sent = builders.launch_report(job, launch_id=job.job_id)
            update = {"host": host, "stopped_at": stopped}
            path.tell_launch(self.engine, sent.model_copy(update=update))

    def finish(self) -> None:
        for host in sorted(self.jobs):
            path.finish(self.engine, self.jobs.pop(host)[0])

    def withdraw(self) -> None:
        if standing := [run for run in self.runs if run not in self.taken]:
            self.taken.append(self.draw.choice(standing))
            with writing(self.engine) as session:
                order = WithdrawalOrder(reason="wrong card")
                withdraw_run(session, self.taken[-1], order, who="ann", now=NOW)

    def restore(self) -> None:
        if self.taken:
            with writing(self.engine) as session:
                order = RestorationOrder(reason="right card")
                restore_run(session, self.taken.pop(), order, who="ann", now=NOW)

    def pin(self) -> None:
        pin(self.engine, self.draw.choice((OLD, BETWEEN)))

    def claimed(self, host: str) -> JobOrder:
        wanted = builders.claim(f"r-{host}", host=host, pool=host)
        if (job := path.claim(self.engine, wanted)) is not None:
            return job
        self.asked += 1
        path.submit(self.engine, session(self.draw, host), f"session {self.asked}")
        return path.claimed(self.engine, wanted)


def session(draw: random.Random, host: str) -> SessionOrder:
    arms = draw.choice(((OLD, NEW), (NEW, NEW), (BETWEEN, OLD), (OLD, BETWEEN)))
    return dated(builders.session_order(arms=arms, conditions=UNDER, baseline=None, pool=host))


def dated(order: SessionOrder) -> SessionOrder:
    """Return a session whose stacks were built one after the other."""
    stacks = (each.model_copy(update={"built_at": BUILT[each.key]}) for each in order.stacks)
    return order.model_copy(update={"stacks": tuple(stacks)})


@pytest.fixture
def measured(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Measure three stacks in turn; one cell is already very many."""
    monkeypatch.setattr(whole_answers, "CELLS_KEPT", 1)
    order = builders.session_order(arms=(OLD, BETWEEN, NEW) * 2, conditions=UNDER, baseline=None)
    path.do_session(engine, dated(order))
    return engine


def answers(app: FastAPI) -> dict[str, Any]:
    """Return what an application answers."""
    client = TestClient(app, base_url=LOCAL)
    return {name: get(client, address, **asked) for name, (address, asked) in ASKED.items()}


@pytest.mark.parametrize("seed", range(2))
def test_an_answer_of_kept_pieces_is_the_answer_told_whole(
    measured: Engine, tmp_path: Path, seed: int
) -> None:
    site = Site(measured, random.Random(seed))
    keeping = application(measured, tmp_path)

    for turn in range(14):
        getattr(site, site.draw.choice(ACTS))()
        whole = application(measured, tmp_path)
        # No answer in the database was judged by such a release.
        whole.version = f"turn {turn}"

        assert answers(keeping) == answers(whole)


class Counted(Pieces[Any]):
    """Pieces that count how many of them were told."""

    count = 0

    def told(self, names: Sequence[Any], tell: Any) -> list[Any]:
        def counted(missing: Sequence[int]) -> Any:
            self.count += len(missing)
            return tell(missing)

        return super().told(names, counted)


def test_one_more_run_costs_one_piece_of_each_answer(measured: Engine, tmp_path: Path) -> None:
    order = builders.session_order(arms=(NEW,), conditions=UNDER, baseline=None)
    path.submit(measured, order, "two")
    job = path.claimed(measured)
    counted = {name: Counted() for name in ASKED}
    app = application(measured, tmp_path)
    app.state.pieces = KeptPieces(**counted)
    answers(app)
    before = {name: pieces.count for name, pieces in counted.items()}

    path.report(measured, builders.run_report(job, launch_id=job.job_id))
    answers(app)

    told = {name: pieces.count - before[name] for name, pieces in counted.items()}
    assert told == {**dict.fromkeys(ASKED, 1), "screened": 0}
    assert min(before.values()) > 0


def versions(engine: Engine) -> Mapping[tuple[Cell, str], int]:
    with reading(engine) as session:
        return noise.versions(session, [condition.key for condition in UNDER])


def test_the_noise_of_a_session_is_another_version_once_a_run_of_it_is_taken_out(
    measured: Engine, tmp_path: Path
) -> None:
    before = versions(measured)
    with TestClient(application(measured, tmp_path), base_url=LOCAL) as client:
        run_id = UUID(get(client, "/runs", limit=1)["runs"][0]["id"])

    with writing(measured) as session:
        withdraw_run(session, run_id, WithdrawalOrder(reason="wrong"), who="ann", now=NOW)

    assert before == {(Cell(each.key, PROTOCOL.key), "h1"): 1 for each in UNDER}
    assert versions(measured) == dict.fromkeys(before, 2)


def test_what_was_told_of_noise_before_there_were_versions_has_one(measured: Engine) -> None:
    before = versions(measured)
    schema.downgrade(measured, "0015")
    schema.upgrade(measured)

    assert versions(measured) == before
