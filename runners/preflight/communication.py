"""What decides the messages between the cards of a launch: the model's shape and the links."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runners.preflight.capacity import config_of, value_bytes
from service.domain.condition import Condition
from service.domain.resolution import Fact
from service.formats.communications import CommunicationSeen

CHUNK = "chunked_prefill_size"


@dataclass(slots=True)
class Heard:
    """How fast messages between the cards are, once their check was made.

    seconds: of an all-reduce, by its size in bytes. links: bytes per second, by two card numbers.
    """

    seconds: Mapping[int, float] = field(default_factory=dict)
    links: Mapping[tuple[int, int], float] = field(default_factory=dict)


def seen(
    folder: Path, condition: Condition, settled: Mapping[str, Fact], heard: Heard
) -> CommunicationSeen | None:
    """Return what was seen before and at a launch, for the service to estimate from.

    None on one card, where nothing was measured, and for a model whose config does not tell its
    shape. settled: what the server told of itself.
    """
    config = config_of(folder)
    shape = [config.get(name) for name in ("hidden_size", "num_hidden_layers", "vocab_size")]
    size = value_bytes(config, condition.model.dtype)
    chunk = settled.get(CHUNK)
    if not heard.seconds or size is None or not all(isinstance(each, int) for each in shape):
        return None
    hidden, layers, vocabulary = shape
    return CommunicationSeen(
        ranks=condition.parallelism.tp,
        hidden=hidden,
        layers=layers,
        vocabulary=vocabulary,
        value_bytes=size,
        seconds=dict(heard.seconds),
        links={f"{one}-{other}": speed for (one, other), speed in heard.links.items()},
        chunk=chunk if isinstance(chunk, int) and chunk > 0 else None,
    )
