"""Deliver an answer: to files, to GitHub's step, to a pull request and a commit, to a webhook."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from service.cli.answers import webhook
from service.cli.answers.annotations import annotations
from service.cli.answers.junit import junit
from service.cli.answers.markdown import markdown
from service.cli.answers.on_forge import (
    OnForge,
    on_gitee,
    on_github,
    require_gitee,
    require_github,
)
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


def unwritable(wanted: Wanted) -> Iterator[str]:
    """Yield why a file that is wanted cannot be written; nothing is created for that."""
    for path in (wanted.markdown, wanted.junit, wanted.answer):
        if path is None:
            continue
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
        if there != path and not there.is_dir():
            yield f"{path}: {there} is no folder"
        elif there == path and path.is_dir():
            yield f"{path} is a folder"
        elif not os.access(there, os.W_OK):
            yield f"{path}: {there} cannot be written"


def obstacles(wanted: Wanted, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what is known to stand in the way of sending an answer, before there is one."""
    checks: list[tuple[str, bool, Callable[[], object]]] = [
        ("GitHub", wanted.github, lambda: require_github(wanted, environ)),
        ("Gitee", wanted.gitee, lambda: require_gitee(wanted, environ)),
        ("webhook", wanted.webhook is not None, lambda: _require_webhook(wanted, environ)),
        ("step summary", wanted.github_actions, lambda: _require_workflow(environ)),
    ]
    for name, is_wanted, check in checks:
        try:
            if is_wanted:
                check()
        except (OSError, ValueError) as error:
            yield f"{name}: {error}"


def _require_webhook(wanted: Wanted, environ: Mapping[str, str]) -> None:
    webhook.require_sendable(wanted.webhook or "", environ.get(WEBHOOK_SECRET, ""))


def _require_workflow(environ: Mapping[str, str]) -> str:
    name = environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        raise NoWorkflowError("GITHUB_STEP_SUMMARY is not set: --github-actions is for a workflow")
    return name


def _writing(path: Path, text: Callable[[], str]) -> Callable[[], str]:
    def write() -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
        return str(path)

    return write


def _summarise(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> str:
    name = _require_workflow(around.environ)
    with Path(name).open("a", encoding="utf-8") as file:
        room = SUMMARY_BYTES_MAX - file.tell() - 1
        if room < ROOM_BYTES_MIN:
            raise NoRoomError(f"the step's summary holds {file.tell()} bytes already")
        file.write(f"{markdown(answer, wanted.language, most_bytes=room)}\n")
    return name


def _annotate(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> str:
    lines = annotations(answer, wanted.language).splitlines()
    for line in lines:
        around.say(line)
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}"


def _call(answer: GateAnswer, url: str, around: Surroundings) -> str:
    body = answer.model_dump_json().encode()
    secret = around.environ.get(WEBHOOK_SECRET, "")
    webhook.post(url, body, secret=secret, now=around.now, sleep=around.sleep)
    return "taken"


def _forge_steps(name: str, wanted: Wanted, reach: Callable[[], OnForge]) -> Iterator[Step]:
    yield Step(f"comment on {name}", lambda: reach().comment())
    if wanted.check:
        yield Step(f"check on {name}", lambda: reach().check())
