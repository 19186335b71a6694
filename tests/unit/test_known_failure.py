"""The table of known failures: each row shows in its sample, and speaks two languages."""

import re

import pytest

from service.domain.known_failure import KnownFailure
from service.domain.layer import Layer
from service.formats.known_failures import known_failures, recognised, remedy_of

ROWS = known_failures()
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("failure", ROWS, ids=lambda failure: failure.name)
def test_each_row_is_the_first_that_its_sample_shows(failure: KnownFailure) -> None:
    found = recognised(f"a line before\n  {failure.sample}\na line after")

    assert found is not None
    assert (found.failure.name, found.line) == (failure.name, failure.sample)


@pytest.mark.parametrize("failure", ROWS, ids=lambda failure: failure.name)
def test_each_row_speaks_both_languages_in_whole_sentences(failure: KnownFailure) -> None:
    for words in (failure.cause, failure.remedy):
        assert words.en.endswith(".")
        assert words.zh.endswith("。")
        assert HAN.search(words.zh)
        assert not HAN.search(words.en)


def test_no_name_stands_twice() -> None:
    names = [failure.name for failure in ROWS]

    assert len(names) == len(set(names))


def test_a_quiet_log_shows_nothing() -> None:
    quiet = "[2026-11-30 06:32:59] server_args={'nccl_port': None}\nThe server is fired up\n"

    assert recognised(quiet) is None
    assert remedy_of(quiet, "read the log") == "read the log"


def test_the_narrow_row_wins_over_the_wide_one_whatever_stands_first() -> None:
    text = (
        "torch.OutOfMemoryError: out of memory\nNot enough memory, increase --mem-fraction-static"
    )

    found = recognised(text)

    assert found is not None
    assert found.failure.layer is Layer.CAPACITY


def test_only_what_leaves_a_server_up_is_looked_for_in_one_that_is_up() -> None:
    assert recognised("MemoryError: bad_alloc", survived=True) is None
    assert recognised("xpulink not active", survived=True) is not None


def test_a_remedy_names_its_source_and_how_well_it_is_known() -> None:
    remedy = remedy_of("[XCCL] addr_window not properly set")

    assert remedy.endswith("(vLLM-Kunlun issues 382 and 420, grade D)")
    assert "BKCL_CHECK_AW=0" in remedy
