"""A session's progress and its end read well in both languages, reasons and launches included."""

import re
from uuid import UUID

import pytest

from service.cli.answers.words import Language
from service.cli.follow import present_line
from service.cli.run import print_answer
from service.cli.session import print_session
from service.cli.session_words import CATALOGUES
from service.domain.job import JobState
from service.domain.layer import Layer
from service.domain.verdict import REASONS, Outcome
from service.formats.comparisons import CellComparison, SessionVerdicts
from service.formats.orders import Progress
from service.formats.reports import Broken
from service.formats.sessions import JobRead, SessionRead
from service.formats.verdicts import ComparisonRead, VerdictRead
from tests.compared_cell import compared_cell
from tests.golden_file import assert_golden

EN, ZH = CATALOGUES[Language.EN], CATALOGUES[Language.ZH]
STEPS = (
    Progress(phase="build", text="making an empty environment"),
    Progress(phase="build", text="Collecting torch==2.11.0"),
    Progress(phase="preflight", text="checking collectives"),
    Progress(phase="start", text="waiting for the server, 31 s"),
    Progress(phase="measure", text="cell 2 of 4, repeat 3"),
    Progress(phase="stop", text="stopping the server"),
)
# What a verdict of each outcome says of its reason, where the rule had nothing to judge by.
UNJUDGED = {
    Outcome.BROKEN: "candidate: broken at server: no port; it died",
    Outcome.INVALID: "candidate: ttft_zero: the median time to first token must be above zero: "
    "observed 0 s, required more than 0",
    Outcome.MISSING: "candidate: no run: its job is given up",
    Outcome.INSUFFICIENT_BASELINE: "the baseline has 4 repeats and needs 5",
}


def job(ordinal: int, **more: object) -> JobRead:
    given = {
        "id": UUID(int=ordinal + 1),
        "ordinal": ordinal,
        "state": JobState.REPORTED.value,
        "stack_key": "a" * 64,
        "stack_name": "newer",
        "attempt": 1,
        "cells": 4,
        "cells_reported": 4,
        "repeats": 8,
        "runner": "runner-1",
        "host": "host-1",
        "progress": None,
        "broken": None,
    }
    return JobRead.model_validate({**given, **more})


def session(*jobs: JobRead, state: str = "running") -> SessionRead:
    return SessionRead.model_validate(
        {
            "id": UUID(int=9),
            "plan": "smoke",
            "pool": "local",
            "state": state,
            "host": "host-1",
            "created_at": "2026-11-29T00:00:00Z",
            "finished_at": None,
            "baseline_stack_key": None,
            "jobs": jobs,
        }
    )


def cell(outcome: Outcome, *warnings: str) -> CellComparison:
    reason = REASONS.get(outcome) or UNJUDGED.get(outcome, "")
    interval = {"worsening": 0.081, "low": 0.062, "high": 0.1, "baseline": 0.25, "candidate": 0.27}
    verdict = {
        "metric": "ttft_p50",
        "outcome": outcome,
        "tolerance": 0.1,
        "reason": reason,
        "smallest_detectable": None,
        "warnings": (),
        **(interval if outcome in REASONS else dict.fromkeys(interval)),
    }
    comparison = ComparisonRead(
        comparable=True,
        outcome=outcome,
        differences=(),
        verdicts=(VerdictRead.model_validate(verdict),),
        warnings=warnings,
    )
    return compared_cell(comparison, title=f"cell {list(Outcome).index(outcome) + 1}")


CREPT = (
    "slow creep since nightly-0: tpot_p50 +4.0% (last step +2.0%); each step is within the "
    "tolerance, the sum is not, so nightly-1 alone did not bring it"
)
ENDED = session(
    job(0),
    job(1, broken=Broken(layer="collectives", finding="ring timed out", remedy="check the links")),
    job(2, state="given up"),
    state="finished",
)
TOLD = [
    *(cell(outcome) for outcome in (*UNJUDGED, Outcome.UNCHANGED, Outcome.INCONCLUSIVE)),
    cell(Outcome.REGRESSED, CREPT, "baseline: odd, and judged all the same: short_duration"),
]


def verdicts(*cells: CellComparison) -> SessionVerdicts:
    return SessionVerdicts(
        session_id=UUID(int=9), finished=True, outcome=Outcome.REGRESSED, cells=cells
    )


@pytest.mark.parametrize("language", list(Language))
def test_the_end_of_a_run_reads_well(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer(ENDED, verdicts(*TOLD), json=False, language=language)
    print_answer(session(job(0)), verdicts(), json=False, language=language)

    assert_golden(f"run_end.{language}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_each_step_of_a_run_is_said_and_consoles_are_left_alone(language: Language) -> None:
    claimed = [session(job(1, state="claimed", progress=each)) for each in (None, *STEPS)]
    waiting = session(job(0, state="queued"))

    told = [present_line(each, language=language) for each in (waiting, *claimed, ENDED)]

    assert_golden(f"run_progress.{language}.txt", "\n".join(told) + "\n")


@pytest.mark.parametrize("language", list(Language))
def test_a_session_is_shown_with_what_became_of_each_launch(
    language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    print_session(ENDED, language)

    assert_golden(f"session_show.{language}.txt", capsys.readouterr().out)


def test_both_languages_have_the_same_words_and_fill_in_the_same_values() -> None:
    assert EN.keys() == ZH.keys()
    assert [key for key in EN if _values(EN[key]) != _values(ZH[key])] == []


def test_every_state_and_layer_has_a_word() -> None:
    states = (*JobState, "running", "finished")
    assert {f"state {each}" for each in states} <= EN.keys()
    assert {f"layer {each}" for each in Layer} <= EN.keys()


def _values(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))
