"""What a person may say to `kunline gate`, one alias an option; none is passed over in silence."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated
from uuid import UUID

import typer

Plan = Annotated[str, typer.Option("--plan", help="A plan of the matrix by name, or a path.")]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="channel:NAME|stack:NAME",
        help="What the candidate is held to. [default: channel:main]",
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="COMPONENT=WHEEL|git:COMMIT|VERSION",
        help="What the candidate has instead of the base's component; again for more.",
    ),
]
StackNamed = Annotated[
    str | None,
    typer.Option("--stack", help="A stack of its own: by name, or a path to its file."),
]
MergeBase = Annotated[
    str | None,
    typer.Option("--merge-base", help="Hold it to the baseline of this commit, if there is one."),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", help="The branch it is merged into, where git is to tell the merge base."
    ),
]
Source = Annotated[Path, typer.Option("--source", help="The repository that commits are of.")]
OneCell = Annotated[
    str | None,
    typer.Option("--cell", help="Only the cell whose condition key begins like this."),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="20m", help="Most card time: seconds, or with s, m, h."),
]
Local = Annotated[
    bool,
    typer.Option("--local", help="Measure on this machine, with no service running."),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="With --local, where it keeps what it measured."),
]
Detach = Annotated[bool, typer.Option("--detach", help="Print its id and do not wait.")]
Attach = Annotated[UUID | None, typer.Option("--attach", help="Wait for the gate of this id.")]
Wait = Annotated[
    str,
    typer.Option("--patience", metavar="30m", help="How long to wait for a service that is away."),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", help="Asked again with the same key, it is the same gate; such as a run's."
    ),
]

_QUESTION = [
    "plan",
    "base",
    "instead",
    "stack",
    "merge_base",
    "target",
    "source",
    "cell",
    "budget",
    "key",
]
_DELIVERY = [
    "markdown",
    "junit",
    "answer_file",
    "github",
    "gitee",
    "check",
    "github_actions",
    "webhook",
    "must_deliver",
    "repository",
    "pull_request",
    "commit",
    "details_url",
    "comment_key",
]
# Options that are of no use beside another one, and why.
_IDLE = MappingProxyType(
    {
        "attach": (_QUESTION, "--attach waits for a gate that was asked for already"),
        "detach": (
            _DELIVERY,
            "--detach does not wait for the answer: --attach does, and takes them",
        ),
        "local": (
            ["detach", "attach", "url", "token", "patience"],
            "--local has a service of its own, and waits for its end",
        ),
    }
)


def require_all_used(context: typer.Context) -> None:
    """Refuse by name what was given on the command line and would not be looked at.

    What the environment says is meant for any command. Raises typer.BadParameter.
    """
    options = {str(each.name): each.opts[0] for each in context.command.params}
    given = {name: option for name, option in options.items() if _is_given(context, name)}
    for name, (idle, why) in _IDLE.items():
        if context.params.get(name):
            _refuse([given[each] for each in idle if each in given], why)
    if "data_dir" in given and not context.params.get("local"):
        _refuse([given["data_dir"]], "a folder of its own is for --local")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse(options: Sequence[str], why: str) -> None:
    if options:
        raise typer.BadParameter(f"{', '.join(options)} would not be looked at: {why}")
