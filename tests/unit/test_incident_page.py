"""What an incident says: equal in both languages, whole in golden files, harmless in Markdown."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from service.cli.answers.words import Language
from service.cli.incident_page import (
    incident_page,
    print_incident,
    print_incidents,
    record_page,
)
from service.cli.incident_words import CATALOGUES
from service.domain.attribution import Cause, Level, State
from service.domain.audit import Act, Noun
from service.domain.incident import Direction, Triage
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.attributions import (
    AttributionAnswer,
    AttributionRead,
    ComboRead,
    FollowedRead,
    PartRead,
    StepRead,
)
from service.formats.audits import AuditRead
from service.formats.confirms import ConfirmCounts
from service.formats.incidents import (
    IncidentCellRead,
    IncidentDetail,
    IncidentRead,
    RecordRead,
)
from service.formats.verdicts import VerdictRead
from tests.golden_file import assert_golden
from tests.unit.test_confirm_page import confirm

EN, ZH = CATALOGUES[Language.EN], CATALOGUES[Language.ZH]
AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
BASE = "https://kunline.example/"
# What is done to an incident.
ACTS = (
    Act.OPEN,
    Act.TRIAGE,
    Act.MERGE,
    Act.SPLIT,
    Act.REOPEN,
    Act.VERIFY,
    Act.CONFIRM,
    Act.ATTRIBUTE,
)


def cell(number: int, **more: Any) -> IncidentCellRead:
    shown = IncidentCellRead(
        condition_key=f"{number:064x}",
        protocol_key="b" * 64,
        title=f"tiny 1×rank tp1 64→16 concurrency {number}",
        metric="tpot_p50",
        change=0.081,
        low=None,
        high=None,
        session_id=None,
        run_ids=(UUID(int=100 + number), UUID(int=200 + number)),
    )
    return shown.model_copy(update=more)


def detail(**more: Any) -> IncidentDetail:
    incident = IncidentRead(
        id=UUID(int=7),
        title="decode worse since nightly-13",
        direction=Direction.WORSE,
        is_open=True,
        triage=Triage.OPEN,
        owner=None,
        due=None,
        comment="",
        links=(),
        baseline_stack_key="1" * 64,
        baseline_stack_name="nightly-12",
        candidate_stack_key="2" * 64,
        candidate_stack_name="nightly-13",
        host=None,
        event_id=UUID(int=9),
        opened_at=AT,
        opened_by="ann",
        seen_at=AT - timedelta(hours=2),
        triaged_at=None,
        verified_at=None,
        verified_stack_key=None,
        verified_stack_name=None,
        merged_into=None,
        merged=(),
        cells=(cell(1), cell(2, low=0.062, high=0.1, session_id=UUID(int=5))),
    )
    return IncidentDetail(
        incident=incident.model_copy(update=more), history=(act(Act.OPEN, 0, "measured by hand"),)
    )


def act(done: Act, hour: int, why: str) -> AuditRead:
    return AuditRead(
        at=AT + timedelta(hours=hour),
        actor="ann",
        act=done,
        noun=Noun.INCIDENT,
        noun_id=str(UUID(int=7)),
        reason=why,
        before=None,
        after=None,
    )


def fixed() -> IncidentDetail:
    found = detail(
        is_open=False,
        triage=Triage.FIX,
        owner="bob",
        due=date(2026, 11, 20),
        comment="the new scheduler\nwaits for the copy",
        links=("https://issues.example/1",),
        verified_at=AT + timedelta(days=3),
        verified_stack_key="3" * 64,
        verified_stack_name="nightly-16",
        merged=(UUID(int=8),),
    )
    history = (
        act(Act.OPEN, 0, f"confirm {UUID(int=3)} says regressed"),
        act(Act.TRIAGE, 1, "to be fixed"),
        act(
            Act.VERIFY,
            72,
            f"every metric listed is back inside the baseline in session {UUID(int=4)}",
        ),
    )
    return found.model_copy(update={"history": history})


def verdict(worsening: float) -> VerdictRead:
    return VerdictRead(
        metric="tpot_p50",
        outcome=Outcome.REGRESSED if worsening > 0.03 else Outcome.UNCHANGED,
        worsening=worsening,
        low=worsening - 0.01,
        high=worsening + 0.01,
        tolerance=0.03,
        smallest_detectable=0.034,
        reason="",
        warnings=(),
    )


def combo(*at_bad: str, level: Level, worsening: float | None = None) -> ComboRead:
    return ComboRead(
        at_bad=at_bad,
        candidates=("sglang", "XPU_A"),
        stack_key="4" * 64,
        stack_name="nightly-12+mixed",
        level=level,
        verdict=None if worsening is None else verdict(worsening),
        broken="broken at plugin: no hook" if worsening is None else None,
        session_id=UUID(int=11),
        cached=False,
    )


CULPRIT = StepRead(
    parts=(PartRead(name="XPU_A", good="(absent)", bad="1", scope=SwapScope.PROCESS),)
)
ATTRIBUTED = AttributionRead(
    id=UUID(int=10),
    incident_id=UUID(int=7),
    good_stack_key="1" * 64,
    bad_stack_key="2" * 64,
    state=State.ENDED,
    started_at=AT,
    started_by="ann",
    changed_at=AT + timedelta(hours=2),
    budget_card_s=None,
    launches=16,
    card_s=5400.0,
    answer=AttributionAnswer(
        plan="nightly",
        good="nightly-12",
        bad="nightly-13",
        outcome=Outcome.REGRESSED,
        steps=(CULPRIT, CULPRIT),
        most_combos=2,
        followed=FollowedRead(
            condition_key=f"{1:064x}",
            title="tiny 1×rank tp1 64→16 concurrency 1",
            verdict=verdict(0.081),
            session_id=UUID(int=5),
            cached=True,
            explained=("attention backend: fa3 → triton, not asked for",),
        ),
        combos=(
            combo("sglang", level=Level.BROKEN),
            combo("XPU_A", level=Level.BAD, worsening=0.079),
        ),
        cause=Cause.SINGLE,
        found=(CULPRIT,),
        reason="",
    ),
)
SHOWN: Mapping[str, IncidentDetail] = {
    "open": detail(),
    "fixed": fixed(),
    "accepted": detail(is_open=False, triage=Triage.ACCEPT, direction=Direction.BETTER),
    "merged": detail(is_open=False, merged_into=UUID(int=6)),
    "host": detail(is_open=False, triage=Triage.HOST, host="h1"),
}


def test_both_languages_have_the_same_words_and_fill_in_the_same_names() -> None:
    assert EN.keys() == ZH.keys()
    assert [
        key
        for key, words in EN.items()
        if set(re.findall(r"\{(\w+)", words)) != set(re.findall(r"\{(\w+)", ZH[key]))
    ] == []


def test_everything_closed_has_a_word() -> None:
    for words in (EN, ZH):
        assert {f"triage {each}" for each in Triage} <= words.keys()
        assert {f"state {each}" for each in Triage} <= words.keys()
        assert {f"title {each}" for each in Direction} <= words.keys()
        assert {f"act {each}" for each in ACTS} <= words.keys()


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("name", SHOWN)
def test_an_incident_reads_well(name: str, language: Language) -> None:
    page = incident_page(SHOWN[name], language, base=BASE)

    assert_golden(f"incident_{name}.{language}.md", page)


@pytest.mark.parametrize("language", list(Language))
def test_incidents_are_listed_in_a_line_each(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    print_incidents([each.incident for each in SHOWN.values()], language)
    print_incidents((), language)

    assert_golden(f"incident_list.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_an_incident_is_shown_in_a_terminal(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    print_incident(fixed(), language)

    assert_golden(f"incident_show.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_an_incident_is_shown_with_its_confirm_and_its_cause(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    found = detail()
    searched = act(Act.ATTRIBUTE, 2, "searched between nightly-12 and nightly-13")
    told = {
        "confirms": (confirm(),),
        "attributions": (ATTRIBUTED,),
        "history": (*found.history, searched),
    }

    print_incident(found.model_copy(update=told), language)

    assert_golden(f"incident_attributed.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_what_was_answered_is_shown_as_it_stands_now(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = detail(triage=Triage.FIX, owner="bob", due=date(2026, 11, 20))
    print_incidents((answered.incident,), language)

    assert_golden(f"incident_triage.{language}.txt", capsys.readouterr().out)


def test_every_number_links_to_its_runs() -> None:
    page = incident_page(detail(), Language.EN, base=BASE)

    for listed in detail().incident.cells:
        for run_id in listed.run_ids:
            assert f"(https://kunline.example/runs/{run_id})" in page


def test_what_people_wrote_stays_text() -> None:
    wild = "| <b>x</b> [a](b) @all ```"
    page = incident_page(detail(title=wild, comment=wild, owner=wild), Language.EN, base=BASE)

    outside, _, rest = page.partition("````text")
    comment, _, behind = rest.partition("````")
    assert wild in comment
    assert "<b>" not in outside + behind
    assert "@all" not in outside + behind


@pytest.mark.parametrize("language", list(Language))
def test_the_record_reads_well(language: Language) -> None:
    full = RecordRead(
        opened=12,
        answered=8,
        noise=1,
        false_alarm_rate=0.125,
        to_verdict_s=5400.0,
        to_triage_s=36000.0,
        confirms=ConfirmCounts(regressed=3, unchanged=1),
        screen_false_alarm_rate=0.25,
    )
    empty = RecordRead(
        opened=0,
        answered=0,
        noise=0,
        false_alarm_rate=None,
        to_verdict_s=None,
        to_triage_s=None,
    )

    told = f"{record_page(full, language)}\n\n{record_page(empty, language)}\n"
    assert_golden(f"incident_record.{language}.txt", told)
