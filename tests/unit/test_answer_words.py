"""The words of a gate's answer: equal in both languages, and one for everything that is closed."""

import re
from pathlib import Path
from typing import get_args

import pytest

from service.cli.answers.words import WORDS, Language, say
from service.domain.ci_gate import Stop
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateBroken, GateControl, GateLink
from tests.browser.catalogue import words as words_of_the_dashboard
from tests.tracked_files import ROOT

EN, ZH = WORDS[Language.EN], WORDS[Language.ZH]
ROOM = ROOT / "service/cli/answers"


def choices(model: type, name: str) -> tuple[str, ...]:
    """Return what a field of a format may hold."""
    found: tuple[str, ...] = get_args(model.model_fields[name].annotation)  # type: ignore[attr-defined]
    return found


def test_both_languages_have_the_same_words() -> None:
    assert EN.keys() == ZH.keys()


def test_both_languages_fill_in_the_same_names() -> None:
    unlike = [
        key
        for key, text in EN.items()
        if set(re.findall(r"\{(\w+)", text)) != set(re.findall(r"\{(\w+)", ZH[key]))
    ]

    assert unlike == []


def test_no_word_is_empty_and_none_is_left_in_english() -> None:
    same = {key for key, text in ZH.items() if not text or text == EN[key]}

    assert same == set()


def test_every_closed_word_of_an_answer_has_its_own() -> None:
    wanted = {
        *(f"outcome.{outcome}" for outcome in Outcome),
        *(f"stop.{stop}" for stop in Stop),
        *(f"scope.{scope}" for scope in SwapScope),
        *(f"control.{kind}" for kind in choices(GateControl, "kind")),
        *(f"broke.{side}" for side in choices(GateBroken, "side")),
        *(f"link.{name}" for name in choices(GateLink, "name")),
    }

    assert wanted <= EN.keys()


@pytest.mark.parametrize("language", Language)
def test_an_outcome_is_called_as_on_the_dashboard(language: Language) -> None:
    dashboard = words_of_the_dashboard(language)

    assert {each: say(language, f"outcome.{each}") for each in Outcome} == {
        each: dashboard[f"outcome.{each}"] for each in Outcome
    }


def test_no_word_is_left_that_nobody_says() -> None:
    source = "".join(
        path.read_text() for path in ROOM.glob("*.py") if path != Path(ROOM / "words.py")
    )
    # Words whose key is put together of a kind and a closed word.
    kinds = {
        "outcome",
        "stop",
        "scope",
        "control",
        "broke",
        "link",
        "column",
        "section",
        "headline",
    }
    unsaid = [key for key in EN if key.partition(".")[0] not in kinds and f'"{key}"' not in source]

    assert unsaid == []
