"""`kunline gate report`, and the options by which every gate command delivers its answer."""

import functools
import inspect
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from service.cli.answers.deliver import Step, obstacles, steps, unwritable
from service.cli.answers.marks import log_line
from service.cli.answers.place import Place
from service.cli.answers.text import text
from service.cli.answers.wanted import Surroundings, Wanted
from service.cli.answers.words import Language
from service.cli.connection import AsJson
from service.cli.exit_codes import OPERATIONAL, USAGE
from service.cli.language import Lang
from service.cli.plain import complain, plain
from service.formats.gate_answers import GateAnswer

# A gate has hundreds of cells at most, and a cell takes a few kilobytes.
ANSWER_BYTES_MAX = 64 * 2**20


MarkdownFile = Annotated[
    Path | None,
    typer.Option("--markdown", help="Write the answer as Markdown to this file."),
]
JunitFile = Annotated[
    Path | None, typer.Option("--junit", help="Write the answer as JUnit XML to this file.")
]
AnswerFile = Annotated[
    Path | None, typer.Option("--answer", help="Write the answer as JSON to this file.")
]
OnGitHub = Annotated[
    bool, typer.Option("--github", help="Comment on the pull request, and set a check.")
]
OnGitee = Annotated[bool, typer.Option("--gitee", help="The same on Gitee.")]
WithCheck = Annotated[
    bool,
    typer.Option("--check/--no-check", help="With either, a check as well as the comment."),
]
InWorkflow = Annotated[
    bool, typer.Option("--github-actions", help="Write the step's summary, and annotate.")
]
Webhook = Annotated[
    str | None,
    typer.Option(
        envvar="KUNLINE_WEBHOOK_URL",
        help="POST the answer there, signed with KUNLINE_WEBHOOK_SECRET.",
    ),
]
MustDeliver = Annotated[
    bool, typer.Option("--must-deliver", help="End with 1 where something did not arrive.")
]
Repository = Annotated[
    str | None,
    typer.Option(envvar="KUNLINE_REPOSITORY", help="OWNER/NAME; a workflow tells its own."),
]
PullRequest = Annotated[
    int | None,
    typer.Option(min=1, envvar="KUNLINE_PULL_REQUEST", help="The number of the pull request."),
]
Commit = Annotated[
    str | None,
    typer.Option(envvar="KUNLINE_COMMIT", help="The whole id of the commit under test."),
]
DetailsUrl = Annotated[
    str | None,
    typer.Option(envvar="KUNLINE_DETAILS_URL", help="The build's page, linked by the check."),
]
CommentKey = Annotated[
    str | None,
    typer.Option(help="Tells several gates of one pull request apart; else the plan does."),
]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the delivery options of a command say."""

    wanted: Wanted
    must_deliver: bool = False

    @property
    def language(self) -> Language:
        """What people read."""
        return self.wanted.language

    def summary(self, answer: GateAnswer) -> str:
        """Return an answer as lines for a terminal, in the language that was asked for."""
        return text(answer, self.language)

    def require_possible(self) -> None:
        """Look for what cannot be delivered before hours are measured for it.

        Exits 2 where a file cannot be written, or with --must-deliver where anything cannot; else
        what stands in the way is said, and the gate goes on, as it does where a delivery fails.
        """
        files = list(unwritable(self.wanted))
        sent = list(obstacles(self.wanted, os.environ))
        for obstacle in (*files, *sent):
            complain(f"cannot deliver: {obstacle}")
        if files or (sent and self.must_deliver):
            raise typer.Exit(USAGE)

    def to_files(self) -> "Delivery":
        """Return what is written here, and nothing that is sent: for an answer in between."""
        kept = replace(self.wanted, github=False, gitee=False, github_actions=False, webhook=None)
        return Delivery(kept)

    def deliver(self, answer: GateAnswer, *, as_json: bool = False) -> int:
        """Deliver an answer, say on stderr what arrived and what did not, return the exit code.

        That is the answer's own, or 1 where something did not arrive and --must-deliver was given.
        GitHub's annotations go to stdout, or with as_json to stderr: both are read.
        """

        def say(line: str) -> None:
            typer.echo(line, err=as_json)

        around = Surroundings(environ=os.environ, now=time.time, sleep=time.sleep, say=say)
        failed = [step.name for step in steps(answer, self.wanted, around) if not _taken(step)]
        if not (failed and self.must_deliver):
            return answer.exit_code
        complain(
            f"not delivered: {', '.join(failed)}; this ends with {OPERATIONAL} for --must-deliver, "
            f"the gate itself is {answer.outcome} ({answer.exit_code})"
        )
        return OPERATIONAL


def with_delivery(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the delivery options added; it takes them as one `delivery`."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.name != "delivery"]
    added = list(inspect.signature(_delivery, eval_str=True).parameters.values())

    @functools.wraps(command)
    def whole(**given: object) -> None:
        options = {each.name: given.pop(each.name) for each in added}
        command(**given, delivery=_delivery(**options))  # type: ignore[arg-type]

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *added)]
    whole.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {each.name: each.annotation for each in parameters}
    return whole


def _delivery(
    *,
    markdown: MarkdownFile = None,
    junit: JunitFile = None,
    answer_file: AnswerFile = None,
    lang: Lang = Language.EN,
    github: OnGitHub = False,
    gitee: OnGitee = False,
    check: WithCheck = True,
    github_actions: InWorkflow = False,
    webhook: Webhook = None,
    must_deliver: MustDeliver = False,
    repository: Repository = None,
    pull_request: PullRequest = None,
    commit: Commit = None,
    details_url: DetailsUrl = None,
    comment_key: CommentKey = None,
) -> Delivery:
    """Return what the options say. Exits 2 where they contradict each other."""
    if github and gitee:
        raise typer.BadParameter(
            "--github and --gitee name one repository each: `kunline gate report` delivers the "
            "same answer again to the other"
        )
    wanted = Wanted(
        language=lang,
        markdown=markdown,
        junit=junit,
        answer=answer_file,
        github=github,
        gitee=gitee,
        check=check,
        github_actions=github_actions,
        webhook=webhook or None,
        place=Place(repository or None, pull_request, commit or None, details_url or None),
        key=comment_key or None,
    )
    return Delivery(wanted, must_deliver=must_deliver)


@with_delivery
def report(
    answer: Annotated[Path, typer.Argument(metavar="ANSWER", help="What --answer wrote.")],
    *,
    delivery: Delivery,
    as_json: AsJson = False,
) -> None:
    """Show and deliver a gate's answer again: nothing is measured, and nothing is judged anew.

    Ends as the gate did: 0 unchanged or improved, 3 regressed, 4 inconclusive, 5 broken, invalid or
    missing, 6 not comparable; 1 where --must-deliver was given and something did not arrive.

    For example:

      kunline gate report answer.json --markdown answer.md --junit answer.xml --github
    """
    found = read_answer(answer)
    typer.echo(found.model_dump_json(indent=2) if as_json else delivery.summary(found))
    raise typer.Exit(delivery.deliver(found, as_json=as_json))


def read_answer(path: Path) -> GateAnswer:
    """Return the answer in a file. Exits 2 with a sentence where it holds none."""
    try:
        with path.open("rb") as file:
            return GateAnswer.model_validate_json(file.read(ANSWER_BYTES_MAX))
    except OSError as error:
        complain(f"cannot read {path}: {error.strerror}")
        raise typer.Exit(USAGE) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        complain(f"{path} is no answer of `kunline gate`: {where}: {first['msg']}")
        raise typer.Exit(USAGE) from error


def _taken(step: Step) -> bool:
    """Return whether a delivery arrived, and say so on stderr either way."""
    try:
        where = step.act()
    except (OSError, ValueError) as error:
        typer.echo(log_line(f"kunline: not delivered: {step.name}: {error}"), err=True)
        return False
    if where != step.name:
        typer.echo(plain(f"kunline: {step.name}: {where}"), err=True)
    return True
