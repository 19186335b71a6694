"""The cells of a plan file, with all that its model, workload, client and layouts say of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from pydantic import BaseModel

from service.domain.condition import Condition, Load
from service.domain.plan import Cell, ConflictError, together
from service.formats.client_files import ClientFile
from service.formats.matrix_files import Matrix, Shelf, UnknownFileError
from service.formats.model_files import UNKNOWN_DIGEST, ModelFile
from service.formats.plan_files import MAX_CELLS, CellSection, PlanFile
from service.formats.spelling import hint
from service.formats.workload_files import Intensity, WorkloadFile
from service.formats.yaml_file import FileProblem, FileProblemsError, YamlFile

Shape = TypeVar("Shape", bound=BaseModel)


class _CellError(ValueError):
    """A cell does not fit what it names. place: the field of the cell."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The files that one cell of a plan is made of."""

    section: CellSection
    workload: YamlFile[WorkloadFile]
    model: YamlFile[ModelFile]
    client: YamlFile[ClientFile]


def planned_cells(matrix: Matrix, plan: YamlFile[PlanFile]) -> tuple[Cell, ...]:
    """Return a plan's cells in their order: each on every layout and at every intensity it names.

    Raises FileProblemsError with all that is wrong in the plan and in the files it names.
    """
    problems: list[FileProblem] = []
    cells: list[Cell] = []
    for position, section in enumerate(plan.shape.cells):
        parts, found = _parts(matrix, plan, position, section)
        problems += found
        if parts is None:
            continue
        try:
            cells += _cells(plan, parts)
        except _CellError as error:
            problems.append(plan.problem(str(error), "cells", position, error.field))
        except ConflictError as error:
            problems.append(plan.problem(str(error), "cells", position))
    problems += _twice(plan, cells)
    if len(cells) > MAX_CELLS:
        problems.append(plan.problem(f"{len(cells)} cells, more than {MAX_CELLS}", "cells"))
    if problems:
        raise FileProblemsError(tuple(dict.fromkeys(problems)))
    return tuple(cells)


def _parts(
    matrix: Matrix, plan: YamlFile[PlanFile], position: int, section: CellSection
) -> tuple[_Parts | None, list[FileProblem]]:
    problems: list[FileProblem] = []

    def named(shelf: Shelf[Shape], name: str, *place: str | int) -> YamlFile[Shape] | None:
        try:
            return shelf.named(name)
        except UnknownFileError as error:
            problems.append(plan.problem(str(error), *place))
        except FileProblemsError as error:
            problems.extend(error.problems)
        return None

    here = ("cells", position)
    workload = named(matrix.workloads, section.workload, *here, "workload")
    model = named(
        matrix.models,
        section.model or plan.shape.model,
        *(here if section.model else ()),
        "model",
    )
    client = named(
        matrix.clients,
        section.client or plan.shape.client,
        *(here if section.client else ()),
        "client",
    )
    if workload is None or model is None or client is None:
        return None, problems
    return _Parts(section, workload, model, client), problems


def _cells(plan: YamlFile[PlanFile], parts: _Parts) -> Iterator[Cell]:
    layouts = parts.section.layouts or tuple(plan.shape.layouts)
    for layout in layouts:
        if layout not in plan.shape.layouts:
            known = hint(layout, plan.shape.layouts)
            raise _CellError("layouts", f"no layout {layout!r} in this plan; {known}")
    for layout, intensity in product(layouts, _intensities(parts)):
        yield _cell(plan, parts, layout, intensity)


def _intensities(parts: _Parts) -> tuple[Intensity, ...]:
    section, workload = parts.section, parts.workload.shape
    is_open = workload.load is Load.OPEN
    wrong, right = ("concurrency", "rate") if is_open else ("rate", "concurrency")
    if getattr(section, wrong) is not None:
        raise _CellError(wrong, f"{workload.name} is a {workload.load} load: it has a {right}")
    if is_open:
        rates = section.rate or ((workload.rate,) if workload.rate else ())
        found = tuple(Intensity(rate=rate) for rate in rates)
    else:
        sizes = section.concurrency or ((workload.concurrency,) if workload.concurrency else ())
        found = tuple(Intensity(concurrency=size) for size in sizes)
    if not found:
        raise _CellError("workload", f"{workload.name} has no {right}: name one here")
    return found


def _cell(plan: YamlFile[PlanFile], parts: _Parts, layout: str, intensity: Intensity) -> Cell:
    section, model, workload = parts.section, parts.model.shape, parts.workload.shape
    place = plan.shape.layouts[layout]
    asks = (
        model.server.ask(parts.model.shown),
        workload.server.ask(parts.workload.shown),
        plan.shape.server.ask(plan.shown),
        place.server.ask(f"{plan.shown}, layout {layout}"),
        section.server.ask(f"{plan.shown}, this cell"),
    )
    asked = together(asks)
    seeds = plan.shape.repeat_seeds
    condition = Condition(
        cards=plan.shape.cards.cards(place.count(asked.arguments)),
        parallelism=place.parallelism,
        model=model.served,
        traffic=workload.traffic(intensity, prompts=section.prompts, seeds=seeds),
        procedure=workload.procedure(intensity),
        server_arguments=asked.arguments,
        server_environment=asked.environment,
    )
    return Cell(
        layout=layout,
        workload=workload.name,
        model=model.name,
        client=parts.client.shape.name,
        why=section.why,
        condition=condition,
        protocol=parts.client.shape.protocol(
            workload.load, tokenizer_digest=model.tokenizer_digest or UNKNOWN_DIGEST
        ),
        asks=asks,
        seeds=seeds,
        start_s=plan.shape.start_s or model.start_s,
        repeat_s=workload.repeat_s if section.repeat_s is None else section.repeat_s,
        standing=section.standing,
    )


def _twice(plan: YamlFile[PlanFile], cells: list[Cell]) -> Iterator[FileProblem]:
    seen: set[tuple[str, str, str]] = set()
    for cell in cells:
        identity = (cell.condition.key, cell.protocol.key, cell.client)
        if identity in seen:
            yield plan.problem(
                f"the same cell stands twice: {cell.workload} on {cell.layout}", "cells"
            )
        seen.add(identity)
