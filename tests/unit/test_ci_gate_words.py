"""The sentences of a gate: the same in both languages, and each is recognised as it is told."""

import re

import pytest

from service.formats.ci_gate_words import EN, ZH
from service.formats.reasons import gate_in_chinese

FILLED = {
    "side": "candidate",
    "layer": "plugin",
    "metric": "tpot_p50",
    "jobs": "given up",
    "why": EN["gate.budget"],
    "count": "2",
    "of": "4",
    "card_s": "90",
    "planned": "60",
    "equal": "81.0 %",
    "worse": "10.0 %",
    "seen": "96.0 %",
    "once": "4m",
    "all": "9m",
}
SAID = {
    "side": "候选",
    "layer": "插件",
    "jobs": "已放弃",
    "why": ZH["gate.budget"],
}


def filled(template: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], f"x-{found[1]}"), template)


@pytest.mark.parametrize("code", EN)
def test_a_sentence_of_a_gate_is_said_in_chinese(code: str) -> None:
    told = gate_in_chinese(filled(EN[code], FILLED))

    assert told == filled(ZH[code], FILLED | SAID)


def test_both_languages_have_the_same_sentences_with_the_same_values() -> None:
    def values(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    assert EN.keys() == ZH.keys()
    assert [code for code in EN if values(EN[code]) != values(ZH[code])] == []


def test_what_a_gate_did_not_write_is_left_as_it_is() -> None:
    assert gate_in_chinese("ask li.na first; then merge") == "ask li.na first; then merge"
