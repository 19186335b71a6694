"""Reasons and refusals in Chinese: what the service writes is known, and others' text is kept."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import pytest

from runners.benchmarks.profile import NO_DEVICE
from service.cli.between import BudgetSpentError
from service.domain.answer import Quality, Shift
from service.domain.assumption import OverruledError
from service.domain.attribution import NothingDiffersError
from service.domain.baseline import Move, MoveKind, Rule
from service.domain.cell import Cell
from service.domain.confirm import Cost, OverBudgetError
from service.domain.experiment import ExperimentError, Parameter, Seen, one_parameter, recommended
from service.domain.gates import check
from service.domain.incident import (
    Direction,
    Incident,
    IncidentStateError,
    require_mergeable,
    require_splittable,
)
from service.domain.metric import UnknownMetricError
from service.domain.tail import withheld
from service.domain.told import NoReadingsError
from service.domain.validity import Gate, RunFacts, failure, unknown
from service.domain.verdict import REASONS, Outcome
from service.domain.withdrawal import Withdrawal
from service.formats import gate_words, progress_words, refusal_words
from service.formats.matrix_files import Shelf, UnknownFileError
from service.formats.parameters import require_documented
from service.formats.reason_words import CLOSED, EN, WORDS_ZH, ZH
from service.formats.reasons import (
    LONGEST,
    in_chinese,
    progress_in_chinese,
    refusal_in_chinese,
)
from service.stats.change import (
    LAUNCH_LUCK_UNSEEN,
    NO_SPREAD_SEEN,
    UNEQUAL_REPEATS,
    TooFewValuesError,
    ValueNotPositiveError,
)
from service.stats.expected_change import LUCK_FROM_HISTORY
from service.stats.interval import Interval
from service.store.baseline_moves import UnknownMoveError
from service.store.baseline_rules import UnknownRuleError
from service.store.confirms import UnknownConfirmError
from service.store.events import UnknownEventError
from service.store.incidents import UnknownIncidentError
from service.store.stacks import UnknownStackError
from service.usecases import (
    advance_confirm,
    confirm_look,
    cross_confirm,
    judge_squares,
    paired_seeds,
    read_communication,
    read_profiles,
    sides,
)
from service.usecases import tend_confirms as tend
from service.usecases.admit import TokenMissingError, TokenRefusedError
from service.usecases.compare_stored import NothingMeasuredError, UnlikeKindsError
from service.usecases.keep_rule import RuleTakenError
from service.usecases.move_baseline import FrozenBaselineError
from service.usecases.order_profile import NothingToProfileError
from service.usecases.pin_baseline import NothingToPinError
from service.usecases.triage_incident import EventNotComparableError
from service.usecases.undo_move import MovedOnError

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
    paired_seeds.NO_SEED_SHARED,
    read_communication.NOT_SEEN,
    read_communication.NOT_TP,
    read_communication.ONE_CARD,
    read_profiles.NOT_READ,
    NO_DEVICE,
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

OPEN = Incident(
    UUID(int=1), "decode worse since a", Direction.WORSE, "a" * 64, "b" * 64, AT, "ann", AT
)
MOVE = Move(UUID(int=1), "main", MoveKind.PIN, AT, "ann", "it passed")
CELLS = (Cell("a" * 64, "b" * 64),)
REFUSED = (
    TokenMissingError(),
    TokenRefusedError(),
    FrozenBaselineError(OPEN),
    MovedOnError(MOVE, 2),
    NothingToPinError("p800-1.5"),
    RuleTakenError(RULE),
    UnknownMoveError(UUID(int=1)),
    UnknownRuleError(UUID(int=1)),
    UnknownEventError(UUID(int=1)),
    UnknownIncidentError(UUID(int=1)),
    UnknownConfirmError(UUID(int=1)),
    EventNotComparableError(UUID(int=1)),
    NothingToProfileError(UUID(int=1)),
    UnlikeKindsError(),
    NothingMeasuredError("p800-1.5"),
    UnknownStackError("p800"),
    UnknownStackError("p800", found=["a" * 64, "b" * 64]),
    NoReadingsError("candidate"),
    OverruledError("tp", 2, 1, "baseline"),
    NothingDiffersError(),
    UnknownMetricError("ttft_p51"),
    UnknownMetricError("speed"),
)
# Repeats in which every gate finds something.
BAD = (
    RunFacts(requests_completed=0, cards_leased=("0", "1"), cold=True, cache_flushed=False),
    RunFacts(
        requests_completed=9, requests_asked=10, input_tokens=8, input_lengths=(9, 10),
        output_tokens=100, output_lengths=(9, 10), retokenised=50, server_output_tokens=90,
        ttft_p50=0.0, tpot_p50=0.1, itl_p50=0.4, tpot_mean=0.1, itl_mean=0.4,
        not_finite=("e2e_p50", "a", "b", "c"),
        at_odds=("a 2 s against b 1 s", "c 2 s against d 1 s"),
        part_of_a_result=True, all_zero=True, cold=True, cache_flushed=True, cache_hit=0.4,
        concurrency=2.0, concurrency_asked=8, duration_s=3.0, client_cpu_share=0.97,
        server_errors=2, retractions=1, refusals=("fragmentation", "plain shortage"),
        graphs_asked=True, eager_decodes=3, kv_capacity=10, kv_needed=20, kv_capacity_before=30,
        cards_leased=("0", "1"), cards_used=("0",), strangers=("pid 7",), card_clock_share=0.8,
        card_temperature_c=91.0, card_temperature_limit_c=90.0, card_busy=(0.2, 0.9),
        clock_drift_s=2.0,
    ),
    RunFacts(
        duration_s=3600.0, throughput_growth=Interval(-0.2, -0.1, -0.05), retokenised=0,
        card_memory_growth=Interval(0.02, 0.05, 0.08), cards_leased=("0",), card_memory_before=0.5,
        card_temperature_c=91.0, output_tokens=100, tpot_p50=0.4, itl_p50=0.1, requests_asked=4,
    ),
)  # fmt: skip
CATALOGUES = (
    (EN, ZH),
    (refusal_words.EN, refusal_words.ZH),
    (progress_words.EN, progress_words.ZH),
    (gate_words.SEEN_EN, gate_words.SEEN_ZH),
)


@pytest.mark.parametrize(
    ("english", "chinese"), CATALOGUES, ids=["reasons", "refusals", "progress", "gates"]
)
def test_both_languages_have_the_same_sentences_and_fill_in_the_same_values(
    english: Mapping[str, str], chinese: Mapping[str, str]
) -> None:
    assert english.keys() == chinese.keys()
    assert [code for code in english if _names(english[code]) != _names(chinese[code])] == []


def test_each_gate_has_its_sentence() -> None:
    assert set(gate_words.MUST) == set(Gate)


@pytest.mark.parametrize("gate", Gate)
def test_what_a_gate_finds_is_told_with_what_was_observed_and_required(gate: Gate) -> None:
    failed = failure(gate, observed="48 completed", required="at least 96").message

    must = gate_words.MUST[gate]
    assert in_chinese(failed) == f"{must}（实际：完成 48 个；要求：至少 96）"
    assert in_chinese(f"{failed}: OOM; see log") == f"{in_chinese(failed)}：OOM; see log"
    assert in_chinese(unknown(gate).message) == f"无法确认是否满足：{must}"


@pytest.mark.parametrize("facts", BAD, ids=["nothing completed", "all at once", "a long load"])
def test_no_word_of_a_gate_is_left_in_english(facts: RunFacts) -> None:
    found = [each.message for each in check(facts)]

    left = [each for each in map(in_chinese, found) if _english(each)]
    assert found
    assert left == []


@pytest.mark.parametrize("error", REFUSED, ids=lambda error: type(error).__name__)
def test_what_is_refused_is_known_to_its_last_sentence(error: Exception) -> None:
    told = refusal_in_chinese(str(error.args[0])).split("；")

    assert [each for each in told if not re.search("[一-鿿]", each)] == []


def test_each_refusal_of_an_experiment_a_merge_and_a_wrong_name_is_known() -> None:
    better = replace(OPEN, id=UUID(int=2), direction=Direction.BETTER)
    merged = replace(OPEN, id=UUID(int=2), merged_into=UUID(int=3))
    settings = [[], ["A=1,2", "B=1"], ["A=1"], ["A=1,1"], [f"A={','.join('123456789')}"]]
    asked: list[Callable[[], object]] = [
        *(partial(one_parameter, each) for each in settings),
        partial(require_documented, "BKCL_TREE_TRESHOLD"),
        partial(Shelf("stack", {}, {}).named, "p800"),
        *(partial(require_mergeable, OPEN, each) for each in (OPEN, better, merged)),
        *(partial(require_splittable, CELLS, each) for each in ((), CELLS)),
    ]

    told = [refusal_in_chinese(_refused(each)) for each in asked]

    assert [each for each in told if not re.match("[^a-z]*[一-鿿]", each)] == []


def test_what_a_person_writes_is_not_taken_for_a_refusal() -> None:
    assert in_chinese("no incident today") == "no incident today"
    assert refusal_in_chinese("no incident 7") == "没有事件 7"


@pytest.mark.parametrize("code", progress_words.EN)
def test_each_step_of_a_runner_is_known(code: str) -> None:
    values = {name: _example(name) for name in _names(progress_words.EN[code])}

    told = progress_in_chinese(progress_words.EN[code].format_map(values))

    assert told == progress_words.ZH[code].format_map(_shown(values))


def test_a_line_of_a_console_stays_as_it_is() -> None:
    assert progress_in_chinese("Collecting torch==2.11.0") == "Collecting torch==2.11.0"


@pytest.mark.parametrize("code", EN)
def test_each_sentence_is_recognised_as_itself(code: str) -> None:
    values = {name: _example(name) for name in _names(EN[code])}

    assert in_chinese(EN[code].format_map(values)) == ZH[code].format_map(_shown(values))


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


def _shown(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: WORDS_ZH[name].get(value, value) if name in WORDS_ZH else value
        for name, value in values.items()
    }


def _english(told: str) -> list[str]:
    """Return the words of ours that are left; names of metrics and of tokens are written so."""
    return [
        word for word in re.findall(r"[a-z]{2,}", told) if word not in {"token", "decode", "pid"}
    ]


def _refused(call: Callable[[], object]) -> str:
    try:
        call()
    except (ExperimentError, IncidentStateError, UnknownFileError) as error:
        return str(error.args[0])
    return "it was let pass"
