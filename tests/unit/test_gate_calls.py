"""The patience of a gate: it waits for a service that is away, and not for ever."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
import typer

from service.cli import gate_calls
from service.cli.answers.words import Language
from service.cli.gate_calls import Patience, Watch
from service.cli.lengths import seconds_of
from service.client import Client, RefusedError, ServiceAwayError
from service.domain.claimant import Obstacle
from service.formats.ci_gates import GateRead
from service.formats.claimants import ClaimantRead, ClaimantsRead
from service.formats.problems import Problem
from service.formats.sessions import SessionRead
from tests.gate_answers import passes


class Clock:
    """Time that passes only while somebody sleeps, or a call lasts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def patience(self, limit_s: float) -> Patience:
        return Patience(limit_s, sleep=self.sleep, clock=lambda: self.now)


def test_a_service_that_comes_back_answers_as_if_it_had_never_been_away() -> None:
    clock = Clock()
    tries: Iterator[str | None] = iter([None, None, None, "answer"])

    assert clock.patience(60).through(lambda: away_unless(next(tries))) == "answer"
    assert clock.slept == [1, 2, 4]


def test_a_service_that_stays_away_is_given_up_in_its_own_words() -> None:
    clock = Clock()

    with pytest.raises(ServiceAwayError, match="away"):
        clock.patience(60).through(lambda: away_unless(None))
    assert 60 <= clock.now < 100


def test_a_call_that_lasted_has_its_whole_patience_again() -> None:
    clock = Clock()
    tries = iter(range(6))

    def lasting() -> str:
        clock.now += 50
        return away_unless("answer" if next(tries) == 5 else None)

    assert clock.patience(10).through(lasting) == "answer"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("45s", 45), ("20m", 1200), ("1.5h", 5400), ("7d", 604800)]
)
def test_lengths_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5m", "1w", "m", "1e3"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        seconds_of(text)


def away_unless(answer: str | None) -> str:
    if answer is None:
        raise ServiceAwayError("the service is away")
    return answer


class Telling(Client):
    """A service that says what keeps its one runner, a word a question."""

    def __init__(self, *keeps: Obstacle | None) -> None:
        self._keeps = iter(keeps)

    def ask(self, *_: Any, **__: Any) -> Any:
        runner = ClaimantRead(
            runner="r1",
            host="h1",
            chips=("cpu",),
            cards=1,
            obstacle=next(self._keeps),
            window=None,
            seen_at=datetime(2026, 11, 30, tzinfo=UTC),
        )
        return ClaimantsRead(
            pool="local", chip="cpu", cards=1, host=None, waits=True, runners=(runner,)
        )


class Older(Client):
    """A service that does not know the question."""

    def __init__(self) -> None:
        super().__init__(httpx.Client())

    def ask(self, *_: Any, **__: Any) -> Any:
        raise RefusedError(Problem(type="about:blank", title="no such page", status=404))


def waited_for() -> GateRead:
    session = SessionRead(
        id=UUID(int=1),
        plan="pr",
        pool="local",
        state="queued",
        host=None,
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
        finished_at=None,
        baseline_stack_key=None,
        jobs=(),
    )
    return GateRead(id=UUID(int=2), session=session, answer=passes())


def test_while_it_waits_a_gate_says_each_reason_why_nobody_comes_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    told = Telling(Obstacle.PAUSED, Obstacle.PAUSED, None, Obstacle.DRAINING)
    watch = Watch(told, waited_for(), clock.patience(60), Language.EN)

    for _ in range(7):
        watch.look()
        clock.now += gate_calls.WATCH_S / 2

    said = capsys.readouterr().err
    assert (said.count("is paused"), said.count("is draining")) == (1, 1)


def test_a_service_that_is_older_than_a_question_is_asked_without_it() -> None:
    assert gate_calls.nobody_yet(Older(), waited_for(), Language.EN) is None
    assert gate_calls.costs(Older(), ["a" * 64]) == {}
