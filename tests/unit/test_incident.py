"""Incidents: what ends them, what may be merged and split, and what Kunline's record is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from service.domain.cell import Cell
from service.domain.incident import (
    Answer,
    Direction,
    Incident,
    IncidentStateError,
    Triage,
    is_back_inside,
    is_of_change,
    record_of,
    require_mergeable,
    require_splittable,
)
from service.domain.verdict import Outcome

SEEN = datetime(2026, 11, 1, tzinfo=UTC)
OPENED = SEEN + timedelta(hours=2)
A, B, C = (Cell(name, "p") for name in "abc")


def incident(number: int = 1, triage: Triage = Triage.OPEN, **more: Any) -> Incident:
    made = Incident(
        UUID(int=number), "tpot worse", Direction.WORSE, "old", "new", OPENED, "ann", SEEN
    )
    return replace(made, answer=Answer(triage), **more)


@pytest.mark.parametrize(
    ("triage", "holds"),
    [
        (Triage.OPEN, True),
        (Triage.FIX, True),
        (Triage.ACCEPT, False),
        (Triage.NOISE, False),
        (Triage.HOST, False),
    ],
)
def test_a_baseline_stays_frozen_until_an_answer_settles_it(triage: Triage, holds: bool) -> None:
    assert incident(triage=triage).holds_baseline is holds


def test_a_fix_that_was_verified_holds_nothing() -> None:
    assert not incident(triage=Triage.FIX, verified_at=OPENED).holds_baseline


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        pytest.param(incident(1), incident(1), id="into itself"),
        pytest.param(incident(1, merged_into=UUID(int=3)), incident(2), id="part of another"),
        pytest.param(incident(1, direction=Direction.BETTER), incident(2), id="other direction"),
    ],
)
def test_some_incidents_are_never_merged(part: Incident, whole: Incident) -> None:
    with pytest.raises(IncidentStateError):
        require_mergeable(part, whole)


@pytest.mark.parametrize("apart", [(), (A, B), (C,)], ids=["none", "all", "another's"])
def test_a_split_takes_some_cells_and_not_all(apart: Sequence[Cell]) -> None:
    with pytest.raises(IncidentStateError):
        require_splittable((A, B), apart)


@pytest.mark.parametrize(
    ("outcomes", "inside"),
    [
        pytest.param([Outcome.UNCHANGED, Outcome.IMPROVED], True, id="all inside"),
        pytest.param([Outcome.UNCHANGED, Outcome.INCONCLUSIVE], False, id="one cannot be told"),
        pytest.param([Outcome.UNCHANGED, Outcome.MISSING], False, id="one was not measured"),
        pytest.param([], False, id="nothing was measured"),
    ],
)
def test_only_what_was_seen_inside_verifies_a_fix(
    outcomes: Sequence[Outcome], inside: bool
) -> None:
    assert is_back_inside(outcomes) is inside


def test_the_record_counts_noise_among_answers_and_parts_with_their_whole() -> None:
    found = record_of(
        [
            incident(1),
            incident(2, Triage.NOISE, triaged_at=OPENED + timedelta(hours=1)),
            incident(3, Triage.FIX, triaged_at=OPENED + timedelta(hours=3)),
            incident(4, Triage.NOISE, merged_into=UUID(int=3)),
        ]
    )

    assert (found.opened, found.answered, found.noise) == (3, 2, 1)
    assert found.false_alarm_rate == 0.5
    assert (found.to_verdict, found.to_triage) == (timedelta(hours=2), timedelta(hours=2))
    assert record_of([]).false_alarm_rate is None


@pytest.mark.parametrize(
    ("other", "is_of_it"),
    [
        pytest.param(incident(), True, id="the same change"),
        pytest.param(incident(candidate_stack_key="x" * 64), True, id="seen in a later stack"),
        pytest.param(incident(baseline_stack_key="x" * 64), True, id="held to an earlier stack"),
        pytest.param(incident(direction=Direction.BETTER), False, id="the other way"),
        pytest.param(incident(host="h1"), False, id="a host, and no stack"),
        pytest.param(
            incident(baseline_stack_key="x" * 64, candidate_stack_key="y" * 64),
            False,
            id="another change",
        ),
    ],
)
def test_an_incident_is_of_a_change_of_stack_where_it_begins_or_ends_with_it(
    other: Incident, *, is_of_it: bool
) -> None:
    one = incident()
    found = is_of_change(
        other,
        one.direction,
        baseline_stack_key=one.baseline_stack_key,
        candidate_stack_key=one.candidate_stack_key,
    )

    assert found is is_of_it
