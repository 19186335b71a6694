"""One catalogue has the words for outcomes, and all that tell outcomes take them from there."""

from collections.abc import Mapping

import pytest

from service.cli import (
    attribution_words,
    comparison_words,
    compat_words,
    dossier_words,
    event_words,
    verdict_words,
)
from service.cli.answers import words as gate_words
from service.cli.answers.words import Language
from service.domain.verdict import Outcome
from service.formats import notification_words, reason_words
from service.formats.outcome_words import OUTCOMES, under

EN, ZH = Language.EN, Language.ZH
Catalogues = Mapping[Language, Mapping[str, str]]
# Where a dossier and an attribution say more of what is not measured than the one word.
OWN = {"outcome missing", "outcome insufficient baseline"}


@pytest.mark.parametrize("language", list(Language))
def test_every_outcome_has_its_word_in_the_order_of_precedence(language: Language) -> None:
    assert list(OUTCOMES[language]) == [each.value for each in Outcome]


def test_english_says_the_word_that_is_stored() -> None:
    assert all(word == outcome for outcome, word in OUTCOMES["en"].items())


@pytest.mark.parametrize(
    ("catalogues", "prefix"),
    [
        pytest.param(verdict_words.CATALOGUES, "outcome ", id="verdicts"),
        pytest.param(comparison_words.CATALOGUES, "outcome ", id="comparisons"),
        pytest.param(attribution_words.CATALOGUES, "outcome ", id="attributions"),
        pytest.param(compat_words.WORDS, "outcome ", id="compat"),
        pytest.param(dossier_words.WORDS, "outcome ", id="dossier"),
        pytest.param(event_words.CATALOGUES, "word ", id="events"),
        pytest.param(gate_words.WORDS, "outcome.", id="gates"),
        pytest.param(
            {EN: notification_words.ENGLISH, ZH: notification_words.CHINESE},
            "outcome ",
            id="notifications",
        ),
        pytest.param(
            {EN: {}, ZH: reason_words.WORDS_ZH["outcome"]}, "", id="reasons, told in Chinese alone"
        ),
    ],
)
def test_whatever_tells_an_outcome_says_the_same_word(catalogues: Catalogues, prefix: str) -> None:
    for language, words in catalogues.items():
        told = {key: word for key, word in under(prefix, language).items() if key in words}
        kept = {key: words[key] for key in told}

        assert {key for key in kept if kept[key] != told[key]} <= OWN
        assert len(told) in {0, len(Outcome)}
