"""What cards of one layout tell each other in a forward pass, and how long that should take.

Tensor parallelism sums after the attention and after the feed-forward part of every layer, and once
after the embedding; at the end it gathers each card's part of the vocabulary. Every sum is over
tokens x hidden values. Source: SGLang's RowParallelLinear, VocabParallelEmbedding and
LogitsProcessor, alike from 0.4 to 0.5.23; a release or a flag that fuses or spreads them (sequence
parallelism, attention per data parallel rank) sends other messages, and is told as not estimated.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median

SUMS_PER_LAYER = 2
# A message that takes up to this many times as long as the smallest one is paid for by the piece.
LATENCY_BOUND = 2.0
# A link below this share of the median of its peers is named; our choice.
SLOWER_LINK = 0.7
# Below this one it has fallen back to another way: no measurement over it means anything.
BROKEN_LINK = 0.25
# Fewer links of a kind have no peers to be told from.
LEAST_PEERS = 3


class Kind(StrEnum):
    """What the time of a phase's messages goes into."""

    MANY_SMALL = "many small"
    FEW_LARGE = "few large"


class NoCurveError(ValueError):
    """No time of any message was measured."""

    def __init__(self) -> None:
        super().__init__("no message between these cards was measured: run the preflight on them")


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a model decides its messages. value_bytes: of one activation."""

    hidden: int
    layers: int
    vocabulary: int
    value_bytes: int


@dataclass(frozen=True, slots=True)
class Volume:
    """The messages of one forward pass over so many tokens on one card.

    message_bytes: of one sum. sums: how many. gathered_bytes: of the logits, at the end.
    """

    message_bytes: int
    sums: int
    gathered_bytes: int

    @property
    def pass_bytes(self) -> int:
        """Everything together."""
        return self.message_bytes * self.sums + self.gathered_bytes


@dataclass(frozen=True, slots=True)
class Curve:
    """How long one sum over the cards takes, in seconds, by its size in bytes.

    Raises NoCurveError for none.
    """

    seconds: Mapping[int, float]

    def __post_init__(self) -> None:
        if not self.seconds:
            raise NoCurveError

    def time_of(self, size: float) -> float:
        """Return the time of one message, between two sizes in proportion on both log scales.

        Below the smallest size time is that of the smallest: it is latency. Above the largest it
        grows with the size: it is bandwidth.
        """
        points = sorted(self.seconds.items())
        (least, first), (most, last) = points[0], points[-1]
        if size <= least:
            return first
        if size >= most:
            return last * size / most
        for (low, before), (high, after) in pairwise(points):
            if size <= high:
                share = math.log(size / low) / math.log(high / low)
                return float(before * (after / before) ** share)
        return last

    def kind_of(self, size: float) -> Kind:
        """Return whether such a message costs its latency, or its bytes."""
        least = self.time_of(min(self.seconds))
        return Kind.MANY_SMALL if self.time_of(size) <= LATENCY_BOUND * least else Kind.FEW_LARGE


@dataclass(frozen=True, slots=True)
class Phase:
    """The communication in one forward pass, or in the passes of one prefill.

    seconds: estimated from the curve. kind: of its sums.
    """

    volume: Volume
    passes: int
    seconds: float
    kind: Kind

    def share_of(self, measured_s: float) -> float:
        """Return the estimate over a measured time; above 1 one of the two is wrong."""
        return self.seconds / measured_s


def volume(shape: Shape, *, tokens: int, sequences: int, ranks: int) -> Volume:
    """Return the messages of a forward pass. sequences: how many logits come of it.

    One card tells nobody anything.
    """
    if ranks <= 1:
        return Volume(0, 0, 0)
    return Volume(
        message_bytes=tokens * shape.hidden * shape.value_bytes,
        sums=SUMS_PER_LAYER * shape.layers + 1,
        gathered_bytes=sequences * shape.vocabulary * shape.value_bytes,
    )


def decoding(shape: Shape, curve: Curve, *, sequences: int, ranks: int) -> Phase:
    """Return the communication of one decoded token of each sequence."""
    return _phase(shape, curve, [(sequences, sequences)], ranks)


def prefill(
    shape: Shape, curve: Curve, *, tokens: int, sequences: int, chunk: int | None, ranks: int
) -> Phase:
    """Return the communication of a whole prefill: of tokens in all, cut into chunks.

    chunk: tokens of one pass at most; None for all in one.
    """
    size = min(chunk or tokens, tokens)
    whole, rest = divmod(tokens, size)
    passes = [(size, sequences)] * whole + ([(rest, sequences)] if rest else [])
    return _phase(shape, curve, passes, ranks)


def _phase(shape: Shape, curve: Curve, passes: Sequence[tuple[int, int]], ranks: int) -> Phase:
    volumes = [
        volume(shape, tokens=tokens, sequences=sequences, ranks=ranks)
        for tokens, sequences in passes
    ]
    seconds = math.fsum(_seconds(each, curve) for each in volumes)
    largest = max(volumes, key=lambda each: each.message_bytes)
    return Phase(largest, len(passes), seconds, curve.kind_of(largest.message_bytes))


def _seconds(each: Volume, curve: Curve) -> float:
    if not each.sums:
        return 0.0
    # A gather sends half of what a sum of that size sends, each value once and not there and back.
    return each.sums * curve.time_of(each.message_bytes) + curve.time_of(each.gathered_bytes / 2)


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A link slower than its peers of the same kind, in bytes per second."""

    between: tuple[int, int]
    word: str
    bytes_s: float
    peers_bytes_s: float

    @property
    def is_broken(self) -> bool:
        """Whether it is so slow that it cannot be the way that it is said to be."""
        return self.bytes_s < BROKEN_LINK * self.peers_bytes_s

    @property
    def sentence(self) -> str:
        """Return it for a person."""
        one, other = self.between
        return (
            f"the link of cards {one} and {other} ({self.word}) runs at {self.bytes_s / 1e9:.2f} "
            f"GB/s, and the median of its peers is {self.peers_bytes_s / 1e9:.2f} GB/s"
        )


def slow_links(
    speeds: Mapping[tuple[int, int], float], words: Mapping[tuple[int, int], str]
) -> tuple[SlowLink, ...]:
    """Return the links that are slower than their peers, the slowest first.

    speeds: bytes per second by pair of cards. words: the way between two, as the topology names
    it; links of one word are peers, and unlike ways are not held against one another.
    """
    by_word: dict[str, list[tuple[tuple[int, int], float]]] = {}
    for pair, speed in speeds.items():
        by_word.setdefault(words.get(pair, ""), []).append((pair, speed))
    found = []
    for word, links in by_word.items():
        middle = median(speed for _, speed in links)
        if len(links) >= LEAST_PEERS:
            found += [
                SlowLink(pair, word or "unknown", speed, middle)
                for pair, speed in links
                if speed < SLOWER_LINK * middle
            ]
    return tuple(sorted(found, key=lambda link: link.bytes_s / link.peers_bytes_s))
