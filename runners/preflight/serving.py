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
    if not all(math.isfinite(value) and value < 0 for value in likely):
        return Answer(Breaks(f"log-probabilities that cannot be: {likely}"))
    mean = sum(likely) / len(likely)
    seen = f"{PROMPTS} prompts answered alike twice; mean log-probability {mean:.4f}"
    return Answer(Works(seen), likely)


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
    values = [row[0] for row in told["meta_info"]["input_token_logprobs"] if row[0] is not None]
    return math.fsum(values) / len(values) if values else math.nan
