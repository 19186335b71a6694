"""Which releases work together."""

import pytest

from service.domain.release import (
    Release,
    ReleasesApartError,
    ReleaseTextError,
    release,
    require_near,
)


@pytest.mark.parametrize("caller", ["0.1.0", "0.2.7", "0.3.0rc1"])
def test_one_minor_apart_works(caller: str) -> None:
    require_near(service="0.2.0", caller=caller)


@pytest.mark.parametrize("caller", ["0.0.9", "0.4.0", "1.2.0"])
def test_further_apart_is_refused_with_both_named(caller: str) -> None:
    with pytest.raises(ReleasesApartError, match=rf"Kunline 0\.2\.0 .* Kunline {caller}"):
        require_near(service="0.2.0", caller=caller)


def test_what_follows_the_minor_number_does_not_count() -> None:
    assert release("1.2.3.dev4") == release("1.2") == Release(1, 2)


@pytest.mark.parametrize("text", ["", "1", "one.two", "1.x", "١.٢"])
def test_a_text_that_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ReleaseTextError):
        release(text)
