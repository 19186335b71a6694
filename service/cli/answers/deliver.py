"""Deliver an answer: to files, to GitHub's step, to a pull request and a commit, to a webhook."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from service.cli.answers import webhook
from service.cli.answers.annotations import annotations
from service.cli.answers.junit import junit
from service.cli.answers.markdown import markdown
from service.cli.answers.on_forge import OnForge, on_gitee, on_github
from service.cli.answers.wanted import Surroundings, Wanted
from service.formats.gate_answers import GateAnswer

WEBHOOK_SECRET = "KUNLINE_WEBHOOK_SECRET"
# The summary of one step may take this much, whatever else the step wrote into it.
SUMMARY_BYTES_MAX = 1024 * 1024
# Less than this is no room for the sentence and the first rows.
ROOM_BYTES_MIN = 8192


class NoWorkflowError(ValueError):
    """A workflow's file was asked for where no workflow runs."""


class NoRoomError(ValueError):
    """A step wrote so much into its summary that an answer has no room there."""


@dataclass(frozen=True, slots=True)
class Step:
    """One delivery: what it is called, and the act, which returns in words where it arrived."""

    name: str
    act: Callable[[], str]


def steps(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> Iterator[Step]:
    """Yield what is to be done for an answer; each may be repeated and fails by itself."""
    files = (
        (wanted.markdown, lambda: markdown(answer, wanted.language)),
        (wanted.junit, lambda: junit(answer, wanted.language)),
        (wanted.answer, lambda: f"{answer.model_dump_json(indent=2)}\n"),
    )
    for path, text in files:
        if path is not None:
            yield Step(str(path), _writing(path, text))
    if wanted.github_actions:
        yield Step("step summary", lambda: _summarise(answer, wanted, around))
        yield Step("annotations", lambda: _annotate(answer, wanted, around))
    if wanted.github:
        yield from _forge_steps("GitHub", wanted, lambda: on_github(answer, wanted, around))
    if wanted.gitee:
        yield from _forge_steps("Gitee", wanted, lambda: on_gitee(answer, wanted, around))
    if wanted.webhook is not None:
        url = wanted.webhook
        yield Step("webhook", lambda: _call(answer, url, around))


def _writing(path: Path, text: Callable[[], str]) -> Callable[[], str]:
    def write() -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
        return str(path)

    return write


def _summarise(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> str:
    name = around.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        raise NoWorkflowError("GITHUB_STEP_SUMMARY is not set: --github-actions is for a workflow")
    with Path(name).open("a", encoding="utf-8") as file:
        room = SUMMARY_BYTES_MAX - file.tell() - 1
        if room < ROOM_BYTES_MIN:
            raise NoRoomError(f"the step's summary holds {file.tell()} bytes already")
        file.write(f"{markdown(answer, wanted.language, most_bytes=room)}\n")
    return name


def _annotate(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> str:
    lines = annotations(answer, wanted.language)
    for line in lines.splitlines():
        around.say(line)
    return f"{len(lines.splitlines())} lines"


def _call(answer: GateAnswer, url: str, around: Surroundings) -> str:
    body = answer.model_dump_json().encode()
    secret = around.environ.get(WEBHOOK_SECRET, "")
    webhook.post(url, body, secret=secret, now=around.now, sleep=around.sleep)
    return "taken"


def _forge_steps(name: str, wanted: Wanted, reach: Callable[[], OnForge]) -> Iterator[Step]:
    yield Step(f"comment on {name}", lambda: reach().comment())
    if wanted.check:
        yield Step(f"check on {name}", lambda: reach().check())
