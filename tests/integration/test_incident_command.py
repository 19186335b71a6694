"""`kunline incident …` as a person calls it: every command, through the real API."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.incident import incidents
from service.store.database import reading
from service.store.events import EventFilter
from service.usecases.read_events import list_events
from tests.integration.nights import CELLS, STEP, do_night, stack_of
from tests.integration.serving import application, served

GOOD, NEWER = stack_of(STEP - 1), stack_of(30)


@pytest.fixture
def address(history: Engine, tmp_path: Path) -> Iterator[str]:
    with served(application(history, tmp_path)) as at:
        yield at


@pytest.fixture
def event_id(history: Engine) -> UUID:
    with reading(history) as session:
        (event,) = list_events(session, EventFilter(), limit=5, cursor=None).events
    return event.id


def run(address: str, *words: object) -> tuple[int, str]:
    answer = CliRunner().invoke(incidents, [*map(str, words), "--url", address])
    return answer.exit_code, answer.output


def asked(address: str, *words: object) -> Any:
    """Return the document that a command answers."""
    code, out = run(address, *words, "--json")
    assert code == 0, out
    return json.loads(out)


def test_an_incident_is_opened_from_an_event_listed_and_shown(
    address: str, event_id: UUID, tmp_path: Path
) -> None:
    opened = asked(address, "open", event_id, "--why", "measured by hand")
    page = tmp_path / "incident.md"

    _, listed = run(address, "list")
    _, shown = run(address, "show", opened["id"])
    _, chinese = run(address, "show", opened["id"], "--lang", "zh", "--markdown", page)

    assert opened["id"] in listed
    assert f"Incident: worse since {stack_of(STEP).name}" in shown
    assert "measured by hand" in shown
    assert opened["cells"][0]["run_ids"][0] in shown.replace("\n", "")
    assert f"事件：自 {stack_of(STEP).name} 起退化" in chinese
    assert f"]({address}/runs/{opened['cells'][0]['run_ids'][0]})" in page.read_text()


def test_an_answer_keeps_owner_due_date_comment_and_links(address: str, event_id: UUID) -> None:
    opened = asked(address, "open", event_id, "--why", "seen")
    words = ("--owner", "bob", "--due", "2026-12-24", "--comment", "the new scheduler")
    links = ("--link", "https://issues.example/1", "--link", "https://issues.example/2")

    answered = asked(address, "triage", opened["id"], "fix", "--why", "ours", *words, *links)
    again = asked(address, "triage", opened["id"], "fix", "--why", "more", "--owner", "eve")
    _, listed = run(address, "list")

    assert (answered["owner"], answered["due"]) == ("bob", "2026-12-24")
    assert answered["comment"] == "the new scheduler"
    assert answered["links"] == ["https://issues.example/1", "https://issues.example/2"]
    assert (again["owner"], again["due"], again["comment"]) == (
        "eve",
        "2026-12-24",
        "the new scheduler",
    )
    assert "2026-12-24" in listed


def test_a_link_that_is_none_is_wrong_usage(address: str, event_id: UUID) -> None:
    opened = asked(address, "open", event_id, "--why", "seen")

    code, out = run(
        address, "triage", opened["id"], "fix", "--why", "x", "--link", "javascript:alert(1)"
    )

    assert code == 2
    assert "links" in out


def test_what_is_over_is_listed_only_when_asked_for_and_is_opened_again(
    address: str, event_id: UUID
) -> None:
    opened = asked(address, "open", event_id, "--why", "seen")
    asked(address, "triage", opened["id"], "noise", "--why", "one bad disk")

    _, listed = run(address, "list")
    _, every = run(address, "list", "--all")
    reopened = asked(address, "reopen", opened["id"], "--why", "it came back")
    twice, refused = run(address, "reopen", opened["id"], "--why", "twice")

    assert opened["id"] not in listed
    assert opened["id"] in every
    assert (reopened["is_open"], reopened["triage"]) == (True, "open")
    assert twice == 2
    assert "is open" in refused


def test_cells_are_split_off_merged_again_and_taken_out(address: str, event_id: UUID) -> None:
    whole = asked(address, "open", event_id, "--why", "seen")
    words = ("--condition", CELLS[0].key, "--why", "two causes")
    part = asked(address, "split", whole["id"], *words)
    merged = asked(address, "merge", part["id"], whole["id"], "--why", "one cause")
    _, shown = run(address, "show", part["id"])
    apart = asked(address, "reopen", part["id"], "--why", "two after all")
    own, refused = run(address, "merge", part["id"], part["id"], "--why", "x")

    assert {each["condition_key"] for each in part["cells"]} == {CELLS[0].key}
    assert merged["merged"] == [part["id"]]
    assert f"It is part of incident {whole['id']}." in shown
    assert apart["merged_into"] is None
    assert own == 2
    assert "merged into itself" in refused


def test_a_fix_is_shown_as_verified_when_a_later_stack_is_back_inside(
    history: Engine, address: str, event_id: UUID
) -> None:
    opened = asked(address, "open", event_id, "--why", "seen")
    asked(address, "triage", opened["id"], "fix", "--why", "ours")
    _, before = run(address, "show", opened["id"])
    do_night(history, 30, arms=(GOOD, NEWER) * 6)
    _, after = run(address, "show", opened["id"])

    assert "The baselines of its 2 cells are frozen until then." in before
    assert f"Verified fixed: {NEWER.name} is back inside the baseline" in after
    assert "verified the fix" in after


def test_the_record_is_told_from_triage(address: str, event_id: UUID) -> None:
    _, empty = run(address, "record")
    opened = asked(address, "open", event_id, "--why", "seen")
    asked(address, "triage", opened["id"], "noise", "--why", "one bad disk")
    _, told = run(address, "record")
    _, chinese = run(address, "record", "--lang", "zh")
    document = asked(address, "record")

    assert "false-alarm rate: unknown" in empty
    assert "1 opened, 1 answered, 1 of them noise" in told
    assert "false-alarm rate: 100 %" in told
    assert "误报率：100 %" in chinese
    assert document["to_triage_s"] == 0.0


@pytest.mark.parametrize(
    "words",
    [
        ("show", UUID(int=0)),
        ("triage", UUID(int=0), "noise", "--why", "x"),
        ("merge", UUID(int=0), UUID(int=1), "--why", "x"),
        ("split", UUID(int=0), "--condition", CELLS[0].key, "--why", "x"),
        ("reopen", UUID(int=0), "--why", "x"),
        ("open", UUID(int=0), "--why", "x"),
    ],
    ids=lambda words: words[0],
)
def test_what_there_is_none_of_is_said_in_a_sentence(address: str, words: tuple[object]) -> None:
    code, out = run(address, *words)

    assert code == 2
    assert f"{UUID(int=0)}" in out
    assert "Traceback" not in out
