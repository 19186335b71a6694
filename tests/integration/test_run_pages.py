"""What the page of a run asks besides the run: its launch, its texts, what its keys stand for."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from tests.integration import builders, path
from tests.integration.builders import NEW, OLD, PROTOCOL
from tests.integration.pages import get, pages

TEXT = b"first line\nERROR: it broke\nthird line\r\nerror again\n"
DIGEST = sha256(TEXT).hexdigest()


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    with pages(engine, tmp_path) as client:
        yield client


def test_a_launch_says_what_was_seen_of_it(engine: Engine, http: TestClient) -> None:
    path.submit(engine, builders.session_order())
    job = path.claimed(engine)
    seen = {**job.stack.stack.versions, "sglang": "0.5.99"}
    path.tell_launch(engine, builders.launch_report(job, observed=seen, answer=(-1.5,)))

    launch = get(http, f"/launches/{UUID(int=1)}")

    (drifted,) = launch["drift"]
    assert (drifted["field"], drifted["candidate"]) == ("sglang", "0.5.99")
    assert (launch["stack_name"], launch["host"], launch["answer"]) == (OLD.name, "h1", [-1.5])
    assert launch["resolution"] == {"attention_backend": "torch_native"}


@pytest.fixture
def text(http: TestClient) -> TestClient:
    """Store a text of four lines."""
    stored = http.put(
        f"/api/v1/artefacts/{DIGEST}",
        content=TEXT,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert stored.status_code == 200
    return http


@pytest.mark.parametrize(
    ("asked", "numbers", "matches", "cursor"),
    [
        pytest.param({}, [1, 2, 3, 4], 4, None, id="all"),
        pytest.param({"limit": 2}, [1, 2], 4, 3, id="the first page"),
        pytest.param({"limit": 2, "begin": 3}, [3, 4], 4, None, id="the last page"),
        pytest.param({"search": "error"}, [2, 4], 2, None, id="words in any case"),
        pytest.param({"search": "error", "limit": 1}, [2], 2, 4, id="the first line with words"),
        pytest.param({"search": "nowhere"}, [], 0, None, id="words that no line holds"),
        pytest.param({"begin": 99}, [], 4, None, id="beyond the end"),
    ],
)
def test_a_text_is_read_by_its_lines(
    text: TestClient,
    asked: dict[str, object],
    numbers: list[int],
    matches: int,
    cursor: int | None,
) -> None:
    page = get(text, f"/artefacts/{DIGEST}/lines", **asked)

    assert [line["number"] for line in page["lines"]] == numbers
    assert (page["matches"], page["lines_total"], page["cursor"]) == (matches, 4, cursor)


def test_a_line_is_shown_without_its_end(text: TestClient) -> None:
    page = get(text, f"/artefacts/{DIGEST}/lines")

    assert page["lines"][2]["text"] == "third line"


def test_two_stacks_differ_by_component(engine: Engine, http: TestClient) -> None:
    path.submit(engine, builders.session_order())

    found = get(http, f"/stacks/{OLD.key[:12]}/diff/{NEW.key[:12]}")

    (change,) = found["components"]
    assert (change["name"], change["scope"], found["scope"]) == ("sglang", "process", "process")
    assert found["defaults"]["changes"] is None


def test_a_protocol_is_under_its_key(engine: Engine, http: TestClient) -> None:
    path.submit(engine, builders.session_order())

    found = get(http, f"/protocols/{PROTOCOL.key}")

    assert found["protocol"]["client_version"] == "0.5.23"


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(f"/launches/{uuid4()}", id="launch"),
        pytest.param(f"/protocols/{'0' * 64}", id="protocol"),
        pytest.param(f"/artefacts/{'0' * 64}/lines", id="text"),
        pytest.param(f"/stacks/{'0' * 64}/diff/{'1' * 64}", id="stacks"),
    ],
)
def test_what_is_not_there_is_404(http: TestClient, address: str) -> None:
    assert http.get(f"/api/v1{address}").status_code == 404
