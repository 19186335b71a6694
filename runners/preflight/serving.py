"""Checks of a server that is up: room for the load, and answers that are sane and repeatable."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runners.preflight.layers import Breaks, Found, Skipped, Works
from service.domain.condition import Condition
from service.domain.kv_cache import tokens_in_flight
from service.domain.resolution import Fact

PROMPTS = 8
PROMPT_TOKENS = 32
PROMPT_STEP = 23
ANSWER_TOKENS = 8
FIRST_ID = 10
ID_COUNT = 200
# Requests that only fill a batch: long enough to stay in it until the last prompt was computed.
FILL_INPUT_TOKENS = 512
FILL_OUTPUT_TOKENS = 32


class Answering(Protocol):
    """A server that can be asked."""

    def flush(self) -> int:
        """Empty the prefix cache and return the HTTP status."""
        ...

    def generate(
        self, prompts: Sequence[Sequence[int]], *, output_tokens: int, **more: object
    ) -> list[dict[str, Any]]:
        """Return what the server makes of token ids, greedily, one answer a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What the fixed prompts gave: the finding, and each prompt's mean log-probability."""

    found: Found
    log_probabilities: tuple[float, ...] = ()


def capacity(
    resolution: Mapping[str, Fact], conditions: Sequence[Condition], beside: str = ""
) -> Found:
    """Check that the KV cache holds every cell's whole load at once.

    beside: what was estimated before the launch, held against the server's own figures.
    """
    room = resolution.get("max_total_num_tokens")
    if not isinstance(room, int):
        return Skipped("the server does not tell how many tokens its KV cache holds")
    need = max((_need(condition) for condition in conditions), default=0)
    seen = f"the KV cache holds {room} tokens, the largest cell needs {need}"
    seen += f"; {beside}" if beside else ""
    if room < need:
        remedy = "give the cache more memory, or ask for a lower concurrency or shorter requests"
        return Breaks(seen, remedy)
    return Works(seen)


def _need(condition: Condition) -> int:
    """Return the tokens of a cell's requests in flight; of an open load at least one request's."""
    traffic = condition.traffic
    return tokens_in_flight(condition) or traffic.input_tokens + traffic.output_tokens


def answer(server: Answering) -> Answer:
    """Ask the fixed prompts, each twice, and keep how likely the server finds their tokens.

    Equal text is asked of one server and itself only; another kernel may rightly answer otherwise,
    so between stacks the log-probabilities are compared, and not here.
    """
    first, again = _continued(server), _continued(server)
    if len(first) != PROMPTS or any(len(tokens) != ANSWER_TOKENS for tokens in first):
        lengths = [len(tokens) for tokens in first]
        return Answer(Breaks(f"{ANSWER_TOKENS} tokens were asked of each prompt, got {lengths}"))
    if first != again:
        unlike = sum(1 for one, other in zip(first, again, strict=True) if one != other)
        return Answer(
            Breaks(f"{unlike} of {PROMPTS} prompts were answered otherwise the second time")
        )
    likely = tuple(_mean_log_probability(server, prompt) for prompt in _prompts())
    if not _can_be(likely):
        return Answer(Breaks(f"log-probabilities that cannot be: {likely}"))
    mean = sum(likely) / len(likely)
    seen = f"{PROMPTS} prompts answered alike twice; mean log-probability {mean:.4f}"
    return Answer(Works(seen), likely)


def saturating(conditions: Sequence[Condition]) -> Condition | None:
    """Return the condition with the most requests in flight; None where none has two."""
    found = [each for each in conditions if (each.traffic.concurrency or 0) > 1]
    return max(found, key=lambda each: each.traffic.concurrency or 0, default=None)


def answer_under(server: Answering, condition: Condition) -> Answer:
    """Ask the fixed prompts in batches as full as a load's, and keep how likely they are found.

    The prompts stand at the end of a batch that is filled up with other requests, so that they
    are computed while those are. Which tokens follow is not asked: it may rightly differ.
    """
    traffic = condition.traffic
    size = traffic.concurrency or 1
    others = [_filling(row, min(traffic.input_tokens, FILL_INPUT_TOKENS)) for row in range(size)]
    output = min(traffic.output_tokens, FILL_OUTPUT_TOKENS)
    prompts = _prompts()
    groups = [prompts[begin : begin + size] for begin in range(0, len(prompts), size)]
    likely = tuple(each for group in groups for each in _in_batch(server, group, others, output))
    under = f"with {size} requests in flight"
    if not _can_be(likely):
        return Answer(Breaks(f"log-probabilities that cannot be {under}: {likely}"))
    mean = sum(likely) / len(likely)
    return Answer(Works(f"{PROMPTS} prompts {under}; mean log-probability {mean:.4f}"), likely)


def _in_batch(
    server: Answering, prompts: list[list[int]], others: list[list[int]], output_tokens: int
) -> list[float]:
    """Return the mean log-probabilities of prompts, asked behind others in one batch as large."""
    filled = others[: len(others) - len(prompts)]
    asked = [False] * len(filled) + [True] * len(prompts)
    server.flush()
    told = server.generate(
        [*filled, *prompts],
        output_tokens=output_tokens,
        return_logprob=asked,
        logprob_start_len=[0 if each else -1 for each in asked],
    )
    return [_mean(each) for each in told[len(filled) :]]


def _filling(row: int, length: int) -> list[int]:
    """Return a prompt that begins like few others of its batch, and runs against the fixed ones."""
    return [FIRST_ID + (row - place) % ID_COUNT for place in range(length)]


def _can_be(likely: Sequence[float]) -> bool:
    return all(math.isfinite(value) and value < 0 for value in likely)


def _prompts() -> list[list[int]]:
    return [
        [FIRST_ID + (number * PROMPT_STEP + place) % ID_COUNT for place in range(PROMPT_TOKENS)]
        for number in range(PROMPTS)
    ]


def _continued(server: Answering) -> list[list[int]]:
    """Return each prompt's continuation, asked alone and with nothing in the prefix cache."""
    server.flush()
    answers = []
    for prompt in _prompts():
        told = server.generate([prompt], output_tokens=ANSWER_TOKENS)[0]
        answers.append([int(token) for token in told.get("output_ids", [])])
    return answers


def _mean_log_probability(server: Answering, prompt: Sequence[int]) -> float:
    """Return the mean log-probability of a prompt's tokens, the first one left out."""
    server.flush()
    told = server.generate([prompt], output_tokens=1, return_logprob=True, logprob_start_len=0)[0]
    return _mean(told)


def _mean(told: Mapping[str, Any]) -> float:
    values = [row[0] for row in told["meta_info"]["input_token_logprobs"] if row[0] is not None]
    return math.fsum(values) / len(values) if values else math.nan
