"""How a plan file says what of it gates, and when enough was measured."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt, model_validator

from service.domain.ci_gate import Looks, looks_of
from service.domain.metric import metric_named
from service.formats.identities import Name
from service.formats.messages import Message


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        try:
            metric_named(name)
        except LookupError as error:
            raise ValueError(str(error)) from error
    return names


class GateSection(Message):
    """What `kunline gate` does with a plan.

    canary: the workload that is measured first; of several cells with it the first, and without
    it the first that gates. informing: metrics that are shown and never counted. inconclusive:
    whether an outcome without power blocks; it never passes in silence. fail_fast: end all where
    the canary has regressed, or a launch broke. looks: after how many rounds verdicts are looked
    at; quarters of the plan's launches where it is left out. budget_s: card-seconds at most.
    cached_control_h: how old a measured control may be, in hours, to stand for a new one; 0 for
    none.
    """

    canary: Name | None = None
    informing: Annotated[tuple[str, ...], Field(max_length=40), AfterValidator(_known)] = ()
    inconclusive: Literal["blocks", "passes"] = "blocks"
    fail_fast: bool = True
    looks: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=5)] | None = None
    budget_s: PositiveFloat | None = None
    cached_control_h: Annotated[float, Field(ge=0, le=24 * 30)] = 0.0

    @model_validator(mode="after")
    def _has_rising_looks(self) -> Self:
        if self.looks is not None:
            Looks(self.looks)
        return self

    def looks_of(self, rounds: int) -> Looks:
        """Return the looks for so many rounds; those beyond them are left out."""
        if self.looks is None:
            return looks_of(rounds)
        return Looks((*(each for each in self.looks if each < rounds), rounds))
