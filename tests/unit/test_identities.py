"""Identities: which fields make two runs incomparable, and what travels with its key."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date

import pytest
from pydantic import TypeAdapter, ValidationError

from service.domain.comparison import Comparison, Side, compare
from service.domain.condition import Condition
from service.domain.difference import ABSENT, Difference, differences
from service.domain.key import plain
from service.domain.policy import Policy
from service.domain.server_arguments import ServerArgumentError, command_line, normalised
from service.domain.stack import Stack, UnknownComponentError, drift, with_version
from service.domain.verdict import Outcome
from service.formats.identities import KeyedCondition, StackOrder
from tests.unit.test_key import CONDITION, PROTOCOL, STACK


def _leaves(value: object, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(value, Mapping) and value:
        return [leaf for name, item in value.items() for leaf in _leaves(item, (*prefix, name))]
    return [prefix]


def _changed(condition: Condition, path: tuple[str, ...]) -> Condition:
    wire = KeyedCondition.of(condition).model_dump(mode="json")["condition"]
    inner = wire
    for name in path[:-1]:
        inner = inner[name]
    old = inner[path[-1]]
    known = {"closed": "open", "solo": "packed"}
    inner[path[-1]] = known.get(old, f"{old}x") if isinstance(old, str) else _another(old)
    return _parsed(wire)


def _another(old: bool | float | None) -> object:
    return not old if isinstance(old, bool) else (old or 0) + 1


def _parsed(wire: dict[str, object]) -> Condition:
    return TypeAdapter(Condition).validate_python(wire)


def _compared(baseline: Condition, candidate: Condition) -> Comparison:
    sides = [Side(condition, PROTOCOL) for condition in (baseline, candidate)]
    return compare(*sides, policy=Policy())


@pytest.mark.parametrize("path", _leaves(plain(CONDITION)), ids=".".join)
def test_a_condition_that_differs_in_any_one_field_is_refused_and_the_field_named(
    path: tuple[str, ...],
) -> None:
    other = _changed(CONDITION, path)

    refused = _compared(CONDITION, other)

    assert refused.outcome is Outcome.NOT_COMPARABLE
    assert [difference.field for difference in refused.differences] == [".".join(path)]
    assert other.key != CONDITION.key


def test_a_number_and_the_text_that_reads_like_it_are_different_conditions() -> None:
    number = replace(CONDITION, server_arguments={"page-size": 64})
    text = replace(CONDITION, server_arguments={"page-size": "64"})

    [difference] = _compared(number, text).differences

    assert str(difference).endswith('page-size: 64 ≠ "64"')


def test_equal_conditions_are_comparable() -> None:
    assert _compared(CONDITION, replace(CONDITION)).comparable


def test_a_condition_never_includes_a_stack() -> None:
    names = {field.name for field in fields(Condition)}

    assert not names & {field.name for field in fields(Stack)} - {
        "server_arguments",
        "server_environment",
    }


def test_an_absent_field_is_named_as_absent() -> None:
    assert differences({"a": 1}, {}) == (Difference("a", "1", ABSENT),)


def test_arguments_are_normalised_and_lose_what_is_local() -> None:
    given = {"--tp": 2, "page_size": 64, "port": 31000, "random-seed": 7, "sleep-on-idle": False}

    assert normalised(given) == {"page-size": 64, "tp-size": 2}


def test_one_flag_with_two_values_is_refused() -> None:
    with pytest.raises(ServerArgumentError, match="tp-size"):
        normalised({"tp": 2, "tp-size": 4})


def test_a_flag_without_a_value_stands_alone_on_the_command_line() -> None:
    words = command_line({"sleep-on-idle": True, "page-size": 64, "metrics": False})

    assert words == ["--page-size", "64", "--sleep-on-idle"]


def test_an_override_makes_a_new_stack_with_its_own_key() -> None:
    other = with_version(STACK, name="sglang", version="0.5.18")

    assert other.key != STACK.key
    assert other.versions["sglang"] == "0.5.18"
    with pytest.raises(UnknownComponentError, match="it pins driver"):
        with_version(STACK, name="torch", version="2.9.0")


def test_a_recorded_component_and_a_name_are_outside_the_key() -> None:
    recorded = with_version(STACK, name="linux", version="6.12")

    assert recorded.key == STACK.key
    assert replace(STACK, name="other").key == STACK.key


def test_drift_names_pinned_components_alone() -> None:
    seen = {"sglang": "0.5.18", "linux": "7.0", "numpy": "1"}

    assert drift(STACK, seen) == (Difference("sglang", "0.5.17", "0.5.18"),)
    assert drift(STACK, {}) == ()


def test_a_key_that_is_not_its_content_is_refused_at_the_door() -> None:
    with pytest.raises(ValidationError, match="is not that of the content"):
        StackOrder(key="0" * 64, stack=STACK, chip="kunlun", built_at=date(2026, 8, 3))
