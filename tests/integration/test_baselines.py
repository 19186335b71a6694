"""Baselines: how they move, how a move is taken back, and what a channel's rule pins."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.baseline import baselines
from service.domain.audit import Noun
from service.domain.incident import Triage
from service.formats.baselines import BaselinePin, MoveRead, RuleOrder
from service.formats.incidents import IncidentOrder, IncidentRead, TriageOrder
from service.store import audits, schema
from service.store.database import create_database, reading, writing
from service.store.events import EventFilter
from service.usecases.keep_rule import RuleTakenError, end_rule, list_rules, make_rule
from service.usecases.move_baseline import FrozenBaselineError
from service.usecases.pin_baseline import list_baselines, pin_baseline
from service.usecases.read_events import list_events
from service.usecases.triage_incident import open_incident, triage_incident
from service.usecases.undo_move import MovedOnError, list_moves, undo_move
from tests.integration.builders import NOW
from tests.integration.confirming import asked, measure
from tests.integration.nights import CELLS, STEP, do_night, stack_of
from tests.integration.serving import application, served

LATER = NOW + timedelta(days=30)
FIRST, GOOD, BAD = stack_of(0), stack_of(STEP - 1), stack_of(STEP)


def pin(engine: Engine, stack_key: str, *cells: int, channel: str = "main", hour: int = 0) -> None:
    wanted = BaselinePin(
        channel=channel,
        stack_key=stack_key,
        condition_keys=tuple(CELLS[cell].key for cell in cells),
        why=f"hour {hour}",
    )
    with writing(engine) as session:
        pin_baseline(session, wanted, who="ann", now=LATER + timedelta(hours=hour))


def moves(engine: Engine, channel: str | None = "main") -> tuple[MoveRead, ...]:
    with reading(engine) as session:
        return list_moves(session, channel=channel, limit=50, cursor=None).moves


def undo(engine: Engine, move: MoveRead, *, hour: int = 5) -> MoveRead:
    with writing(engine) as session:
        now = LATER + timedelta(hours=hour)
        return undo_move(session, move.id, why="the wrong build", who="bob", now=now)


def held_to(engine: Engine, channel: str = "main") -> dict[str, str]:
    with reading(engine) as session:
        found = list_baselines(session, channel=channel, history=False)
    return {each.condition_key: each.stack_name for each in found}


def incident(engine: Engine) -> IncidentRead:
    with writing(engine) as session:
        (event,) = list_events(session, EventFilter(), limit=5, cursor=None).events
        order = IncidentOrder(event_id=event.id, why="confirmed by hand")
        return open_incident(session, order, who="ann", now=LATER)


def rule(engine: Engine, stacks: str = "nightly-*", channel: str = "release") -> None:
    order = RuleOrder(channel=channel, stacks=stacks, why="what we deliver")
    with writing(engine) as session:
        make_rule(session, order, who="ann", now=LATER)


def test_every_move_says_who_when_why_from_and_to(history: Engine) -> None:
    pin(history, FIRST.key, 0, 1)
    pin(history, GOOD.key, 1, 2, hour=1)

    newest, oldest = moves(history)
    assert (newest.made_by, newest.why, newest.kind) == ("ann", "hour 1", "pin")
    assert newest.made_at == LATER + timedelta(hours=1)
    assert {
        each.condition_key: (each.from_stack_name, each.to_stack_name) for each in newest.cells
    } == {CELLS[1].key: (FIRST.name, GOOD.name), CELLS[2].key: (None, GOOD.name)}
    assert {each.from_stack_name for each in oldest.cells} == {None}


def test_an_undo_puts_back_what_was_there_and_is_a_move_of_its_own(history: Engine) -> None:
    pin(history, FIRST.key, 0, 1)
    pin(history, GOOD.key, 1, 2, hour=1)

    back = undo(history, moves(history)[0])

    assert held_to(history) == {CELLS[0].key: FIRST.name, CELLS[1].key: FIRST.name}
    newest, undone, _ = moves(history)
    assert newest == back
    assert (newest.kind, newest.undoes, newest.made_by) == ("undo", undone.id, "bob")
    assert undone.undone_by == newest.id


def test_an_undo_can_be_taken_back_as_well(history: Engine) -> None:
    pin(history, FIRST.key, 0)
    pin(history, GOOD.key, 0, hour=1)

    undo(history, undo(history, moves(history)[0]), hour=6)

    assert held_to(history) == {CELLS[0].key: GOOD.name}


def test_moves_are_undone_one_by_one_back_to_where_there_was_nothing(history: Engine) -> None:
    pin(history, FIRST.key, 0)
    pin(history, GOOD.key, 0, hour=1)
    pin(history, BAD.key, 0, hour=2)
    third, second, first = moves(history)

    held = []
    for hour, move in enumerate((third, second, first), 5):
        undo(history, move, hour=hour)
        held.append(held_to(history))

    assert held == [{CELLS[0].key: GOOD.name}, {CELLS[0].key: FIRST.name}, {}]


def test_a_move_whose_undo_was_undone_is_not_undone(history: Engine) -> None:
    pin(history, FIRST.key, 0)
    undo(history, undo(history, moves(history)[0]), hour=6)

    again, back, first = moves(history)
    assert (first.undone_by, back.undone_by, again.undone_by) == (None, again.id, None)


def test_an_undo_is_audited_with_before_and_after(history: Engine) -> None:
    pin(history, FIRST.key, 0)

    undo(history, moves(history)[0])

    with reading(history) as session:
        (gone,) = list_baselines(session, channel="main", history=True)
        *_, entry = audits.of_thing(session, Noun.BASELINE, str(gone.id))
    assert (entry.act, entry.actor, entry.reason) == ("undo", "bob", "the wrong build")
    assert entry.before is not None
    assert entry.before["stack_key"] == FIRST.key
    assert entry.after is None


@pytest.mark.parametrize("again", [False, True], ids=["a later pin", "it was undone"])
def test_a_move_that_was_moved_on_from_is_not_undone(history: Engine, again: bool) -> None:
    pin(history, FIRST.key, 0)
    (first,) = moves(history)
    if again:
        undo(history, first)
    else:
        pin(history, GOOD.key, 0, hour=1)

    with pytest.raises(MovedOnError, match="were moved again since"):
        undo(history, first)


def test_an_undo_is_refused_while_an_incident_holds_a_cell_and_names_it(history: Engine) -> None:
    pin(history, GOOD.key, 0, 3)
    found = incident(history)

    with pytest.raises(FrozenBaselineError, match=str(found.id)):
        undo(history, moves(history)[0])

    assert held_to(history) == {CELLS[0].key: GOOD.name, CELLS[3].key: GOOD.name}


def test_accepting_an_incident_is_a_move_that_names_it_and_can_be_undone(history: Engine) -> None:
    pin(history, GOOD.key, 0)
    found = incident(history)
    with writing(history) as session:
        order = TriageOrder(triage=Triage.ACCEPT, why="the price of it")
        triage_incident(session, found.id, order, who="ann", now=LATER + timedelta(hours=2))

    accepted = moves(history)[0]
    undo(history, accepted)

    assert (accepted.kind, accepted.incident_id) == ("accept", found.id)
    assert held_to(history) == {CELLS[0].key: GOOD.name}


def test_a_rule_pins_the_first_accepted_run_and_says_so(history: Engine) -> None:
    do_night(history, 40, arms=(FIRST, FIRST))
    rule(history)

    (move,) = moves(history, "release")
    assert held_to(history, "release") == dict.fromkeys((each.key for each in CELLS), FIRST.name)
    assert move.kind == "policy"
    assert move.made_by == "policy: first accepted run of release"
    assert "by the rule of ann: what we deliver" in move.why
    with reading(history) as session:
        assert [each.pins for each in list_rules(session)] == [len(CELLS)]


def test_a_rule_waits_for_enough_repeats_and_pins_when_a_session_ends(history: Engine) -> None:
    rule(history)
    before = held_to(history, "release")

    do_night(history, 40, arms=(BAD, BAD))

    assert before == {}
    assert held_to(history, "release") == dict.fromkeys((each.key for each in CELLS), BAD.name)


def test_a_rule_never_rolls_a_baseline_and_leaves_alone_what_was_ever_pinned(
    history: Engine,
) -> None:
    do_night(history, 40, arms=(FIRST, FIRST))
    rule(history)
    undo(history, moves(history, "release")[0])

    do_night(history, 41, arms=(GOOD, GOOD))

    assert held_to(history, "release") == {}


def test_a_rule_leaves_frozen_cells_for_later(history: Engine) -> None:
    incident(history)
    rule(history)

    do_night(history, 40, arms=(BAD, BAD))

    assert held_to(history, "release").keys() == {CELLS[2].key, CELLS[3].key}


def test_a_rule_pins_nothing_that_was_measured_to_confirm_a_suspicion(history: Engine) -> None:
    rule(history)
    with reading(history) as session:
        (event,) = list_events(session, EventFilter(), limit=5, cursor=None).events
    now = event.seen_at + timedelta(hours=1)
    asked(history, event.id, now=now)
    done = measure(history, lambda _: 1.0, now=now)

    assert len(done) > 1
    assert held_to(history, "release") == {}


def test_a_channel_has_one_rule_and_one_that_ended_pins_nothing(history: Engine) -> None:
    rule(history)
    with pytest.raises(RuleTakenError, match="has a rule for nightly"):
        rule(history, "other-*")
    with writing(history) as session:
        (found,) = list_rules(session)
        end_rule(session, found.id, why="it is out", who="ann", now=LATER)

    do_night(history, 40, arms=(BAD, BAD))

    assert held_to(history, "release") == {}


def test_pins_of_before_are_told_as_moves_by_the_migration(url: str) -> None:
    engine = create_database(url, connections=2)
    do_night(engine, 0)
    do_night(engine, 1)
    pin(engine, stack_of(0).key, 0, 1)
    pin(engine, stack_of(1).key, 1, hour=1)
    told = [move.model_dump(exclude={"id"}) for move in moves(engine)]

    schema.downgrade(engine, "0012")
    schema.upgrade(engine)

    assert [move.model_dump(exclude={"id"}) for move in moves(engine)] == told
    engine.dispose()


@pytest.fixture
def address(history: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(history, tmp_path)) as at:
        yield at


def run(address: str, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(baselines, [*words, "--url", address])
    return answer.exit_code, answer.output


def test_moves_are_shown_and_taken_back_at_the_command_line(address: str) -> None:
    pinned, _ = run(address, "pin", FIRST.name, "--release", "2026.11", "--why", "accepted")
    taken, told = run(address, "undo", "--why", "the wrong build", "--json")
    shown, lines = run(address, "history", "main")
    again, refused = run(address, "undo", json.loads(told)["undoes"], "--why", "twice")

    assert (pinned, taken, shown, again) == (0, 0, 0, 2)
    assert "release 2026.11, undone" in lines
    assert "undo " in lines
    assert "were moved again since" in refused


def test_nothing_to_take_back_is_said(address: str) -> None:
    code, out = run(address, "undo", "--why", "nothing")

    assert code == 5
    assert "no move of channel main is left to take back" in out


def test_rules_are_made_listed_and_ended_at_the_command_line(address: str) -> None:
    made, out = run(address, "rule", "release", "--stacks", "nightly-*", "--why", "ours", "--json")
    (found,) = json.loads(out)
    twice, refused = run(address, "rule", "release", "--stacks", "cpu-*", "--why", "ours")
    ended, _ = run(address, "end-rule", found["id"], "--why", "out")
    listed, lines = run(address, "rules")
    wrong, _ = run(address, "rule", "release", "--stacks", "a b", "--why", "ours")

    assert (made, twice, ended, listed, wrong) == (0, 2, 0, 0, 2)
    assert found["id"] in refused
    assert "ended" in lines
