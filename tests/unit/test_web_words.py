"""The dashboard's words and lists: equal in both languages, and equal to what the core knows."""

import json

from service.domain.layer import Layer
from service.domain.metric import METRICS, Role
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome
from tests.browser.catalogue import names_of, words
from tests.tracked_files import ROOT

METRICS_SHOWN = ROOT / "web/src/shown/metrics.json"


def test_both_languages_have_the_same_words() -> None:
    assert words("en").keys() == words("zh").keys()


def test_both_languages_say_a_word_with_the_same_numbers_and_names() -> None:
    unlike = [
        key for key, text in words("en").items() if names_of(text) != names_of(words("zh")[key])
    ]

    assert unlike == []


def test_no_word_is_empty_and_none_is_left_in_english() -> None:
    same = {key for key, text in words("zh").items() if not text or text == words("en")[key]}

    # What is written alike in both.
    assert same == {"field.tp"}


def test_every_outcome_layer_and_scope_has_its_word() -> None:
    wanted = {
        *(f"outcome.{outcome}" for outcome in Outcome),
        *(f"layer.{layer}" for layer in Layer),
        *(f"scope.{scope}" for scope in SwapScope),
    }

    assert wanted <= words("en").keys()


def test_the_dashboard_knows_the_metrics_that_the_core_knows() -> None:
    shown = json.loads(METRICS_SHOWN.read_text(encoding="utf-8"))

    assert shown == {
        metric.name: {
            "unit": metric.unit,
            "better": metric.better,
            "judged": metric.role is Role.JUDGED,
        }
        for metric in METRICS.values()
    }
