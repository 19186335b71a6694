"""What two servers settled differently: in words, and whether anybody asked for it."""

from service.domain.resolution import Resolution, changed, notes

OLD = Resolution({"attention_backend": "fa3", "page_size": 1, "version": "0.5.18"})
NEW = Resolution({"attention_backend": "triton", "page_size": 64, "version": "0.5.23"})


def test_a_default_that_changed_was_not_asked_for() -> None:
    assert notes(changed(OLD, NEW)) == (
        "attention backend: fa3 → triton, not asked for",
        "page size: 1 → 64, not asked for",
    )


def test_what_a_stack_or_the_condition_asks_for_is_said_to_be_asked_for() -> None:
    assert notes(changed(OLD, NEW), asked=({}, {"page-size": 64})) == (
        "attention backend: fa3 → triton, not asked for",
        "page size: 1 → 64, asked for",
    )


def test_what_only_one_server_tells_has_not_changed() -> None:
    silent = Resolution({"attention_backend": "fa3"})

    assert notes(changed(OLD, silent)) == ("only one of the two servers tells its page size",)


def test_where_nobody_knows_what_was_asked_for_it_is_not_claimed() -> None:
    assert notes(changed(OLD, NEW), asked=None)[0] == (
        "attention backend: fa3 → triton, not told whether asked for"
    )


def test_of_very_many_facts_that_one_server_tells_a_few_are_named() -> None:
    newer = Resolution({f"fact_{number}": number for number in range(30)})

    (note,) = notes(changed(Resolution({}), newer))

    assert note.endswith("fact 0, fact 1, fact 10, fact 11, fact 12, fact 13 and 24 more")


def test_equal_servers_leave_nothing_to_say() -> None:
    assert notes(changed(OLD, OLD)) == ()
