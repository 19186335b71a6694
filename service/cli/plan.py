"""`kunline plan`: the cells, the launches and the card time, before anything runs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.columns import aligned, duration
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused
from service.cli.exit_codes import USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.power_table import known_noise, needs_of, power_document, power_page
from service.client import RefusedError, ServiceAwayError, connected
from service.domain.condition import Load, Traffic
from service.domain.difference import differences
from service.domain.key import short
from service.domain.plan import Cell, Launch, server_needs, shared_launches
from service.domain.power import Known
from service.formats.chosen_stacks import OverrideError
from service.formats.matrix_files import Matrix, UnknownFileError, read_matrix, read_plan
from service.formats.plan_files import PlanFile
from service.formats.planned_sessions import PlannedSession, StackChoiceError, plan_session
from service.formats.yaml_file import FileProblemsError, YamlFile

# What sets two servers apart, in words.
SERVER_NEED = MappingProxyType(
    {
        "model": "model",
        "served": "model",
        "client": "client",
        "cards": "cards",
        "parallelism": "parallelism",
        "server_arguments": "server arguments",
        "server_environment": "server environment",
    }
)

PlanArgument = Annotated[
    str, typer.Argument(metavar="PLAN", help="A plan of the matrix by name, or a path to one.")
]
StackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stack", metavar="NAME", help="A stack to measure; again for more. Else the plan's own."
    ),
]
WithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="COMPONENT=VERSION",
        help="Another version of a component of the last stack: a new stack with its own key.",
    ),
]

PowerOption = Annotated[
    float | None,
    typer.Option(
        "--power",
        metavar="P",
        min=0.01,
        max=0.99,
        help="Say what each cell needs to be called rightly with this probability, such as 0.8.",
    ),
]
HostOption = Annotated[
    str | None,
    typer.Option("--host", help="The host whose noise counts; else the noisiest of the known."),
]


def plan(
    name: PlanArgument,
    matrix: MatrixOption,
    stacks: StackOption = None,
    versions: WithOption = None,
    power: PowerOption = None,
    host: HostOption = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what a plan would measure: cells, launches in order, card time. Nothing is started.

    With --power it also says how many launches and repeats each cell needs for its tolerance, and
    what they cost; it asks the service what noise is known, and takes a prior where none is.

    For example:

      kunline plan demo

      kunline plan demo --stack cpu-sglang-0.5.18 --stack cpu-sglang-0.5.23

      kunline plan p800-single --with xccl=3.2.1.6 --json

      kunline plan p800-single --power 0.8
    """
    planned = planned_or_exit(name, matrix=matrix, stacks=stacks or (), versions=versions or ())
    told, shown = document(planned), page(planned)
    if power is not None:
        found = needs_of(planned, _known(planned, host, url, token), wanted=power)
        told["power"] = power_document(planned, found, wanted=power)
        shown = f"{shown}\n\n{power_page(planned, found, wanted=power)}"
    typer.echo(json.dumps(told, indent=2, ensure_ascii=False) if as_json else shown)


def alone_or_exit(name: str, *, matrix: Path, stack: str | None, launches: int) -> PlannedSession:
    """Return a plan's session of one stack alone, launched anew so many times, or exit 2.

    stack: by name; None for the plan's baseline, and without one the first of its stacks.
    """
    with _told_wrong_input():
        read, file = read_matrix_and_plan(name, matrix)
        often = replace(file, shape=file.shape.model_copy(update={"launches": launches}))
        own = file.shape.baseline or next(iter(file.shape.stacks), None)
        chosen = stack or own
        return plan_session(read, often, stacks=[chosen] if chosen else [])


def planned_or_exit(
    name: str,
    *,
    matrix: Path,
    stacks: Sequence[str] = (),
    versions: Sequence[str] = (),
    language: Language = Language.EN,
) -> PlannedSession:
    """Return the session a person asks for; wrong input is told on stderr and exits 2."""
    with _told_wrong_input(language):
        read, file = read_matrix_and_plan(name, matrix)
        return plan_session(read, file, stacks=stacks, overrides=overrides(versions))


def read_matrix_and_plan(name: str, matrix: Path) -> tuple[Matrix, YamlFile[PlanFile]]:
    """Return the matrix and a plan: one of its own by name, or a file anywhere.

    Raises FileProblemsError and UnknownFileError.
    """
    read = read_matrix(matrix)
    is_path = name.endswith(".yaml") or "/" in name
    return read, read_plan(Path(name)) if is_path else read.plans.named(name)


@contextmanager
def _told_wrong_input(language: Language = Language.EN) -> Iterator[None]:
    try:
        yield
    except (FileProblemsError, UnknownFileError, StackChoiceError, OverrideError) as error:
        typer.echo(refused(str(error.args[0]), language), err=True)
        raise typer.Exit(USAGE) from error


def _known(planned: PlannedSession, host: str | None, url: str, token: str | None) -> Known:
    """Return what the service knows of the plan's noise; nothing, and why, where it is away."""
    try:
        with connected(url, token=token) as client:
            return known_noise(client, planned.cells, host=host)
    except ServiceAwayError as error:
        complain(f"{error}\nSo no noise is known, and every spread below is the prior.")
        return {}
    except RefusedError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from error


def overrides(versions: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return 'component=version' texts as pairs. Raises OverrideError."""
    pairs = []
    for text in versions:
        name, equals, version = text.partition("=")
        if not (name and equals and version):
            raise OverrideError(f"--with takes component=version, not {text!r}")
        if "/" in version:
            raise OverrideError(
                f"{text!r} names a path, and here --with takes component=version; a gate takes "
                "wheels (docs/ci-gate.md)"
            )
        pairs.append((name, version.removeprefix("=")))
    return tuple(pairs)


def page(planned: PlannedSession) -> str:
    """Return a planned session as a person reads it."""
    plan_file = planned.plan
    cards = plan_file.cards
    head = (
        f"plan {plan_file.name}: {len(planned.cells)} cells on {cards.model} {cards.form} cards "
        f"({cards.occupancy}) of pool {plan_file.pool}"
    )
    parts = [
        head,
        _section("stacks", _stack_table(planned)),
        _section("cells", _cell_table(planned.cells)),
        _section("why", _why_table(planned.cells)),
        _section("launches, in order", _launch_table(planned)),
        "\n".join(_summary(planned)),
    ]
    return "\n\n".join(parts)


def _section(title: str, table: str) -> str:
    return "\n".join([title, *(f"  {line}" for line in table.splitlines())])


def _stack_table(planned: PlannedSession) -> str:
    rows = [
        (
            stack.stack.name,
            short(stack.stack.key),
            str(stack.file.shape.built_at),
            stack.file.shape.verified.state,
            "baseline" if stack is planned.baseline else "",
        )
        for stack in planned.stacks
    ]
    return aligned(("stack", "key", "built", "state", ""), rows)


def _cell_table(cells: Sequence[Cell]) -> str:
    rows = [
        (
            str(number),
            cell.layout,
            str(cell.condition.cards.count),
            cell.model,
            cell.workload,
            str(cell.condition.traffic.input_tokens),
            str(cell.condition.traffic.output_tokens),
            load(cell.condition.traffic),
            str(cell.condition.traffic.prompts),
        )
        for number, cell in enumerate(cells, start=1)
    ]
    header = ("", "layout", "cards", "model", "workload", "in", "out", "load", "prompts")
    return aligned(header, rows)


def _why_table(cells: Sequence[Cell]) -> str:
    numbers: dict[str, list[int]] = {}
    for number, cell in enumerate(cells, start=1):
        numbers.setdefault(cell.why, []).append(number)
    return aligned(("", ""), [(_ranges(found), why) for why, found in numbers.items()]).lstrip(
        "\n "
    )


def load(traffic: Traffic) -> str:
    """Return how requests arrive, in a word and a number."""
    match traffic.load:
        case Load.OPEN:
            return f"{traffic.rate:g} req/s"
        case Load.BATCH:
            return f"batch of {traffic.concurrency}"
        case Load.CLOSED:
            return f"{traffic.concurrency} in flight"


def _launch_table(planned: PlannedSession) -> str:
    numbers = _numbers(planned.cells)
    rows = [
        (
            str(number),
            launch.stack.name,
            launch.cells[0].layout,
            launch.cells[0].model,
            str(launch.cards),
            _ranges([numbers[id(cell)] for cell in launch.cells]),
            duration(launch.expected_s),
        )
        for number, launch in enumerate(planned.launches, start=1)
    ]
    return aligned(("", "stack", "layout", "model", "cards", "cells", "expected"), rows)


def _numbers(cells: Sequence[Cell]) -> dict[int, int]:
    return {id(cell): number for number, cell in enumerate(cells, start=1)}


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as people write them: 1-4, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _summary(planned: PlannedSession) -> list[str]:
    expected = planned.expected
    plan_file, policy = planned.plan, planned.policy
    lines = [
        f"{len(planned.launches)} launches: {_reason(planned)}.",
        (
            f"{planned.repeats} repeats of a cell on each stack: {plan_file.repeats} in each of "
            f"{plan_file.launches} launches, seeds {' '.join(map(str, plan_file.repeat_seeds))}."
        ),
        (
            f"expected: {duration(expected.wall_s)} and {expected.card_s / 3600:.2f} card-hours, "
            "beside the building of environments that were never built."
        ),
    ]
    if planned.repeats < policy.min_repeats:
        lines.append(f"no verdicts: the policy asks for {policy.min_repeats} repeats.")
    lines += [f"cannot be run yet: {obstacle}." for obstacle in planned.obstacles]
    return lines


def _reason(planned: PlannedSession) -> str:
    """Say why there cannot be fewer launches, naming what sets the groups of cells apart."""
    firsts = [server_needs(group[0]) for group in shared_launches(planned.cells)]
    apart = sorted(
        {
            SERVER_NEED[found.field.partition(".")[0]]
            for needs in firsts[1:]
            for found in differences(firsts[0], needs)
        }
    )
    each = f"{len(planned.stacks)} stacks × {planned.plan.launches} times"
    if len(firsts) == 1:
        return f"one server can serve all cells, so it is {each}; that is the fewest"
    return (
        f"{len(firsts)} servers that differ in {', '.join(apart)} × {each}; cells that can share "
        "a server do, so that is the fewest"
    )


def document(planned: PlannedSession) -> dict[str, object]:
    """Return a planned session as one JSON document."""
    numbers = _numbers(planned.cells)
    expected = planned.expected
    return {
        "plan": planned.plan.name,
        "pool": planned.plan.pool,
        "chip": planned.plan.cards.chip,
        "stacks": [
            {"name": stack.stack.name, "key": stack.stack.key, "obstacle": stack.obstacle}
            for stack in planned.stacks
        ],
        "cells": [_cell_document(cell) for cell in planned.cells],
        "launches": [
            _launch_document(launch, [numbers[id(cell)] for cell in launch.cells])
            for launch in planned.launches
        ],
        "repeats": planned.repeats,
        "min_repeats": planned.policy.min_repeats,
        "seeds": list(planned.plan.repeat_seeds),
        "expected": {"wall_s": expected.wall_s, "card_s": expected.card_s},
        "obstacles": list(planned.obstacles),
    }


def _cell_document(cell: Cell) -> dict[str, object]:
    traffic = cell.condition.traffic
    return {
        "layout": cell.layout,
        "cards": cell.condition.cards.count,
        "model": cell.model,
        "workload": cell.workload,
        "input_tokens": traffic.input_tokens,
        "output_tokens": traffic.output_tokens,
        "load": traffic.load,
        "concurrency": traffic.concurrency,
        "rate": traffic.rate,
        "prompts": traffic.prompts,
        "why": cell.why,
        "condition_key": cell.condition.key,
        "protocol_key": cell.protocol.key,
    }


def _launch_document(launch: Launch, cells: Sequence[int]) -> dict[str, object]:
    return {
        "stack": launch.stack.name,
        "cards": launch.cards,
        "cells": list(cells),
        "server_arguments": dict(launch.server_arguments),
        "server_environment": dict(launch.server_environment),
        "expected_s": launch.expected_s,
    }
