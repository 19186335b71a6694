"""Why no runner takes a session's launches: what is found of each, and how it is said."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from service.cli.answers.words import Language
from service.cli.claimant_words import CATALOGUES
from service.cli.claimants import nobody_takes
from service.domain.claimant import Needs, Obstacle, Offer, obstacle
from service.domain.job import Capacity
from service.formats.claimants import ClaimantRead, ClaimantsRead

NEEDS = Needs(pool="p800", chip="kunlun", cards=4, host="a01")
CAPACITY = Capacity("r1", "life", "a01", "p800", ("kunlun",), 8, "0.1")
OFFER = Offer(CAPACITY, "active", timedelta(seconds=5), is_open=True)


@pytest.mark.parametrize(
    ("offer", "found"),
    [
        pytest.param(OFFER, None, id="one that fits"),
        pytest.param(
            replace(OFFER, capacity=replace(CAPACITY, host="b01"), state="paused"),
            Obstacle.HOST,
            id="one of another host, whatever else keeps it",
        ),
        pytest.param(
            replace(OFFER, capacity=replace(CAPACITY, chips=("cpu",))), Obstacle.CHIP, id="chip"
        ),
        pytest.param(
            replace(OFFER, capacity=replace(CAPACITY, cards=3)), Obstacle.CARDS, id="few cards"
        ),
        pytest.param(replace(OFFER, state="paused"), Obstacle.PAUSED, id="paused"),
        pytest.param(replace(OFFER, state="draining"), Obstacle.DRAINING, id="draining"),
        pytest.param(replace(OFFER, silent=timedelta(hours=1)), Obstacle.SILENT, id="silent"),
        pytest.param(replace(OFFER, is_open=False), Obstacle.CLOSED, id="window closed"),
    ],
)
def test_what_keeps_a_runner_from_launches_is_named(offer: Offer, found: Obstacle | None) -> None:
    assert obstacle(NEEDS, offer) is found


def claimant(runner: str, keeps: Obstacle | None) -> ClaimantRead:
    return ClaimantRead(
        runner=runner,
        host="b01",
        chips=("kunlun",),
        cards=2,
        obstacle=keeps,
        window="22:00-06:00 Asia/Shanghai",
        seen_at=datetime(2026, 11, 30, 6, 0, tzinfo=UTC),
    )


def asked(*runners: ClaimantRead, host: str | None = None, waits: bool = True) -> ClaimantsRead:
    return ClaimantsRead(
        pool="p800", chip="kunlun", cards=4, host=host, waits=waits, runners=runners
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param(asked(), "no runner of pool p800 is registered", id="nobody"),
        pytest.param(
            asked(claimant("r1", Obstacle.HOST), host="a01"),
            "bound to host a01",
            id="nobody on its host",
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.CARDS)),
            "r1 on b01 has 2 cards, and 4 are asked for",
            id="few cards",
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.PAUSED), claimant("r2", Obstacle.HOST)),
            "is paused: `kunline host resume r1` lets it work",
            id="paused",
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.DRAINING)), "is draining: `kunline host", id="draining"
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.CHIP)), "serves kunlun, and kunlun is", id="chip"
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.CLOSED)),
            "begins jobs at 22:00-06:00 Asia/Shanghai only (KUNLINE_WINDOW)",
            id="window closed",
        ),
        pytest.param(
            asked(claimant("r1", Obstacle.SILENT)),
            "was last heard of at 2026-11-30 06:00 UTC",
            id="silent",
        ),
        pytest.param(
            asked(*(claimant(f"r{number}", Obstacle.PAUSED) for number in range(7))),
            "and 2 more runners, which `kunline host list` shows",
            id="many",
        ),
    ],
)
def test_a_person_is_told_which_runner_is_kept_by_what_and_what_to_do(
    found: ClaimantsRead, said: str
) -> None:
    assert said in (nobody_takes(found) or "")


def test_it_is_told_in_both_languages_with_the_same_values() -> None:
    english, chinese = (CATALOGUES[language] for language in (Language.EN, Language.ZH))

    def values(text: str) -> set[str]:
        return set(re.findall(r"{(\w+)}", text))

    assert {key: values(text) for key, text in english.items()} == {
        key: values(text) for key, text in chinese.items()
    }
    assert set(Obstacle) - {Obstacle.HOST} <= english.keys()
    told = nobody_takes(asked(claimant("r1", Obstacle.DRAINING)), Language.ZH)
    assert told is not None
    assert told.endswith("b01 上的 r1 正在排空：`kunline host resume r1` 可恢复")


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(
            asked(claimant("r1", Obstacle.PAUSED), claimant("r2", None)), id="another will take it"
        ),
        pytest.param(asked(waits=False), id="nothing waits"),
    ],
)
def test_nothing_is_said_where_a_runner_will_come(found: ClaimantsRead) -> None:
    assert nobody_takes(found) is None
