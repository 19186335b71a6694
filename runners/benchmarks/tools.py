"""The benchmark tools, and the command line that drives a condition with each of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runners.benchmarks.client import Tool
from service.domain.condition import Condition, Load, Traffic

SERVING = Tool("serving", ("sglang.benchmark.serving", "sglang.bench_serving"))
BATCH = Tool(
    "batch",
    (
        "sglang.benchmark.one_batch_server",
        "sglang.test.bench_one_batch_server_internal",
        "sglang.bench_one_batch_server",
    ),
)

RANDOM_IDS = "random-ids"
SHARED_PREFIX = "generated-shared-prefix"
_UNIFORM = re.compile(r"uniform\(([0-9.]+),([0-9.]+)\)")


class UnsupportedTrafficError(ValueError):
    """The tool cannot drive what the condition asks for."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a tool sends its load: host and port of the server, and the model's files here."""

    host: str
    port: int
    model_path: str

    @property
    def url(self) -> str:
        """The server's base URL."""
        return f"http://{self.host}:{self.port}"


def tool_of(condition: Condition) -> Tool:
    """Return the tool that drives a condition's load."""
    return BATCH if condition.traffic.load is Load.BATCH else SERVING


def arguments(condition: Condition, target: Target, *, seed: int, output: Path) -> list[str]:
    """Return the command line of one repeat. Raises UnsupportedTrafficError."""
    build: Callable[..., list[str]] = (
        _batch_arguments if condition.traffic.load is Load.BATCH else _serving_arguments
    )
    return build(condition, target, seed=seed, output=output)


def lowest_ratio(traffic: Traffic) -> float:
    """Return the shortest length of a request as a ratio of the longest: 1.0 where all are equal.

    Raises UnsupportedTrafficError for a distribution whose upper end is not the full length:
    the tool draws between ratio x length and length.
    """
    if traffic.lengths == "fixed":
        return 1.0
    found = _UNIFORM.fullmatch(traffic.lengths.replace(" ", ""))
    if found is None or float(found[2]) != 1.0:
        raise UnsupportedTrafficError(
            f"lengths {traffic.lengths!r}: the tool knows 'fixed' and 'uniform(low,1.0)'"
        )
    return float(found[1])


def _serving_arguments(
    condition: Condition, target: Target, *, seed: int, output: Path
) -> list[str]:
    traffic = condition.traffic
    words = ["--backend", "sglang", "--host", target.host, "--port", str(target.port)]
    words += ["--model", target.model_path, "--tokenizer", target.model_path]
    words += _dataset(traffic) + _pace(traffic)
    words += ["--warmup-requests", str(condition.procedure.warmup_requests)]
    if condition.procedure.cache == "flushed":
        words += ["--flush-cache"]
    if not traffic.ignore_eos:
        words += ["--disable-ignore-eos"]
    if traffic.temperature:
        words += ["--temperature", str(traffic.temperature)]
    return [*words, "--seed", str(seed), "--output-file", str(output), "--disable-tqdm"]


def _dataset(traffic: Traffic) -> list[str]:
    """Token ids are sent, not text: only then the server sees exactly the lengths asked for."""
    ratio = str(lowest_ratio(traffic))
    words = ["--tokenize-prompt", "--num-prompts", str(traffic.prompts)]
    if traffic.shared_prefix_tokens:
        own_tokens = traffic.input_tokens - traffic.shared_prefix_tokens
        if own_tokens < 1:
            raise UnsupportedTrafficError("a shared prefix leaves no token for the prompt itself")
        words += ["--dataset-name", SHARED_PREFIX, "--gsp-num-groups", "1"]
        words += ["--gsp-prompts-per-group", str(traffic.prompts), "--gsp-range-ratio", ratio]
        words += ["--gsp-system-prompt-len", str(traffic.shared_prefix_tokens)]
        words += ["--gsp-question-len", str(own_tokens)]
        return [*words, "--gsp-output-len", str(traffic.output_tokens)]
    if traffic.dataset != RANDOM_IDS:
        raise UnsupportedTrafficError(
            f"dataset {traffic.dataset!r}: this runner drives {RANDOM_IDS!r}, with or without a "
            "shared prefix"
        )
    words += ["--dataset-name", RANDOM_IDS, "--random-range-ratio", ratio]
    words += ["--random-input-len", str(traffic.input_tokens)]
    return [*words, "--random-output-len", str(traffic.output_tokens)]


def _pace(traffic: Traffic) -> list[str]:
    words = []
    if traffic.load is Load.OPEN:
        if traffic.rate is None:
            raise UnsupportedTrafficError("an open load needs a rate")
        words += ["--request-rate", str(traffic.rate)]
    elif traffic.concurrency is None:
        raise UnsupportedTrafficError("a closed load needs a concurrency")
    if traffic.concurrency is not None:
        words += ["--max-concurrency", str(traffic.concurrency)]
    return words


def _batch_arguments(condition: Condition, target: Target, *, seed: int, output: Path) -> list[str]:
    """Return the words; the tool's own warm-up is left out, for it has a shape of its own."""
    traffic = condition.traffic
    if traffic.concurrency is None:
        raise UnsupportedTrafficError("a fixed batch needs its size as concurrency")
    if traffic.dataset != RANDOM_IDS or traffic.shared_prefix_tokens or lowest_ratio(traffic) != 1:
        raise UnsupportedTrafficError(f"a fixed batch is driven with equal {RANDOM_IDS!r} alone")
    words = ["--base-url", target.url, "--model-path", target.model_path, "--device", "cpu"]
    words += ["--batch-size", str(traffic.concurrency), "--dataset-name", RANDOM_IDS]
    words += ["--input-len", str(traffic.input_tokens), "--output-len", str(traffic.output_tokens)]
    if not traffic.ignore_eos:
        words += ["--disable-ignore-eos"]
    words += ["--temperature", str(traffic.temperature), "--skip-warmup", "--seed", str(seed)]
    return [*words, "--run-name", f"seed-{seed}", "--result-filename", str(output)]
