"""Answers that are kept: told once while they rest on the same, and never more than fit."""

from service.api.unchanged import KeptAnswers, Told

ONE, OTHER = Told.of("one"), Told.of("other")


def test_an_answer_is_found_again_while_it_rests_on_the_same() -> None:
    kept = KeptAnswers()
    kept.keep("/matrix", "7 runs", ONE)

    assert kept.find("/matrix", "7 runs") is ONE
    assert kept.find("/matrix", "8 runs") is None
    assert kept.find("/curves", "7 runs") is None


def test_a_new_answer_takes_the_place_of_the_old_one() -> None:
    kept = KeptAnswers()
    kept.keep("/matrix", "7 runs", ONE)

    kept.keep("/matrix", "8 runs", OTHER)

    assert kept.find("/matrix", "7 runs") is None
    assert kept.find("/matrix", "8 runs") is OTHER


def test_those_asked_for_longest_ago_are_let_go_where_not_all_fit() -> None:
    kept = KeptAnswers(bytes_max=8)
    kept.keep("/a", "", ONE)
    kept.keep("/b", "", ONE)
    kept.find("/a", "")

    kept.keep("/c", "", ONE)

    assert [kept.find(address, "") for address in ("/a", "/b", "/c")] == [ONE, None, ONE]


def test_an_answer_that_never_fits_is_not_kept() -> None:
    kept = KeptAnswers(bytes_max=2)

    kept.keep("/a", "", ONE)

    assert kept.find("/a", "") is None


def test_the_tag_is_of_the_words_alone() -> None:
    assert Told.of("one").tag == Told.of(b"one").tag != OTHER.tag
