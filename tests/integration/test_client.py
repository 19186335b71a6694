"""The client, on a real service behind a real socket."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import Engine

from service.client import (
    TRIES,
    Client,
    LeaseLostError,
    RefusedError,
    ServiceAwayError,
    connected,
)
from service.domain.verdict import Outcome
from service.formats.baselines import BaselinePin
from service.formats.orders import Progress, Renewal
from tests.integration import builders
from tests.integration.builders import NEW, OLD
from tests.integration.databases import free_port
from tests.integration.serving import application, served


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> Iterator[Client]:
    with served(application(engine, tmp_path)) as url, connected(url) as opened:
        yield opened


def do_all(client: Client) -> None:
    while (order := client.claim(builders.claim())) is not None:
        client.report_launch(builders.launch_report(order))
        scale = 1.5 if order.stack.key == NEW.key else 1.0
        for cell in range(len(order.launch.cells)):
            assert client.report_run(builders.run_report(order, cell=cell, scale=scale)).stored
        assert client.finish(order.job_id, order.fencing_token).state == "reported"


def test_the_whole_path(client: Client) -> None:
    submitted = client.submit(builders.session_order(), idempotency_key="one")
    do_all(client)

    session = client.session(submitted.id)
    verdicts = client.verdicts(submitted.id)
    page = client.runs(session_id=submitted.id, limit=5)
    pins = client.pin_baseline(BaselinePin(stack_key=OLD.key, why="the release", who="ann"))

    assert session.state == "finished"
    assert client.sessions()[0].id == submitted.id
    assert verdicts.outcome is Outcome.REGRESSED
    assert len(page.runs) == 5
    assert page.cursor is not None
    assert len(client.runs(limit=5, cursor=page.cursor).runs) == 3
    assert client.run(page.runs[0].id).seeds == builders.SEEDS
    assert {pin.id for pin in client.baselines()} == {pin.id for pin in pins}
    assert client.compare(OLD.key, NEW.key).outcome is Outcome.REGRESSED


def test_a_lock_travels_as_an_artefact(client: Client) -> None:
    digest = client.put_artefact(b"torch==2.9.1 --hash=sha256:aa\n")

    assert client.artefact(digest) == b"torch==2.9.1 --hash=sha256:aa\n"


def test_a_sign_of_life_is_answered_and_a_lost_lease_is_told(client: Client) -> None:
    client.submit(builders.session_order(), idempotency_key="one")
    order = client.claim(builders.claim())
    assert order is not None
    progress = Progress(phase="measure", fraction=0.1)

    answer = client.renew(order.job_id, Renewal(fencing_token=1, progress=progress))
    client.claim(builders.claim())

    assert not answer.cancelled
    with pytest.raises(LeaseLostError, match="claimed again"):
        client.renew(order.job_id, Renewal(fencing_token=1))
    with pytest.raises(LeaseLostError):
        client.report_run(builders.run_report(order))


def test_a_runner_is_registered_and_paused(client: Client) -> None:
    client.register_runner(builders.claim())

    paused = client.set_runner_state("r1", "paused")

    assert paused.state == "paused"
    assert client.runners() == (paused,)


def test_a_refusal_is_told_in_the_services_own_words(client: Client) -> None:
    with pytest.raises(RefusedError, match="no run "):
        client.run(uuid4())


def test_a_service_that_is_not_there_is_away_after_bounded_tries() -> None:
    pauses: list[float] = []
    url = f"http://127.0.0.1:{free_port()}"
    with httpx.Client(base_url=url) as http, pytest.raises(ServiceAwayError, match="is away"):
        Client(http, sleep=pauses.append).sessions()

    assert len(pauses) == TRIES - 1


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    http = httpx.Client(base_url="http://localhost", transport=httpx.MockTransport(answer))
    return Client(http, sleep=lambda _: None)


def test_a_passing_failure_is_asked_again() -> None:
    answers = iter([503, 502, 200])
    headers = {"X-Kunline-Version": "0.1.0"}

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(next(answers), json=[], headers=headers)

    assert answering(answer).sessions() == ()


def test_a_service_of_a_release_too_far_away_is_refused_with_both_named() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=[], headers={"X-Kunline-Version": "0.9.0"})

    with pytest.raises(RefusedError, match=r"Kunline 0\.9\.0 and the caller is Kunline 0\.1\.0"):
        answering(answer).sessions()


def test_an_answer_that_names_no_release_is_a_refusal_and_no_crash() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=[], headers={"X-Kunline-Version": "new"})

    with pytest.raises(RefusedError, match="'new' is not a release"):
        answering(answer).sessions()


def test_something_else_that_answers_is_not_taken_for_the_service() -> None:
    with pytest.raises(ServiceAwayError, match="is not Kunline"):
        answering(lambda _: httpx.Response(200, json=[])).sessions()
