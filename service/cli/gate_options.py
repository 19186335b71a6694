"""What a person may say to `kunline gate`, one alias an option."""

from pathlib import Path
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
