"""`kunline scaling …` as a person calls it, on a served database."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.scaling import scalings
from service.store.database import create_database
from tests.integration.serving import application, served
from tests.integration.test_scaling import ONE, SEEN, TWO, measured


@pytest.fixture(scope="module")
def place(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Give the address of a service that measured one card and two, and the session of the two."""
    folder = tmp_path_factory.mktemp("scaling")
    (folder / "kunline.db").write_bytes(migrated_file.read_bytes())
    engine = create_database(f"sqlite:///{folder / 'kunline.db'}", connections=10)
    measured(engine, ONE, scales=(1.0, 1.01))
    told = SEEN.model_dump_json().encode()
    session_id = measured(engine, TWO, scales=(1.25, 1.26), told=told)
    with served(application(engine, folder)) as at:
        yield [at, str(session_id)]
    engine.dispose()


def said(place: list[str], *words: str) -> str:
    answer = CliRunner().invoke(scalings, [*words, "--url", place[0]])
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_several_cards_that_are_slower_than_one_are_said_to_be(place: list[str]) -> None:
    text = said(place, "show")

    assert "2 (tp2)" in text
    assert "0.80 (" in text
    assert "slower than one card" in text
    assert "40.0 %" in text


def test_what_has_no_pair_says_what_to_measure(place: list[str]) -> None:
    assert "on one card and on several" in said(place, "show", "--host", "nowhere")


def test_the_share_of_communication_stands_beside_its_messages(place: list[str]) -> None:
    text = said(place, "messages", place[1])

    assert "many small" in text
    assert "MiB × 5" in text
    assert "≥ " in text
    assert "slow: the link of cards 1 and 2 (unknown)" in text


def test_one_document_is_printed_where_that_is_asked_for(place: list[str]) -> None:
    shown = json.loads(said(place, "show", "--json"))
    messages = json.loads(said(place, "messages", place[1], "--json"))

    assert shown["rows"][0]["many"][0]["slower"]
    assert messages["cells"][0]["decode"]["messages"] == 5
