"""The condition: all that is held constant between two comparable runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from service.domain.key import content_key
from service.domain.server_arguments import Arguments, normalised


class Occupancy(StrEnum):
    """Whether other work may share the host's cards while a cell is measured."""

    SOLO = "solo"
    PACKED = "packed"


class Load(StrEnum):
    """How requests reach the server."""

    CLOSED = "closed"
    OPEN = "open"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Cards:
    """The accelerators that serve: what they are, and how many."""

    model: str
    form: str
    count: int
    occupancy: Occupancy = Occupancy.SOLO


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How a model is spread over cards: tensor, pipeline, data and expert parallel degrees."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The weights and the precision they are served in.

    weights_digest: SHA-256 over config, tokenizer, shard index, safetensors headers and sizes.
    """

    id: str
    weights_digest: str
    quantization: str
    dtype: str
    kv_dtype: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is sent, and how.

    input_tokens, output_tokens: tokens of one request. lengths: 'fixed', or 'uniform(low,high)'
    as ratios of the two. concurrency: requests in flight of a closed load, or the batch's size.
    rate: requests per second of an open load. shared_prefix_tokens: tokens all prompts begin with.
    seeds_digest: content key of the ordered seeds, one seed a repeat.
    """

    load: Load
    dataset: str
    input_tokens: int
    output_tokens: int
    lengths: str
    concurrency: int | None
    rate: float | None
    prompts: int
    shared_prefix_tokens: int
    seeds_digest: str
    ignore_eos: bool
    temperature: float


@dataclass(frozen=True, slots=True)
class Procedure:
    """What happens between start-up and a repeat.

    cache: 'flushed' before every repeat, or 'kept'. warmup_requests: sent before every repeat.
    """

    cache: str
    warmup_requests: int


@dataclass(frozen=True)
class Condition:
    """Everything two comparable runs share; it never includes a stack.

    server_arguments, server_environment: only what model, workload or plan ask for, normalised.
    Two conditions compare when their keys are equal, and never otherwise.
    """

    cards: Cards
    parallelism: Parallelism
    model: ServedModel
    traffic: Traffic
    procedure: Procedure
    server_arguments: Arguments = field(default_factory=dict)
    server_environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "server_arguments", normalised(self.server_arguments))
        object.__setattr__(
            self, "server_environment", dict(sorted(self.server_environment.items()))
        )

    @cached_property
    def key(self) -> str:
        """The content key: SHA-256 of the condition's canonical JSON."""
        return content_key(self)

    @cached_property
    def key_but_load(self) -> str:
        """A key that two conditions share when nothing but the amount of their load differs.

        How many prompts are sent goes with the load, and is no difference.
        """
        traffic = replace(self.traffic, concurrency=None, rate=None, prompts=0)
        return content_key(replace(self, traffic=traffic))

    @cached_property
    def key_but_cards(self) -> str:
        """A key that two conditions share when they differ in their tensor parallel cards alone.

        How a model is spread otherwise is kept: several changes at once scale nothing.
        """
        one = replace(self.cards, count=1)
        spread = replace(self.parallelism, tp=1)
        return content_key(replace(self, cards=one, parallelism=spread))
