"""A qualification goes step by step, and its dossier says the same in both languages."""

from dataclasses import replace
from datetime import UTC, datetime
from string import Formatter
from uuid import UUID

import pytest

from service.cli.dossier import dossier_page
from service.cli.dossier_words import CHINESE, ENGLISH, Language
from service.domain.advice import Answer, Standing
from service.domain.layer import Layer
from service.domain.qualification import (
    CHECKLIST,
    Decision,
    Phase,
    Progress,
    Step,
    Way,
    WrongStepError,
    next_step,
    require_step,
    way_of,
)
from service.domain.stack import SwapScope
from service.domain.stack_difference import ComponentChange
from service.domain.verdict import Outcome
from service.formats.matrix_view import MetricVerdict
from service.formats.qualifications import (
    DoneRead,
    DossierCell,
    DossierRead,
    QualificationContent,
    QualificationRead,
)
from service.formats.stack_differences import StackNamed
from tests.golden_file import assert_golden

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ANN = DoneRead(by="ann", at=AT, note="driver 5.0.21.26, rebooted at 08:40")
_, BEFORE, AFTER, RESTORED = Phase


@pytest.mark.parametrize(
    ("measured", "changed", "decision", "rolled_back", "step"),
    [
        pytest.param([], False, None, False, Step.MEASURE_BEFORE, id="nothing is measured"),
        pytest.param([BEFORE], False, None, False, Step.CHANGE, id="a person is next"),
        pytest.param([BEFORE], True, None, False, Step.MEASURE_AFTER, id="changed"),
        pytest.param([BEFORE, AFTER], True, None, False, Step.DECIDE, id="an answer is there"),
        pytest.param([BEFORE, AFTER], True, Decision.KEEP, False, Step.DONE, id="kept"),
        pytest.param(
            [BEFORE, AFTER], True, Decision.ROLL_BACK, False, Step.ROLL_BACK, id="to go back"
        ),
        pytest.param(
            [BEFORE, AFTER], True, Decision.ROLL_BACK, True, Step.MEASURE_RESTORED, id="gone back"
        ),
        pytest.param(
            [BEFORE, AFTER, RESTORED],
            True,
            Decision.ROLL_BACK,
            True,
            Step.DONE,
            id="back and measured",
        ),
    ],
)
def test_what_was_done_says_what_is_next(
    measured: list[Phase],
    changed: bool,
    decision: Decision | None,
    rolled_back: bool,
    step: Step,
) -> None:
    progress = Progress(measured, changed, decision, rolled_back)

    assert next_step(progress) is step
    require_step(step, progress)


@pytest.mark.parametrize(
    ("scope", "way"),
    [
        pytest.param(None, Way.INTERLEAVED, id="nothing is to be restarted"),
        pytest.param(SwapScope.PROCESS, Way.INTERLEAVED, id="a process"),
        pytest.param(SwapScope.CONTAINER, Way.INTERLEAVED, id="a container"),
        pytest.param(SwapScope.HOST, Way.CROSSOVER, id="the host"),
    ],
)
def test_only_what_needs_a_reboot_is_crossed(scope: SwapScope | None, way: Way) -> None:
    assert way_of(scope) is way


@pytest.mark.parametrize(
    ("measured", "decision", "step"),
    [
        pytest.param([], None, Step.MEASURE, id="nothing is measured"),
        pytest.param([Phase.TOGETHER], None, Step.DECIDE, id="an answer is there"),
        pytest.param([Phase.TOGETHER], Decision.KEEP, Step.DONE, id="taken over"),
        pytest.param([Phase.TOGETHER], Decision.ROLL_BACK, Step.DONE, id="not taken over"),
    ],
)
def test_taking_turns_needs_no_change_and_no_way_back(
    measured: list[Phase], decision: Decision | None, step: Step
) -> None:
    progress = Progress(measured, False, decision, rolled_back=False, way=Way.INTERLEAVED)

    assert next_step(progress) is step


def test_a_step_that_is_not_next_is_refused_by_name() -> None:
    with pytest.raises(WrongStepError, match="the next step is to measure before"):
        require_step(Step.CHANGE, Progress([], changed=False, decision=None, rolled_back=False))


def test_both_languages_have_the_same_words_and_the_same_places() -> None:
    def places(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert list(ENGLISH) == list(CHINESE)
    assert {key: places(text) for key, text in ENGLISH.items()} == {
        key: places(text) for key, text in CHINESE.items()
    }


def test_every_answer_outcome_scope_and_point_has_a_word() -> None:
    wanted = {
        *(f"answer {each}" for each in Answer),
        *(f"outcome {each}" for each in Outcome),
        *(f"scope {each}" for each in SwapScope),
        *(f"{part} {each}" for each in Way for part in ("hosts", "rule")),
        *(f"point {point}" for points in CHECKLIST.values() for point in points),
    }

    assert wanted <= ENGLISH.keys()


def verdict(metric: str, outcome: Outcome, worse: float, level: float) -> MetricVerdict:
    after = level * (1 + worse) if metric != "output_throughput" else level * (1 - worse)
    return MetricVerdict(
        metric=metric,
        outcome=outcome,
        worsening=worse,
        low=worse - 0.012,
        high=worse + 0.012,
        tolerance=0.03,
        smallest_detectable=0.034,
        baseline=level,
        candidate=after,
        reason=None,
    )


def cell(
    standing: Standing, outcome: Outcome, worse: float, *, title: str = "tiny 1×P800 tp1 64→16"
) -> DossierCell:
    return DossierCell(
        title=title,
        standing=standing,
        outcome=outcome,
        finding="",
        verdicts=(
            verdict("tpot_p50", outcome, worse, 0.012),
            verdict("output_throughput", outcome, worse, 600.0),
        ),
        control=0.004,
        launches=(3, 3, 3, 3),
    )


FINE = cell(Standing.FINE, Outcome.UNCHANGED, 0.002)
SLOWER = cell(Standing.COSTS, Outcome.REGRESSED, 0.12)


def dossier(
    answer: Answer,
    cells: tuple[DossierCell, ...],
    *,
    decision: Decision | None,
    restored: tuple[DossierCell, ...] | None = None,
    not_tested: tuple[str, ...] = (),
) -> DossierRead:
    decided = DoneRead(by="bo", at=AT, note="signed") if decision else None
    back = DoneRead(by="bo", at=AT, note="the old driver is in") if restored else None
    return DossierRead(
        qualification=QualificationRead(
            id=UUID(int=7),
            baseline=StackNamed(name="p800-a", key="a" * 64),
            candidate=StackNamed(name="p800-b", key="b" * 64),
            changes=(
                ComponentChange(
                    "kunlun-driver",
                    Layer.DRIVER,
                    SwapScope.HOST,
                    recorded=False,
                    baseline="5.0.21.8",
                    candidate="5.0.21.26",
                ),
            ),
            scope=SwapScope.HOST,
            step=Step.DONE if decision else Step.DECIDE,
            checklist=(),
            content=QualificationContent(
                plan="p800-single",
                canary="h1",
                control="h2",
                changed=ANN,
                decision=decision,
                decided=decided,
                rolled_back=back,
            ),
            created_at=AT,
            created_by="ann",
        ),
        answer=answer,
        cells=cells,
        restored=restored,
        not_tested=not_tested,
        at=AT,
    )


PAGES = {
    "kept": dossier(Answer.YES, (FINE,), decision=Decision.KEEP),
    "slower": dossier(
        Answer.COSTS,
        (SLOWER,),
        decision=Decision.ROLL_BACK,
        restored=(FINE,),
        not_tested=("tiny 8×P800 tp8 64→16",),
    ),
}


def in_turn(found: DossierRead) -> DossierRead:
    """Return a dossier of two stacks that took turns on one host."""
    about = found.qualification
    change = replace(about.changes[0], name="sglang", layer=Layer.SERVER, scope=SwapScope.PROCESS,
                     baseline="0.5.18", candidate="0.5.23")  # fmt: skip
    content = about.content.model_copy(
        update={"way": Way.INTERLEAVED, "control": None, "changed": None}
    )
    cells = [each.model_copy(update={"control": None, "launches": (3, 3)}) for each in found.cells]
    update = {"changes": (change,), "scope": SwapScope.PROCESS, "content": content}
    qualification = about.model_copy(update=update)
    return found.model_copy(update={"qualification": qualification, "cells": tuple(cells)})


PAGES["in_turn"] = in_turn(dossier(Answer.COSTS, (SLOWER,), decision=Decision.ROLL_BACK))


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", PAGES)
def test_a_dossier_is_one_page_to_sign(name: str, language: Language) -> None:
    page = dossier_page(PAGES[name], language)

    assert_golden(f"dossier_{name}.{language}.md", page)
    assert len(page.splitlines()) < 70


def test_a_dossier_that_nobody_decided_on_says_how_to_go_back() -> None:
    page = dossier_page(dossier(Answer.UNKNOWN, (FINE,), decision=None), Language.EN)

    assert "Not decided yet. To go back, in this order:\n\n1. drain the host" in page


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome.UNCHANGED, "is what it was"),
        (Outcome.REGRESSED, "is not what it was"),
        (Outcome.IMPROVED, "is not what it was"),
        (Outcome.BROKEN, "is not what it was"),
        (Outcome.INCONCLUSIVE, "is not shown"),
        (Outcome.MISSING, "is not shown"),
    ],
)
def test_a_dossier_says_whether_a_rollback_brought_the_old_stack_back(
    outcome: Outcome, said: str
) -> None:
    restored = (FINE, cell(Standing.OPEN, outcome, 0.2))
    found = dossier(Answer.COSTS, (SLOWER,), decision=Decision.ROLL_BACK, restored=restored)

    assert said in dossier_page(found, Language.EN).partition("## Rollback")[2]
