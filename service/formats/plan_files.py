"""Plan files: the cells chosen to be measured, and why each."""

from typing import Annotated, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from service.domain.ci_gate import Standing
from service.domain.condition import Cards, Occupancy, Parallelism
from service.domain.plan import card_count
from service.domain.server_arguments import Arguments
from service.formats.ci_gate_sections import GateSection
from service.formats.identities import Name, Seeds
from service.formats.messages import Message
from service.formats.orders import Limits
from service.formats.policy_files import PolicySection
from service.formats.server_sections import ServerSection

MAX_CELLS = 500


class CardsSection(Message):
    """What serves: the chip family of its stacks, card model and form, alone on its host or not."""

    chip: Name
    model: str = Field(min_length=1, max_length=80)
    form: str = Field(min_length=1, max_length=80)
    occupancy: Occupancy = Occupancy.SOLO

    def cards(self, count: int) -> Cards:
        """Return so many of these cards."""
        return Cards(self.model, self.form, count, self.occupancy)


class LayoutSection(Message):
    """How the model is spread over cards: tensor, pipeline, data and expert parallel degrees."""

    tp: PositiveInt = 1
    pp: PositiveInt = 1
    dp: PositiveInt = 1
    ep: PositiveInt = 1
    server: ServerSection = ServerSection()

    @property
    def parallelism(self) -> Parallelism:
        """The degrees."""
        return Parallelism(self.tp, self.pp, self.dp, self.ep)

    def count(self, arguments: Arguments) -> int:
        """Return how many cards it takes under these server arguments."""
        return card_count(self.parallelism, arguments)


class CellSection(Message):
    """A workload at one or more intensities, on some or all layouts, and why it is measured.

    What is left out is the plan's, or the workload's. repeat_s: expected seconds of one repeat.
    standing: whether `kunline gate` counts it, or only shows it.
    """

    workload: Name
    why: str = Field(min_length=8, max_length=400)
    layouts: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    concurrency: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] | None = None
    rate: Annotated[tuple[PositiveFloat, ...], Field(min_length=1)] | None = None
    prompts: PositiveInt | None = None
    model: Name | None = None
    client: Name | None = None
    server: ServerSection = ServerSection()
    repeat_s: NonNegativeFloat | None = None
    standing: Standing = Standing.GATES


def _one_card() -> dict[str, LayoutSection]:
    return {"one-card": LayoutSection()}


class PlanFile(Message):
    """A plan: on which cards, with which model and client, how often, and the cells.

    stacks: those measured when a person names none. baseline: the one the others are held to.
    launches: fresh servers of each stack and layout. repeats: passes of each cell in a launch.
    seeds: one a repeat, the same in every launch, arm and night; 1, 2, … where it is left out.
    start_s: expected start-up, in seconds; the model's where it is left out.
    """

    name: Name
    pool: Name
    cards: CardsSection
    model: Name
    client: Name
    stacks: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    baseline: Name | None = None
    layouts: dict[Name, LayoutSection] = Field(default_factory=_one_card, min_length=1)
    launches: Annotated[int, Field(ge=1, le=100)] = 2
    repeats: Annotated[int, Field(ge=1, le=100)] = 3
    seeds: Seeds | None = None
    server: ServerSection = ServerSection()
    policy: PolicySection = PolicySection()
    gate: GateSection = GateSection()
    limits: Limits = Limits()
    start_s: PositiveFloat | None = None
    cells: Annotated[tuple[CellSection, ...], Field(min_length=1, max_length=MAX_CELLS)]

    @model_validator(mode="after")
    def _has_a_seed_a_repeat(self) -> Self:
        if self.seeds is not None and len(self.seeds) != self.repeats:
            raise ValueError(
                f"{self.repeats} repeats need {self.repeats} seeds, not {len(self.seeds)}"
            )
        return self

    @model_validator(mode="after")
    def _has_a_canary_that_gates(self) -> Self:
        named = [cell for cell in self.cells if cell.workload == self.gate.canary]
        if self.gate.canary and all(cell.standing is Standing.INFORMS for cell in named):
            raise ValueError(
                f"gate.canary {self.gate.canary!r} is no workload of a cell that gates"
            )
        return self

    @property
    def repeat_seeds(self) -> tuple[int, ...]:
        """The seed of each repeat."""
        return self.seeds or tuple(range(1, self.repeats + 1))
