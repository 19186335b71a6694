"""`kunline stack capture` and `stack check`: what a host has, as a stack file and held to one."""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import ValidationError

from service.cli.columns import aligned
from service.cli.connection import AsJson
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.runner_side import NoAnswerError, answer_of
from service.domain.difference import ABSENT
from service.domain.key import short
from service.domain.stack import UNKNOWN, UNKNOWN_PERMISSION, Component, Stack, SwapScope, drift
from service.domain.verdict import Outcome
from service.formats.build_sections import BuildSection, HostSection
from service.formats.chosen_stacks import ChosenStack, chosen, chosen_file
from service.formats.launch_sections import LAUNCHER
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.observed_stacks import ObservedAnswer, ObservedQuestion
from service.formats.stack_files import StackFile
from service.formats.yaml_file import FileProblemsError

# A probe of its own limit, and an environment's first import from a cold disk.
LIMIT_S = 600.0
NOT_ASKED = "the host could not be asked for its components"
UNSEEN = frozenset({UNKNOWN, UNKNOWN_PERMISSION})
DRIFTED, MISSING, NOT_SEEN = "drifted", "missing", "not seen"

Ask = Callable[[ObservedQuestion], ObservedAnswer]

PythonOption = Annotated[
    str | None,
    typer.Option("--python", help="The Python that serves; by default that of the stack's build."),
]
ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        help="A module that this Python imports first, such as torch_xmlir: it loads the chip's "
        "libraries, so name none while others measure. Repeat it.",
    ),
]
PidOption = Annotated[
    int | None, typer.Option("--pid", min=1, help="A live server, whose libraries are told.")
]


def capture(
    name: Annotated[str, typer.Argument(help="The new stack's name, and that of its file.")],
    python: Annotated[str, typer.Option("--python", help="The Python that serves, by path.")],
    chip: Annotated[str, typer.Option("--chip", help="The chip it serves on.")] = "kunlun",
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to write NAME.yaml into; else print.")
    ] = None,
    built_at: Annotated[
        datetime | None,
        typer.Option("--built-at", formats=["%Y-%m-%d"], help="When it was put together: today."),
    ] = None,
    imports: ImportOption = None,
    pid: PidOption = None,
) -> None:
    """Write down the stack of a working host: every component that can be found out.

    What cannot be seen is recorded and not pinned. A file that is there already is left alone.

    For example:

      kunline stack capture our-p800 --python /opt/conda/bin/python --import torch_xmlir

      kunline stack capture our-cpu --python .venv/bin/python --chip cpu --out matrix/stacks
    """
    day = (built_at or datetime.now(UTC)).date()
    try:
        answer = asked(
            ObservedQuestion(chip=chip, python=python, imports=tuple(imports or ()), pid=pid)
        )
        text = captured(answer, name=name, chip=chip, built_at=day)
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    except ValidationError as error:
        complain(f"{name} is no stack's name, or {chip} no chip's: {error.error_count()} problems")
        raise typer.Exit(USAGE) from error
    for problem in answer.problems:
        complain(problem)
    if out is None:
        typer.echo(text, nl=False)
        return
    path = out / f"{name}.yaml"
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except (FileExistsError, FileNotFoundError) as error:
        complain(f"{path}: {error.strerror}; nothing was written")
        raise typer.Exit(USAGE) from error
    typer.echo(str(path))


def check(
    stack: Annotated[str, typer.Argument(help="A stack of the matrix by name, or a stack file.")],
    matrix: MatrixOption,
    python: PythonOption = None,
    imports: ImportOption = None,
    pid: PidOption = None,
    as_json: AsJson = False,
) -> None:
    """Say what this host lacks for a stack, component by component.

    Exit code 0 when every pin that can be seen is as pinned, 5 when one is not, 1 when this host
    could not be asked. What cannot be seen is listed and counts as neither.

    For example:

      kunline stack check p800-sglang-kunlun-recipe --python python3 --import torch_xmlir

      kunline stack check matrix/stacks/cpu-sglang-0.5.23.yaml --json
    """
    try:
        wanted = _wanted(stack, matrix)
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    try:
        answer = asked(question_of(wanted, python=python, imports=imports or (), pid=pid))
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    rows = lacking(wanted.stack, answer)
    if as_json:
        typer.echo(json.dumps(_document(wanted.stack, answer, rows), indent=2, ensure_ascii=False))
    else:
        typer.echo(page(wanted.stack, answer, rows))
    bad = any(state != NOT_SEEN for state, *_ in rows)
    raise typer.Exit(EXIT_CODE[Outcome.BROKEN] if bad else DONE)


def asked(question: ObservedQuestion) -> ObservedAnswer:
    """Ask the runner's side what this host has. Raises NoAnswerError."""
    answer = answer_of(
        "runners.capture",
        question=question.model_dump_json().encode(),
        read=ObservedAnswer.model_validate_json,
        limit_s=LIMIT_S,
        without=NOT_ASKED,
    )
    if answer.unknown:
        raise NoAnswerError(f"{NOT_ASKED}: {answer.unknown}")
    return answer


def question_of(
    wanted: ChosenStack, *, python: str | None, imports: Sequence[str], pid: int | None
) -> ObservedQuestion:
    """Return what to ask a host that a stack is held to; its own build names the Python."""
    build = wanted.file.shape.build
    if python is None and isinstance(build, HostSection):
        python = build.python
    venv = build if isinstance(build, BuildSection) else None
    return ObservedQuestion(
        chip=wanted.file.shape.chip,
        python=python,
        lock=b64encode(wanted.lock.content) if wanted.lock else None,
        torch=venv.torch if venv else None,
        platform=venv.platform if venv else None,
        imports=tuple(imports),
        pid=pid,
    )


def captured(answer: ObservedAnswer, *, name: str, chip: str, built_at: date) -> str:
    """Return a stack file of what was observed. Raises ValidationError for a wrong name."""
    components = [
        {
            "name": each.name,
            **({} if each.version in UNSEEN else {"version": each.version}),
            **({"recorded": True} if each.recorded or each.version in UNSEEN else {}),
            "layer": each.layer.value,
            "scope": each.scope.value,
        }
        for each in answer.components
    ]
    document: dict[str, Any] = {
        "name": name,
        "chip": chip,
        "built_at": built_at.isoformat(),
        "build": {"kind": "host", "python": answer.python},
        "components": components,
        "server": {"arguments": {}, "environment": {}},
        "verified": {
            "state": "unverified",
            "note": "Captured from a host by kunline stack capture; what it serves was not looked "
            "at. The server's arguments and environment are still to be written down.",
        },
    }
    StackFile.model_validate_json(json.dumps(document), strict=True)
    # A day stands bare in these files, and is quoted where it is text.
    document["built_at"] = built_at
    return yaml.safe_dump(
        document, sort_keys=False, allow_unicode=True, width=160, default_flow_style=None
    )


def lacking(stack: Stack, answer: ObservedAnswer) -> list[tuple[str, str, str, str]]:
    """Return state, component, what the stack pins and what is here, for every pin not met.

    A program that starts the server is no version that drifts: whether it is there is looked at
    when it is started.
    """
    observed = {each.name: each.version for each in answer.components}
    packages = {
        component.name: ABSENT
        for component in stack.components
        if component.name not in observed and _is_installed(component)
    }
    found = drift(stack, {**observed, **packages})
    rows = [
        (
            MISSING if each.candidate == ABSENT else DRIFTED,
            each.field,
            each.baseline,
            each.candidate,
        )
        for each in found
    ]
    rows += [
        (NOT_SEEN, component.name, component.version, observed.get(component.name, UNKNOWN))
        for component in stack.components
        if not component.recorded
        and component.name not in packages
        and observed.get(component.name, UNKNOWN) in UNSEEN
    ]
    return rows


def _is_installed(component: Component) -> bool:
    """Return whether a component would have been seen if it were there: a package."""
    is_package = component.scope is SwapScope.PROCESS and component.name != LAUNCHER
    return is_package and not component.recorded


def page(stack: Stack, answer: ObservedAnswer, rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Return what a host lacks as a person reads it."""
    pinned = sum(1 for component in stack.components if not component.recorded)
    bad = sum(1 for state, *_ in rows if state != NOT_SEEN)
    unseen = len(rows) - bad
    head = f"stack {stack.name} ({short(stack.key)}) on this host, {answer.python}"
    parts = [head]
    if rows:
        parts.append(aligned(("", "component", "pinned", "here"), rows))
    parts += [f"problem: {problem}" for problem in answer.problems]
    parts.append(
        f"{pinned - len(rows)} of {pinned} pins are as pinned, {bad} are not, {unseen} not seen"
    )
    return "\n\n".join(parts)


def _wanted(stack: str, matrix: Path) -> ChosenStack:
    if stack.endswith(".yaml"):
        return chosen_file(Path(stack))
    return chosen(read_matrix(matrix), stack)


def _document(
    stack: Stack, answer: ObservedAnswer, rows: Sequence[tuple[str, str, str, str]]
) -> dict[str, Any]:
    return {
        "stack": stack.name,
        "stack_key": stack.key,
        "python": answer.python,
        "lacking": [
            {"state": state, "component": name, "pinned": pinned, "here": here}
            for state, name, pinned, here in rows
        ],
        "problems": list(answer.problems),
        "observed": {each.name: each.version for each in answer.components},
    }
