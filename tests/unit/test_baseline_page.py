"""Baselines, their moves and rules as a person reads them: whole, in both languages."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from service.cli.answers.words import Language
from service.cli.baseline_page import CELLS_SHOWN, print_baselines, print_moves, print_rules
from service.cli.baseline_words import CATALOGUES
from service.domain.baseline import MoveKind
from service.formats.baselines import BaselineRead, MovedCell, MoveRead, RuleRead
from tests.golden_file import assert_golden

AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
PINNED = BaselineRead(
    id=UUID(int=1),
    channel="main",
    condition_key="a" * 64,
    protocol_key="b" * 64,
    title="tiny tp1 64→16 c1",
    stack_key="c" * 64,
    stack_name="p800-1.4.0",
    pinned_at=AT,
    pinned_by="ann",
    why="it passed acceptance",
    replaced_at=None,
    runs=4,
)
REPLACED = PINNED.model_copy(
    update={
        "stack_name": "p800-1.3.0",
        "stack_key": "d" * 64,
        "pinned_by": "policy: first accepted run of main",
        "why": "the first accepted run of p800-*, by the rule of bob: what we deliver",
        "replaced_at": AT,
        "runs": 2,
        "withdrawn_runs": 1,
    }
)
CELL = MovedCell(
    condition_key="a" * 64,
    protocol_key="b" * 64,
    title="tiny tp1 64→16 c1",
    from_stack_key=None,
    from_stack_name=None,
    to_stack_key="c" * 64,
    to_stack_name="p800-1.4.0",
)


def move(number: int, kind: MoveKind, why: str, **more: object) -> MoveRead:
    made = MoveRead(
        id=UUID(int=number),
        channel="main",
        kind=kind,
        made_at=AT + timedelta(days=number),
        made_by="ann",
        why=why,
        release=None,
        incident_id=None,
        rule_id=None,
        undoes=None,
        undone_by=None,
        cells=(CELL,),
    )
    return made.model_copy(update=more)


MOVES = (
    move(5, MoveKind.UNDO, "pinned the wrong build", undoes=UUID(int=4)),
    move(4, MoveKind.PIN, "it passed acceptance", undone_by=UUID(int=5)),
    move(
        3, MoveKind.ACCEPT, f"incident {UUID(int=9)} accepted: its price", incident_id=UUID(int=9)
    ),
    move(2, MoveKind.RELEASE, "delivered", release="2026.11"),
    move(1, MoveKind.POLICY, REPLACED.why, made_by=REPLACED.pinned_by),
)
RULES = (
    RuleRead(
        id=UUID(int=1),
        channel="release",
        stacks="p800-*",
        why="what we deliver",
        made_by="bob",
        made_at=AT,
        ended_at=None,
        pins=12,
    ),
)


def test_both_languages_have_the_same_words_and_fill_in_the_same_names() -> None:
    english, chinese = CATALOGUES[Language.EN], CATALOGUES[Language.ZH]
    assert english.keys() == chinese.keys()
    assert [
        key
        for key, words in english.items()
        if set(re.findall(r"\{(\w+)", words)) != set(re.findall(r"\{(\w+)", chinese[key]))
    ] == []


def test_every_kind_of_move_has_a_word() -> None:
    for words in CATALOGUES.values():
        assert {f"kind {each}" for each in MoveKind} <= words.keys()


@pytest.mark.parametrize("language", list(Language))
def test_what_was_pinned_reads_well(language: Language, capsys: pytest.CaptureFixture[str]) -> None:
    print_baselines((PINNED,), language)
    assert_golden(f"baseline_pin.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_what_is_and_was_in_force_reads_well(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    print_baselines((PINNED, REPLACED), language)
    print_baselines((), language)
    assert_golden(f"baseline_show.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_moves_and_rules_read_well(language: Language, capsys: pytest.CaptureFixture[str]) -> None:
    print_moves(MOVES, language)
    print_moves((), language)
    print_rules(RULES, language)
    print_rules((), language)
    assert_golden(f"baseline_history.{language}.txt", capsys.readouterr().out)


def test_of_many_cells_some_are_listed_and_the_others_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_moves([move(1, MoveKind.PIN, "x", cells=(CELL,) * (CELLS_SHOWN + 2))], Language.EN)

    shown = capsys.readouterr().out
    assert shown.count(CELL.title) == CELLS_SHOWN
    assert "and 2 cells more" in shown
