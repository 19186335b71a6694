"""Tokens: what a caller may do, when a token ends, and what is said where one is missing."""

from datetime import UTC, datetime, timedelta

import pytest

from service.domain.token import Caller, Scope, ended
from service.usecases.admit import TokenMissingError
from service.usecases.submit_session import KeyReusedError

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("scope", Scope)
def test_admin_may_do_everything(scope: Scope) -> None:
    assert Caller("ann", frozenset({Scope.ADMIN})).may(scope)


def test_every_token_may_read_and_do_what_it_says_and_no_more() -> None:
    caller = Caller("runner", frozenset({Scope.INGEST}))

    assert [scope for scope in Scope if caller.may(scope)] == [Scope.READ, Scope.INGEST]


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "over"),
    [
        pytest.param(None, None, False, id="without end"),
        pytest.param(NOW + SECOND, None, False, id="not yet"),
        pytest.param(NOW, None, True, id="expired"),
        pytest.param(None, NOW - SECOND, True, id="revoked"),
        pytest.param(NOW + SECOND, NOW, True, id="revoked before it expired"),
    ],
)
def test_a_token_ends_when_it_expires_or_is_revoked(
    expires_at: datetime | None, revoked_at: datetime | None, *, over: bool
) -> None:
    assert ended(expires_at=expires_at, revoked_at=revoked_at, now=NOW) is over


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        pytest.param(TokenMissingError(), ("--token", "KUNLINE_TOKEN", "Bearer"), id="no token"),
        pytest.param(KeyReusedError("run-1"), ("'run-1'", "another --key"), id="a key used before"),
    ],
)
def test_a_refusal_names_the_option_that_helps(refusal: Exception, words: tuple[str, ...]) -> None:
    assert all(word in str(refusal) for word in words)
