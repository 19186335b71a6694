"""Workload files: the traffic of a cell, but for what its plan chooses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from service.domain.condition import Load, Procedure, Traffic
from service.domain.key import content_key
from service.formats.identities import Name
from service.formats.messages import Message
from service.formats.server_sections import ServerSection

# One spelling a distribution: two would be two conditions.
_LENGTHS = r"^(fixed|uniform\(0\.(0|\d*[1-9]),1\.0\))$"


@dataclass(frozen=True, slots=True)
class Intensity:
    """How hard a workload presses: requests in flight or in the batch, or requests per second."""

    concurrency: int | None = None
    rate: float | None = None


def _arriving(rate: float, seconds: float) -> int:
    """Return how many requests of an open load go on arriving for so long.

    The tool draws the gaps between them: of n the last arrives within n ± √n gaps' time, two times
    of three. Three of these more, and it is later than asked in 999 loads of 1000.
    """
    expected = rate * seconds
    return math.ceil(expected + 3 * math.sqrt(expected))


class WorkloadFile(Message):
    """Traffic: what is sent, how it arrives, and what happens before each repeat.

    prompts: how many at least; prompts_per_concurrency: and this many for each one in flight, so
    that a busier cell reaches its steady state as well. A batch is sent whole, once. lasts_s: of an
    open load, how many seconds its requests go on arriving, at least.
    warmup_requests: as many as are in flight where it is left out; of a batch, how many whole
    batches, and one where it is left out.
    lengths: 'fixed', or drawn between a ratio and the whole: 'uniform(0.5,1.0)'.
    concurrency, rate: where the plan's cell names none. repeat_s: expected seconds of one repeat.
    """

    name: Name
    load: Load
    dataset: Literal["random-ids", "generated-shared-prefix"] = "random-ids"
    input_tokens: PositiveInt
    output_tokens: PositiveInt
    lengths: Annotated[str, Field(pattern=_LENGTHS)] = "fixed"
    concurrency: PositiveInt | None = None
    rate: PositiveFloat | None = None
    prompts: PositiveInt = 30
    prompts_per_concurrency: NonNegativeInt = 0
    shared_prefix_tokens: NonNegativeInt = 0
    ignore_eos: bool = True
    temperature: float = Field(default=0.0, ge=0, le=2)
    cache: Literal["flushed", "kept"] = "flushed"
    warmup_requests: NonNegativeInt | None = None
    server: ServerSection = ServerSection()
    repeat_s: PositiveFloat = 60.0
    lasts_s: PositiveFloat | None = None

    @model_validator(mode="after")
    def _fits_its_load(self) -> Self:
        if self.load is Load.OPEN and self.concurrency is not None:
            raise ValueError("an open load has a rate, not a concurrency")
        if self.load is not Load.OPEN and self.rate is not None:
            raise ValueError(f"a {self.load} load has a concurrency, not a rate")
        if self.load is not Load.OPEN and self.lasts_s is not None:
            raise ValueError(
                f"a {self.load} load is over when its prompts are; only an open one has lasts_s"
            )
        return self

    @model_validator(mode="after")
    def _fits_its_dataset(self) -> Self:
        if self.load is Load.BATCH and (self.lengths, self.dataset) != ("fixed", "random-ids"):
            raise ValueError("a fixed batch is of equal random-ids alone")
        shares = self.dataset == "generated-shared-prefix"
        if shares != (self.shared_prefix_tokens > 0):
            raise ValueError("shared_prefix_tokens and dataset generated-shared-prefix go together")
        if self.shared_prefix_tokens >= self.input_tokens:
            raise ValueError("shared_prefix_tokens is a part of input_tokens")
        return self

    def traffic(
        self, intensity: Intensity, *, prompts: int | None, seeds: Sequence[int]
    ) -> Traffic:
        """Return the traffic of one cell. prompts: the plan's number, or None for this file's."""
        return Traffic(
            load=self.load,
            dataset=self.dataset,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            lengths=self.lengths,
            concurrency=intensity.concurrency,
            rate=intensity.rate,
            prompts=prompts or self._prompts(intensity),
            shared_prefix_tokens=self.shared_prefix_tokens,
            seeds_digest=content_key(list(seeds)),
            ignore_eos=self.ignore_eos,
            temperature=self.temperature,
        )

    def _prompts(self, intensity: Intensity) -> int:
        in_flight = intensity.concurrency or 1
        if self.load is Load.BATCH:
            return in_flight
        arriving = _arriving(intensity.rate or 0.0, self.lasts_s or 0.0)
        return max(self.prompts, self.prompts_per_concurrency * in_flight, arriving)

    def procedure(self, intensity: Intensity) -> Procedure:
        """Return what happens before each repeat."""
        one_round = 1 if self.load is Load.BATCH else (intensity.concurrency or 1)
        warmup = one_round if self.warmup_requests is None else self.warmup_requests
        return Procedure(self.cache, warmup)
