"""Whatever the description allows may be sent: no request crashes the service."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from sqlalchemy import Engine

from service.api.openapi import description
from tests.integration import builders, path
from tests.integration.builders import NEW
from tests.integration.serving import application, served

EXAMPLES = 20
TIMEOUT_S = 10


def _operation(found: Any) -> Any:
    """Return an operation of the description; one that it cannot read is a failure."""
    return found.ok()


# Tokens come last: once there is one, whoever has none is let in nowhere.
OPERATIONS = sorted(
    (
        _operation(found)
        for found in schemathesis.openapi.from_dict(json.loads(description())).get_all_operations()
    ),
    key=lambda operation: "/tokens" in operation.path,
)


@pytest.fixture
def address(engine: Engine, tmp_path: Path) -> Iterator[str]:
    path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})
    with served(application(engine, tmp_path)) as url:
        yield url


@pytest.mark.timeout(300)
def test_no_request_crashes_the_service(address: str) -> None:
    failed = [problem for operation in OPERATIONS for problem in _tried(operation, address)]

    assert failed == []


def _tried(operation: Any, address: str) -> list[str]:
    """Send examples of one operation, and return what was wrong with the answers."""
    problems: list[str] = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        answer = case.call(base_url=address, timeout=TIMEOUT_S)
        try:
            case.validate_response(answer, checks=[not_a_server_error])
        except AssertionError as error:
            problems.append(f"{operation.label}: {error}")

    send()
    return problems
