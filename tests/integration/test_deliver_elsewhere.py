"""Answers delivered to files, to a workflow's step and to a webhook."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from httpx import Headers

from service.cli.answers.deliver import steps
from service.cli.answers.markdown import markdown
from service.cli.answers.wanted import Wanted
from service.cli.answers.words import Language
from service.formats.gate_answers import GateAnswer
from tests.gate_answers import regressed
from tests.integration.delivering import NOW_S, Process, only_step
from tests.integration.forges import Receiver, standing_in
from tests.tracked_files import ROOT

DOCUMENT = ROOT / "docs/ci/README.md"
SECRET = "a secret of more than sixteen"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with standing_in(server := Receiver()):
        yield server
    assert server.odd == []


def test_a_step_gets_a_summary_behind_what_it_wrote_itself(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    process = Process({"GITHUB_STEP_SUMMARY": str(summary)})
    for step in steps(regressed(), Wanted(github_actions=True), process.around()):
        step.act()

    assert summary.read_text() == f"before\n{markdown(regressed(), Language.EN)}\n"
    assert [line.partition(" ")[0] for line in process.lines] == ["::error", "::error", "::warning"]


def test_a_summary_with_no_room_left_is_not_made_longer(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("x" * (1024 * 1024 - 100))
    process = Process({"GITHUB_STEP_SUMMARY": str(summary)})
    found = steps(regressed(), Wanted(github_actions=True), process.around())

    with pytest.raises(ValueError, match="holds 1048476 bytes"):
        only_step("step", found).act()
    assert summary.stat().st_size == 1024 * 1024 - 100


def verification() -> Callable[[Mapping[str, str], bytes, str, float], bool]:
    """Return the check that docs/ci/README.md shows a receiver."""
    (source,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 — what is told in our own documentation is what is tried
    found: Callable[[Mapping[str, str], bytes, str, float], bool] = names["is_genuine"]
    return found


def test_a_webhook_can_be_verified_by_its_receiver(receiver: Receiver) -> None:
    process = Process({"KUNLINE_WEBHOOK_SECRET": SECRET})
    wanted = Wanted(webhook=f"{receiver.url}/hook")
    only_step("webhook", steps(regressed(), wanted, process.around())).act()
    (request,) = receiver.requests
    genuine = verification()
    now_s = NOW_S + 5.0

    assert genuine(Headers(request.headers), request.body, SECRET, now_s)
    assert not genuine(Headers(request.headers), request.body + b" ", SECRET, now_s)
    assert not genuine(Headers(request.headers), request.body, "x" * 20, now_s)
    assert not genuine(Headers(request.headers), request.body, SECRET, now_s + 400)
    assert not genuine({}, request.body, SECRET, now_s)
    assert GateAnswer.model_validate_json(request.body) == regressed()


def test_a_webhook_that_is_sent_again_has_the_same_delivery(receiver: Receiver) -> None:
    receiver.failures = [502, 503]
    process = Process({"KUNLINE_WEBHOOK_SECRET": SECRET})
    wanted = Wanted(webhook=f"{receiver.url}/hook")
    only_step("webhook", steps(regressed(), wanted, process.around())).act()

    assert len(receiver.requests) == 3
    assert len({each.headers["x-kunline-delivery"] for each in receiver.requests}) == 1


@pytest.mark.parametrize(
    ("url", "secret", "message"),
    [
        pytest.param("http://127.0.0.1:1/hook", "", "needs a secret", id="no secret"),
        pytest.param("http://127.0.0.1:1/hook", "short", "needs a secret", id="a weak one"),
        pytest.param("ftp://a.example", SECRET, "no address of the web", id="no web"),
        pytest.param("http://a:b", SECRET, "no address", id="no address"),
    ],
)
def test_a_webhook_without_address_or_secret_is_not_sent(
    url: str, secret: str, message: str
) -> None:
    process = Process({"KUNLINE_WEBHOOK_SECRET": secret})

    with pytest.raises(ValueError, match=message):
        only_step("webhook", steps(regressed(), Wanted(webhook=url), process.around())).act()


def test_files_are_written_into_folders_that_are_made(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    wanted = Wanted(
        markdown=place / "a.md",
        junit=place / "a.xml",
        answer=place / "a.json",
        language=Language.ZH,
    )
    for step in steps(regressed(), wanted, Process({}).around()):
        step.act()

    assert (place / "a.md").read_text() == markdown(regressed(), Language.ZH)
    assert (place / "a.xml").read_text().startswith("<?xml")
    assert GateAnswer.model_validate_json((place / "a.json").read_text()) == regressed()
