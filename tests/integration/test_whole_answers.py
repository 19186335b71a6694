"""Comparisons of many cells: told once, kept, and told anew when what they rest on changes."""

from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.policy import Policy
from service.store import judged
from service.store.database import reading, writing
from service.usecases import whole_answers
from service.usecases.pieces import Pieces
from service.usecases.whole_answers import (
    WholeAnswer,
    comparison_of_stacks,
    stacks_asked,
    verdicts_of_session,
)
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.pages import pin

CELLS = tuple(builders.condition(concurrency=number + 1) for number in range(3))


@pytest.fixture
def measured(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """Measure two stacks in turn; three cells are already very many."""
    monkeypatch.setattr(whole_answers, "CELLS_KEPT", 3)
    order = builders.session_order(arms=(OLD, NEW) * 2, conditions=CELLS, baseline=OLD)
    return path.do_session(engine, order)


def verdicts(engine: Engine, session_id: UUID, *, rule: str = "1") -> WholeAnswer:
    with reading(engine) as session:
        return verdicts_of_session(session, session_id, baseline=None, channel="main", rule=rule)


def compared(engine: Engine) -> WholeAnswer:
    with reading(engine) as session:
        asked = stacks_asked(session, OLD.key, NEW.name, rule="1")
        assert asked is not None
        return comparison_of_stacks(
            session, asked, policy=Policy(), cells=Pieces(), squares=Pieces()
        )


def kept(engine: Engine, answer: WholeAnswer) -> None:
    assert answer.fresh is not None
    with writing(engine) as session:
        judged.keep(session, [answer.fresh], now=NOW)


def test_verdicts_that_are_kept_are_the_same_and_not_told_again(
    engine: Engine, measured: UUID
) -> None:
    first = verdicts(engine, measured)
    kept(engine, first)

    again = verdicts(engine, measured)

    assert again == WholeAnswer(first.text)
    assert verdicts(engine, measured, rule="2").fresh is not None


def test_a_comparison_that_is_kept_is_told_anew_once_a_pin_moved(
    engine: Engine, measured: UUID
) -> None:
    first = compared(engine)
    kept(engine, first)
    assert compared(engine) == WholeAnswer(first.text)

    pin(engine, OLD)

    assert compared(engine).fresh is not None


def test_few_cells_are_told_each_time(engine: Engine) -> None:
    order = builders.session_order(arms=(OLD, NEW) * 2, conditions=CELLS, baseline=OLD)
    session_id = path.do_session(engine, order)

    assert verdicts(engine, session_id).fresh is None
