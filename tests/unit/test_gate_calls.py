"""The patience of a gate: it waits for a service that is away, and not for ever."""

from collections.abc import Iterator

import pytest
import typer

from service.cli.gate_calls import Patience
from service.cli.lengths import seconds_of
from service.client import ServiceAwayError


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
