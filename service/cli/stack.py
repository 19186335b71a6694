"""`kunline stack diff`: what sets two stacks apart, defaults that changed in silence included."""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from pydantic import TypeAdapter

from service.cli.columns import aligned
from service.cli.connection import AsJson
from service.cli.exit_codes import USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.plan import WithOption, overrides
from service.cli.runner_side import NoAnswerError, answer_of
from service.cli.stack_host import capture, check
from service.domain.difference import ABSENT
from service.domain.key import short
from service.domain.layer import Layer
from service.domain.stack_difference import ComponentChange, Default, DefaultChanges, OneSided
from service.formats.chosen_stacks import ChosenStack, OverrideError, chosen, with_overrides
from service.formats.identities import BuildOrder
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.stack_differences import (
    DefaultsRead,
    FlagsAnswer,
    FlagsQuestion,
    StackDifference,
)
from service.formats.yaml_file import FileProblemsError

QUESTIONS = TypeAdapter(tuple[FlagsQuestion, ...])
ANSWERS = TypeAdapter(tuple[FlagsAnswer, ...])
# Two builds of half an hour each, and some time to ask what was built.
LIMIT_S = 7800.0
# The component that stands for all that is in a container's image.
IMAGE = "image"

Ask = Callable[[Sequence[FlagsQuestion]], Sequence[FlagsAnswer]]

stacks = typer.Typer(no_args_is_help=True, help="Stacks: what sets two of them apart.")


@stacks.callback()
def stack() -> None:
    """Stacks: what sets two of them apart."""


stacks.command()(capture)
stacks.command()(check)


@stacks.command()
def diff(
    baseline: Annotated[str, typer.Argument(metavar="A", help="A stack of the matrix by name.")],
    candidate: Annotated[str, typer.Argument(metavar="B", help="The stack held to it.")],
    matrix: MatrixOption,
    versions: WithOption = None,
    build: Annotated[
        bool, typer.Option("--build", help="Build environments that are not built here yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show changed components, and server defaults that changed between the two releases.

    The defaults are those of the releases as installed in this host's cache of environments.
    --with changes B. Exit code 0 whatever the difference is.

    For example:

      kunline stack diff cpu-sglang-0.5.18 cpu-sglang-0.5.23

      kunline stack diff cpu-sglang-0.5.18 cpu-sglang-0.5.23 --build --json
    """
    try:
        read = read_matrix(matrix)
        left = chosen(read, baseline)
        right = with_overrides(chosen(read, candidate), overrides(versions or ()))
    except (FileProblemsError, UnknownFileError, OverrideError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    try:
        found = difference(left, right, build=build, ask=asked)
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    if as_json:
        typer.echo(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        typer.echo(page(found))


def difference(left: ChosenStack, right: ChosenStack, *, build: bool, ask: Ask) -> StackDifference:
    """Return how two stacks differ. ask: whatever asks installed releases for their flags.

    Raises NoAnswerError.
    """
    questions = [_question(side, build=build) for side in (left, right)]
    told = iter(ask([question for question in questions if isinstance(question, FlagsQuestion)]))
    answers = [
        next(told) if isinstance(question, FlagsQuestion) else question for question in questions
    ]
    return StackDifference.of(left.stack, right.stack, DefaultsRead.of(*answers))


def asked(questions: Sequence[FlagsQuestion]) -> Sequence[FlagsAnswer]:
    """Ask the runner's side for the flags of installed releases. Raises NoAnswerError."""
    if not questions:
        return ()
    return answer_of(
        "runners.flags",
        question=QUESTIONS.dump_json(tuple(questions)),
        read=ANSWERS.validate_json,
        limit_s=LIMIT_S,
        without="the installed releases could not be asked for their defaults",
    )


def _question(side: ChosenStack, *, build: bool) -> FlagsQuestion | FlagsAnswer:
    """Return what to ask of a stack, or the answer that it cannot be asked."""
    if not isinstance(side.build, BuildOrder) or side.lock is None:
        return FlagsAnswer(unknown=side.obstacle or "its environment is not built by a runner")
    return FlagsQuestion(
        stack=side.stack.name,
        lock=b64encode(side.lock.content),
        torch=side.build.torch,
        platform=side.build.platform,
        build=build,
    )


def page(found: StackDifference) -> str:
    """Return how two stacks differ as a person reads it."""
    pinned = [change for change in found.components if not change.recorded]
    recorded = [change for change in found.components if change.recorded]
    head = " → ".join(
        f"{side.name} ({short(side.key)})" for side in (found.baseline, found.candidate)
    )
    parts = [head]
    listed, untold = _without_image_content(pinned)
    title = f"components, to be restarted: {found.scope}"
    parts += [f"{part}{untold}" for part in _section(title, _component_rows(listed))]
    parts += _section("recorded, outside the key", _component_rows(recorded))
    arguments = [(each.field, each.baseline, each.candidate) for each in found.arguments]
    parts += _section("server arguments and environment that the stacks bring", arguments)
    if not found.components and not found.arguments:
        parts.append("The two stacks pin the same.")
    return "\n\n".join([*parts, *_defaults(found.defaults)])


def _without_image_content(
    changes: Sequence[ComponentChange],
) -> tuple[Sequence[ComponentChange], str]:
    """Return the changes without packages that one side pins and the other's image may hold.

    No stack file lists what is inside an image, so that a package is absent from it is not known.
    """
    of_image = {
        side
        for change in changes
        if change.name == IMAGE
        for side in ("baseline", "candidate")
        if getattr(change, side) != ABSENT
    }
    if len(of_image) != 1:
        return changes, ""
    (side,) = of_image
    hidden = [
        change
        for change in changes
        if change.layer is Layer.PACKAGES and getattr(change, side) == ABSENT
    ]
    told = (
        f"\n  {len(hidden)} more packages are pinned on one side, and the image of the other does"
    )
    told += " not tell whether it has them; --json names them"
    return [change for change in changes if change not in hidden], told if hidden else ""


def _component_rows(changes: Sequence[ComponentChange]) -> list[tuple[str, ...]]:
    return [
        (change.name, change.baseline, change.candidate, str(change.layer), str(change.scope))
        for change in changes
    ]


def _defaults(read: DefaultsRead) -> list[str]:
    if read.changes is None:
        known = [f"Defaults of the server are not known: {why}." for why in read.unknown]
        return ["\n".join([*known, "--build builds what a stack's lock can build."])]
    changes: DefaultChanges = read.changes
    head = (
        f"server defaults, SGLang {read.baseline_release} → {read.candidate_release}, as installed"
    )
    parts = [
        *_section(
            "default changed",
            [
                (f"--{each.flag}", _shown(each.baseline), _shown(each.candidate))
                for each in changes.changed
            ],
        ),
        *_section(
            "renamed", [(f"--{each.baseline}", f"--{each.candidate}") for each in changes.renamed]
        ),
        *_section("added", _one_sided(changes.added)),
        *_section("removed", _one_sided(changes.removed)),
    ]
    return [head, *parts] if parts else [f"{head}: no difference"]


def _one_sided(flags: Sequence[OneSided]) -> list[tuple[str, ...]]:
    return [(f"--{each.flag}", _shown(each.default)) for each in flags]


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a counted title and its rows as one block; nothing where there are none."""
    if not rows:
        return []
    lines = aligned(("",) * len(rows[0]), rows).splitlines()[1:]
    return ["\n".join([f"{title} ({len(rows)})", *(f"  {line}" for line in lines)])]


def _shown(value: Default) -> str:
    """Return a default for a person: what is not given is left to the server to settle."""
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
