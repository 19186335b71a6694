"""Condition files: the whole condition and protocol of results that were measured elsewhere."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, PositiveFloat, PositiveInt, model_validator

from service.domain.condition import Cards, Condition, Load, Occupancy, Traffic
from service.domain.key import content_key
from service.domain.metric import METRIC_REVISION
from service.domain.plan import ConflictError, together
from service.domain.protocol import Protocol
from service.formats.client_files import ClientFile
from service.formats.identities import Name, Seeds
from service.formats.matrix_files import Matrix, Shelf, UnknownFileError
from service.formats.messages import Message
from service.formats.model_files import UNKNOWN_DIGEST, ModelFile
from service.formats.plan_files import LayoutSection
from service.formats.server_sections import ServerSection
from service.formats.workload_files import Intensity, WorkloadFile
from service.formats.yaml_file import FileProblem, FileProblemsError, YamlFile, read_yaml

Shape = TypeVar("Shape", bound=BaseModel)

UNKNOWN = "unknown"
SUFFIX = ".yaml"


def _known(value: object) -> object:
    if value == UNKNOWN:
        return None
    # A validator of our own comes after the text was read, where strictness wants the tuple itself.
    return tuple(value) if isinstance(value, list) else value


StatedSeeds = Annotated[Seeds | None, BeforeValidator(_known)]


class MeasuredOn(Message):
    """The cards that served. count: as many as the layout takes where it is left out."""

    model: str = Field(min_length=1, max_length=80)
    form: str = Field(min_length=1, max_length=80)
    count: PositiveInt | None = None
    occupancy: Occupancy = Occupancy.SOLO


class MeasuredBy(Message):
    """The tool that measured, by the name that `kunline read` gives it, and its release."""

    tool: str = Field(min_length=1, max_length=80)
    version: str = Field(min_length=1, max_length=80)


class ConditionFile(Message):
    """What was held constant while results were measured, and how they were.

    model, workload, client: a name in the matrix, or the path of a file of the same shape, which
    ends in .yaml and is seen from here. measured_by: in place of a client. served_as: what the
    result files call the model, where that is not how its id ends. dataset, lengths, prompts,
    concurrency, rate: where they are not the workload's. seeds: what the client was given, in
    order, one a repeat; 'unknown' is equal to unknown alone.
    """

    model: str
    served_as: str | None = Field(default=None, min_length=1, max_length=200)
    workload: str
    client: str | None = None
    measured_by: MeasuredBy | None = None
    cards: MeasuredOn
    layout: LayoutSection = LayoutSection()
    concurrency: PositiveInt | None = None
    rate: PositiveFloat | None = None
    prompts: PositiveInt | None = None
    dataset: Name | None = None
    lengths: str | None = Field(default=None, min_length=1, max_length=80)
    seeds: StatedSeeds
    server: ServerSection = ServerSection()

    @model_validator(mode="after")
    def _has_one_client(self) -> Self:
        if (self.client is None) == (self.measured_by is None):
            raise ValueError("say either client or measured_by, and not both")
        return self

    @property
    def seeds_digest(self) -> str:
        """What the condition holds of the seeds."""
        return UNKNOWN if self.seeds is None else content_key(list(self.seeds))


@dataclass(frozen=True, slots=True)
class StatedCondition:
    """A condition file with all that it names put in. unknown: what even it leaves open."""

    condition: Condition
    protocol: Protocol
    served_as: str | None
    unknown: tuple[str, ...]


def read_condition(path: Path, matrix: Matrix) -> StatedCondition:
    """Return what a condition file states. Raises FileProblemsError with all that is wrong."""
    file = read_yaml(path, ConditionFile)
    shape, problems = file.shape, list[FileProblem]()
    model = _named(file, matrix.models, ModelFile, ("model", shape.model), problems)
    workload = _named(file, matrix.workloads, WorkloadFile, ("workload", shape.workload), problems)
    client = None
    if shape.client is not None:
        client = _named(file, matrix.clients, ClientFile, ("client", shape.client), problems)
    if problems or model is None or workload is None:
        raise FileProblemsError(problems)
    return StatedCondition(
        condition=_condition(file, model, workload),
        protocol=_protocol(shape, model.shape, workload.shape, client.shape if client else None),
        served_as=shape.served_as,
        unknown=tuple(_unknown(shape, model.shape)),
    )


def _named(
    file: YamlFile[ConditionFile],
    shelf: Shelf[Shape],
    shape: type[Shape],
    field: tuple[str, str],
    problems: list[FileProblem],
) -> YamlFile[Shape] | None:
    """Return the file that a field names, in the matrix or beside it; else add to the problems."""
    place, name = field
    try:
        if name.endswith(SUFFIX):
            return read_yaml(Path(file.shown).parent / name, shape)
        return shelf.named(name)
    except UnknownFileError as error:
        problems.append(file.problem(f"{error.args[0]}; or give a path that ends in .yaml", place))
    except FileProblemsError as error:
        problems.extend(error.problems)
    return None


def _condition(
    file: YamlFile[ConditionFile], model: YamlFile[ModelFile], workload: YamlFile[WorkloadFile]
) -> Condition:
    shape, intensity = file.shape, _intensity(file, workload.shape)
    asks = (
        model.shape.server.ask(model.shown),
        workload.shape.server.ask(workload.shown),
        shape.layout.server.ask(f"{file.shown}, layout"),
        shape.server.ask(file.shown),
    )
    try:
        asked = together(asks)
        taken = shape.layout.count(asked.arguments)
    except ConflictError as error:
        raise FileProblemsError([file.problem(str(error), "server")]) from error
    cards = shape.cards
    return Condition(
        cards=Cards(cards.model, cards.form, cards.count or taken, cards.occupancy),
        parallelism=shape.layout.parallelism,
        model=model.shape.served,
        traffic=_traffic(shape, workload.shape, intensity),
        procedure=workload.shape.procedure(intensity),
        server_arguments=asked.arguments,
        server_environment=asked.environment,
    )


def _intensity(file: YamlFile[ConditionFile], workload: WorkloadFile) -> Intensity:
    shape, is_open = file.shape, workload.load is Load.OPEN
    wrong, right = ("concurrency", "rate") if is_open else ("rate", "concurrency")
    if getattr(shape, wrong) is not None:
        message = f"{workload.name} is a {workload.load} load: it has a {right}"
        raise FileProblemsError([file.problem(message, wrong)])
    found = getattr(shape, right) or getattr(workload, right)
    if found is None:
        message = f"{workload.name} has no {right}: name one here"
        raise FileProblemsError([file.problem(message, right)])
    return Intensity(rate=found) if is_open else Intensity(concurrency=found)


def _traffic(shape: ConditionFile, workload: WorkloadFile, intensity: Intensity) -> Traffic:
    asked = workload.traffic(intensity, prompts=shape.prompts, seeds=())
    return replace(
        asked,
        dataset=shape.dataset or asked.dataset,
        lengths=shape.lengths or asked.lengths,
        seeds_digest=shape.seeds_digest,
    )


def _protocol(
    shape: ConditionFile, model: ModelFile, workload: WorkloadFile, client: ClientFile | None
) -> Protocol:
    digest = model.tokenizer_digest or UNKNOWN_DIGEST
    if client is not None:
        return client.protocol(workload.load, tokenizer_digest=digest)
    tool = shape.measured_by or MeasuredBy(tool=UNKNOWN, version=UNKNOWN)
    return Protocol(tool.tool, tool.version, digest, METRIC_REVISION)


def _unknown(shape: ConditionFile, model: ModelFile) -> list[str]:
    """Return what is stated as unknown: two unknowns count as equal, and may not be."""
    found = []
    if model.weights_digest is None:
        found.append(f"the weights of {model.name} by their digest: they are known by name alone")
    if model.tokenizer_digest is None:
        found.append(f"the tokenizer of {model.name} by its digest")
    if shape.seeds is None:
        found.append("the seeds")
    return found
