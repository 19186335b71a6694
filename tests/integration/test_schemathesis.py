"""Whatever the description allows may be sent: no request crashes the service."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from service.api.openapi import description
from service.store.database import create_database
from tests.integration import builders, path
from tests.integration.builders import NEW
from tests.integration.databases import Cluster
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
def addresses(
    migrated_file: Path, cluster: Cluster, template: str, tmp_path: Path
) -> Iterator[Sequence[str]]:
    """Serve SQLite and PostgreSQL beside each other: to make requests takes longer than to send."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    name = cluster.create(template=template)
    with ExitStack() as open_things:
        open_things.callback(cluster.drop, name)
        found = []
        for url in (f"sqlite:///{tmp_path / 'kunline.db'}", cluster.url_of(name)):
            engine = create_database(url, connections=40)
            open_things.callback(engine.dispose)
            path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})
            place = tmp_path / engine.dialect.name
            found.append(open_things.enter_context(served(application(engine, place))))
        yield found


@pytest.mark.postgres
@pytest.mark.timeout(300)
def test_no_request_crashes_the_service(addresses: Sequence[str]) -> None:
    failed = [problem for operation in OPERATIONS for problem in _tried(operation, addresses)]

    assert failed == []


def _tried(operation: Any, addresses: Sequence[str]) -> list[str]:
    """Send examples of one operation everywhere, and return what was wrong with the answers."""
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
        for address in addresses:
            answer = case.call(base_url=address, timeout=TIMEOUT_S)
            try:
                case.validate_response(answer, checks=[not_a_server_error])
            except AssertionError as error:
                problems.append(f"{operation.label}: {error}")

    send()
    return problems
