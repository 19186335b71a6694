"""A confirm as a person reads it: the same facts in both languages."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.cli.answers.words import Language
from service.cli.confirm import exit_code
from service.cli.confirm_page import budget_page, confirm_page
from service.cli.confirm_words import CATALOGUES
from service.domain.confirm import CONFIDENCE, SAID, Ending, State
from service.domain.incident import Direction
from service.domain.verdict import Outcome
from service.formats.confirms import BudgetRead, ConfirmCell, ConfirmLook, ConfirmRead, CostRead
from service.formats.verdicts import VerdictRead
from tests.golden_file import assert_golden

AT = datetime(2026, 11, 17, 13, 0, tzinfo=UTC)
VERDICT = VerdictRead(
    metric="tpot_p50",
    outcome=Outcome.REGRESSED,
    worsening=0.084,
    low=0.051,
    high=0.118,
    tolerance=0.03,
    smallest_detectable=0.034,
    reason="the whole interval is worse",
    warnings=(),
)
WIDE = VERDICT.model_copy(update={"outcome": Outcome.INCONCLUSIVE, "low": -0.012})


def confirm(
    *,
    state: State = State.ENDED,
    outcome: Outcome | None = Outcome.REGRESSED,
    by: Ending | None = Ending.LOOK,
    verdict: VerdictRead | None = VERDICT,
    interleaved: bool = True,
) -> ConfirmRead:
    cell = ConfirmCell(
        condition_key="a" * 64,
        protocol_key="b" * 64,
        title="qwen3-4b 1×P800 tp1 1024→512 concurrency 8",
        metric="tpot_p50",
        evidence=6.1,
        suspected=0.092,
        verdict=verdict,
        baseline_launches=2 if verdict else 0,
        candidate_launches=2 if verdict else 0,
    )
    return ConfirmRead(
        id=UUID(int=1),
        event_id=UUID(int=2),
        incident_id=UUID(int=3) if outcome is Outcome.REGRESSED else None,
        session_id=UUID(int=4) if interleaved else None,
        host="h1",
        direction=Direction.WORSE,
        baseline_stack_key="c" * 64,
        baseline_stack_name="p800-1.4.0",
        candidate_stack_key="d" * 64,
        candidate_stack_name="p800-1.5.0",
        state=state,
        outcome=outcome,
        ended_by=by,
        reason="over budget: the first look needs 4 launches and 1200 card-seconds, and 2 and 60 "
        "are left tonight: raise the budget, or wait",
        interleaved=interleaved,
        counts=(2, 4, 6),
        burn_in=1,
        confidence=CONFIDENCE,
        planned=CostRead(launches=14, card_s=17640.0),
        spent=CostRead(launches=6, card_s=7560.0),
        limit=CostRead(launches=14, card_s=21600.0),
        looks=(ConfirmLook(launches=2, at=AT, confidence=0.999, outcome=outcome, cells=(cell,)),),
        cells=(cell,),
        asked_by="kunline",
        asked_at=AT,
        why="the screen suspects a change",
        started_at=AT,
        ended_at=AT if outcome else None,
    )


@pytest.mark.parametrize("language", list(Language))
def test_the_page_of_a_confirm_reads_well(language: Language) -> None:
    pages = [
        confirm_page(confirm(), language),
        confirm_page(confirm(state=State.RUNNING, outcome=None, by=None, verdict=None), language),
        confirm_page(confirm(outcome=Outcome.INCONCLUSIVE, verdict=WIDE), language),
        confirm_page(
            confirm(outcome=Outcome.INCONCLUSIVE, by=Ending.BUDGET, verdict=WIDE), language
        ),
        confirm_page(confirm(by=Ending.NOT_INTERLEAVED, interleaved=False), language),
    ]

    assert_golden(f"confirm-{language}.txt", "\n\n".join(pages) + "\n")


@pytest.mark.parametrize("automatic", [True, False], ids=["by itself", "when asked"])
@pytest.mark.parametrize("language", list(Language))
def test_a_budget_names_what_is_left(language: Language, *, automatic: bool) -> None:
    night = CostRead(launches=48, card_s=57600.0)
    found = BudgetRead(
        automatic=automatic,
        night=night,
        each=CostRead(launches=14, card_s=21600.0),
        spent=CostRead(launches=6, card_s=7200.0),
        left=CostRead(launches=42, card_s=50400.0),
    )

    page = budget_page(found, language)

    assert "42" in page
    assert "14.00" in page


def test_both_catalogues_have_the_same_words() -> None:
    assert CATALOGUES[Language.EN].keys() == CATALOGUES[Language.ZH].keys()


@pytest.mark.parametrize("language", list(Language))
def test_every_end_and_every_word_has_its_own(language: Language) -> None:
    words = CATALOGUES[language]

    assert {f"by {each}" for each in Ending if each is not Ending.LOOK} <= words.keys()
    assert {f"look {each}" for each in SAID} <= words.keys()
    assert {str(each) for each in Outcome} <= words.keys()


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        pytest.param(Outcome.REGRESSED, 3, id="regressed"),
        pytest.param(Outcome.UNCHANGED, 0, id="unchanged"),
        pytest.param(Outcome.INCONCLUSIVE, 4, id="inconclusive"),
        pytest.param(None, 4, id="not over"),
    ],
)
def test_the_exit_code_is_that_of_the_word(outcome: Outcome | None, code: int) -> None:
    assert exit_code(confirm(outcome=outcome)) == code
