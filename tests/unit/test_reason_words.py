"""Reasons in Chinese: every sentence that the service writes is known, and others' text is kept."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.cli.between import BudgetSpentError
from service.domain.answer import Quality, Shift
from service.domain.baseline import Rule
from service.domain.confirm import Cost, OverBudgetError
from service.domain.experiment import Parameter, Seen, recommended
from service.domain.tail import withheld
from service.domain.verdict import REASONS, Outcome
from service.domain.withdrawal import Withdrawal
from service.formats.reason_words import CLOSED, EN, LONGEST, WORDS_ZH, ZH, in_chinese
from service.stats.change import (
    LAUNCH_LUCK_UNSEEN,
    NO_SPREAD_SEEN,
    UNEQUAL_REPEATS,
    TooFewValuesError,
    ValueNotPositiveError,
)
from service.stats.expected_change import LUCK_FROM_HISTORY
from service.usecases import advance_confirm, confirm_look, cross_confirm, judge_squares, sides
from service.usecases import tend_confirms as tend

AT = datetime(2026, 11, 17, 13, 0, tzinfo=UTC)
RULE = Rule(UUID(int=1), "release", "p800-*", "what we deliver", "ann", AT)
SEEN = Seen("chat", {"tpot_p50": Outcome.IMPROVED}, {})
# Everything that is written elsewhere as a constant or by a function without a database.
WRITTEN = (
    *REASONS.values(),
    *advance_confirm.WORDS.values(),
    LAUNCH_LUCK_UNSEEN,
    NO_SPREAD_SEEN,
    UNEQUAL_REPEATS,
    LUCK_FROM_HISTORY,
    confirm_look.ONE_LAUNCH,
    confirm_look.ABSENT.reason,
    cross_confirm.HOW.format(baseline="a", candidate="b"),
    cross_confirm.TOLD.format(id="1"),
    judge_squares.NO_BASELINE,
    sides.NO_HOST,
    sides.NOT_INTERLEAVED,
    tend.WHY,
    str(TooFewValuesError(1, 1)),
    str(ValueNotPositiveError(-1.0)),
    str(OverBudgetError(Cost(4, 1200.0), Cost(2, 60.0))),
    str(BudgetSpentError("a and b", 4, card_s=7200.0, left_s=60.0)),
    *withheld({"ttft_p99": 1.0}, 20).values(),
    *withheld({"ttft_p99": 1.0}, None).values(),
    *Quality(Shift(0.2, 0.1), Shift(0.2, 0.1), 8).warnings,
    f"run {UUID(int=1)}, {Withdrawal(UUID(int=1), AT, 'ann', 'wrong driver', None).sentence}",
    RULE.actor,
    RULE.reason,
    recommended(Parameter("A_B", ("1", "2")), {}, metric="tpot_p50").reason,
)


def test_both_languages_have_the_same_sentences_and_fill_in_the_same_values() -> None:
    assert EN.keys() == ZH.keys()
    assert [code for code in EN if _names(EN[code]) != _names(ZH[code])] == []


@pytest.mark.parametrize("code", EN)
def test_each_sentence_is_recognised_as_itself(code: str) -> None:
    values = {name: _example(name) for name in _names(EN[code])}
    shown = {
        name: WORDS_ZH[name].get(value, value) if name in WORDS_ZH else value
        for name, value in values.items()
    }

    assert in_chinese(EN[code].format_map(values)) == ZH[code].format_map(shown)


@pytest.mark.parametrize("sentence", WRITTEN)
def test_what_the_service_writes_is_known(sentence: str) -> None:
    assert re.search("[一-鿿]", in_chinese(sentence)), sentence


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        pytest.param(
            "baseline: broken at server: killed; it died; candidate: broken at plugin: no hook",
            "基线：停在服务层：killed; it died；候选：停在插件层：no hook",
            id="two sides, and a finding with a semicolon",
        ),
        pytest.param(
            "candidate: 1 of 2 runs not judged: stack drift: a: 1 ≠ 2; b: 3 ≠ 4",
            "候选：2 次运行中有 1 次未参与判定：版本漂移：a: 1 ≠ 2; b: 3 ≠ 4",
            id="a sentence in a sentence in a sentence",
        ),
        pytest.param(
            "insufficient baseline: tpot_p50: the baseline has 2 repeats and needs 5; "
            "ttft_p50: the candidate has no value",
            "基线不足：tpot_p50：基线只有 2 次重复，需要 5 次；ttft_p50：候选没有测量值",
            id="metric by metric",
        ),
        pytest.param(
            "too many launches were lost or spoiled: lost; broken at server: no port",
            "丢失或作废的启动过多：失联；停在服务层：no port",
            id="states of jobs",
        ),
        pytest.param(
            "candidate: not measured yet: its job is queued, claimed",
            "候选：尚未测量：作业排队中、进行中",
            id="a list of words",
        ),
    ],
)
def test_sentences_are_told_apart(english: str, chinese: str) -> None:
    assert in_chinese(english) == chinese


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the new scheduler",
        "note: keep it; ask ann",
        "https://issues.example/1",
        "所有人都知道",
        "baseline " * LONGEST,
    ],
)
def test_what_others_wrote_stays_as_it_is(text: str) -> None:
    assert in_chinese(text) == text


def _names(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))


def _example(name: str) -> str:
    return min(CLOSED[name]) if name in CLOSED else "7"
