"""Events read well in both languages: one sentence each, and all that one rests on."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from service.cli import events
from service.cli.answers.words import Language
from service.cli.event_words import CATALOGUES
from service.domain.confirm import State
from service.domain.regime import Regime
from service.domain.screen import Answer
from service.domain.verdict import Outcome
from service.formats.events import EventDetail, EventMoved, EventPage, EventPresumed, EventRead
from tests.golden_file import assert_golden

EN, ZH = CATALOGUES[Language.EN], CATALOGUES[Language.ZH]
AT = datetime(2026, 11, 13, 2, 30, tzinfo=UTC)
MOVED = EventMoved(
    condition_key="a" * 64,
    protocol_key="b" * 64,
    title="tiny 1×rank tp1 64→16 concurrency 1",
    metric="tpot_p50",
    host="h1",
    change=0.081,
    evidence=6.1,
    stack_key="d" * 64,
    answer=Answer.SUSPECT,
)
PRESUMED = EventPresumed(
    condition_key="e" * 64,
    protocol_key="b" * 64,
    title="tiny 1×rank tp1 64→16 concurrency 4",
    metric="tpot_p50",
    host="h1",
)
EVENT = EventRead(
    id=UUID(int=1),
    direction="worse",
    host=None,
    hosts=("h1", "h2"),
    trigger="decode",
    metric="tpot_p50",
    change=0.081,
    stack_key="d" * 64,
    stack_name="nightly-13",
    before_stack_key="c" * 64,
    before_stack_name="nightly-12",
    change_at=AT,
    seen_at=AT + timedelta(hours=1),
    seen_stack_key="d" * 64,
    seen_stack_name="nightly-13",
    moved=(MOVED, MOVED.model_copy(update={"metric": "itl_p50", "answer": None})),
    presumed=(PRESUMED,),
)
HOST = EVENT.model_copy(
    update={"host": "h2", "direction": "better", "moved": (), "before_stack_name": None}
)


@pytest.mark.parametrize("language", list(Language))
def test_events_read_well(language: Language, capsys: pytest.CaptureFixture[str]) -> None:
    detail = EventDetail(event=EVENT, run_ids=tuple(UUID(int=each) for each in range(22)))

    events.print_page(EventPage(events=(EVENT, HOST), cursor="n1"), 7, language)
    events.print_page(EventPage(events=(), cursor=None), 1, language)
    events.print_event(detail, language)

    assert_golden(f"events.{language}.txt", capsys.readouterr().out)


def test_both_languages_have_the_same_words_and_fill_in_the_same_values() -> None:
    assert EN.keys() == ZH.keys()
    assert [key for key in EN if _values(EN[key]) != _values(ZH[key])] == []


def test_everything_closed_has_a_word() -> None:
    words = (*Outcome, *Answer, *(each for each in State if each is not State.ENDED))

    assert {f"word {each}" for each in words} <= EN.keys()
    assert {f"trigger {each}" for each in Regime} <= EN.keys()


def _values(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))
