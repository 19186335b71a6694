"""What a person states of a result measured elsewhere, held against what its file tells."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from service.domain.condition import Condition, Load, Traffic
from service.domain.difference import Difference
from service.domain.protocol import Protocol
from service.domain.resolution import Fact
from service.domain.stack import Stack
from service.domain.validity import RunFacts

# A word of a file or a person that settles nothing: the server chose, or nobody knows.
UNSETTLED = frozenset({None, "auto", "unknown"})
# What a server brings down by itself when its memory or its model asks for it: a resolution, which
# explains a deviation, and no contradiction.
LOWERED = frozenset(
    {
        "chunked_prefill_size",
        "max_prefill_tokens",
        "max_running_requests",
        "max_total_num_tokens",
        "mem_fraction_static",
        "page_size",
    }
)
UNLIMITED = "no limit"
# The component that a server of SGLang tells its version of.
SERVER = "sglang"
PRINTED = "_console"
FIXED = "fixed"
_RANGE = frozenset("<>=!~")
_UNIFORM = re.compile(r"uniform\((0?\.\d+|0|1(?:\.0)?),1(?:\.0)?\)")


@dataclass(frozen=True, slots=True)
class Stated:
    """Everything a file need not tell: condition, protocol and stack.

    served_as: what the file calls the model, where that is not how its id ends.
    """

    condition: Condition
    protocol: Protocol
    stack: Stack
    served_as: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What one result's file tells: its tool, the tool's release, its condition, its server."""

    tool: str
    tool_version: str | None
    condition: Mapping[str, Fact]
    resolution: Mapping[str, Fact]


def contradictions(stated: Stated, told: Account) -> tuple[Difference, ...]:
    """Return where a file tells something else than is stated: the field and both values.

    The baseline of a difference is what is stated, the candidate what the file tells. A field
    that the file does not tell, or leaves to the server, contradicts nothing.
    """
    return (
        *_of_client(stated.protocol, told),
        *_of_condition(stated, told.condition),
        *_of_arguments(stated, told.resolution),
        *_of_server(stated.stack, told.resolution),
    )


def completed(facts: RunFacts, condition: Condition) -> RunFacts:
    """Return what is known of a result once its whole condition is stated; told facts stay.

    Counts of requests and tokens are held to what was asked for, and a cold cell to its cache.
    """
    traffic = condition.traffic
    lengths = _bounds(traffic)
    in_flight = traffic.concurrency if traffic.load is Load.CLOSED else None
    known = {
        "requests_asked": traffic.prompts,
        "input_lengths": lengths(traffic.input_tokens),
        "output_lengths": lengths(traffic.output_tokens),
        "ignore_eos": traffic.ignore_eos,
        "cold": condition.procedure.cache == "flushed",
        "concurrency_asked": in_flight,
    }
    missing = {name: value for name, value in known.items() if getattr(facts, name) is None}
    return replace(facts, **missing)  # type: ignore[arg-type]  # names and types are those above


def _of_client(protocol: Protocol, told: Account) -> Iterator[Difference]:
    # What a tool printed tells less than what it wrote, and is of the same client.
    if told.tool.removesuffix(PRINTED) != protocol.client.removesuffix(PRINTED):
        yield Difference("protocol.client", protocol.client, told.tool)
    elif told.tool_version is not None and not _fits(protocol.client_version, told.tool_version):
        yield Difference("protocol.client_version", protocol.client_version, told.tool_version)


def _fits(version: str, told: str) -> bool:
    """Return whether a release is the one told, or within the range told."""
    if version in UNSETTLED or not _RANGE.intersection(told):
        return version in {told, *UNSETTLED}
    try:
        return SpecifierSet(told).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return version == told


def _of_condition(stated: Stated, told: Mapping[str, Fact]) -> Iterator[Difference]:
    for name, rule in _RULES.items():
        if name not in told:
            continue
        value = told[name]
        field, expected = rule(stated, value)
        shown = UNLIMITED if name == "concurrency" and value is None else value
        if not _agree(expected, shown):
            yield Difference(field, str(expected), str(shown))


def _of_arguments(stated: Stated, resolution: Mapping[str, Fact]) -> Iterator[Difference]:
    """Hold the server's own account to the arguments that condition and stack ask for."""
    asked = {**stated.stack.server_arguments, **stated.condition.server_arguments}
    for flag, value in asked.items():
        fact = flag.replace("-", "_")
        if fact in LOWERED or fact not in resolution:
            continue
        if not _agree(value, resolution[fact]):
            yield Difference(f"server_arguments.{flag}", str(value), str(resolution[fact]))


def _of_server(stack: Stack, resolution: Mapping[str, Fact]) -> Iterator[Difference]:
    pinned, running = stack.versions.get(SERVER), resolution.get("version")
    if pinned is not None and not _agree(pinned, running):
        yield Difference(f"stack.{SERVER}", pinned, str(running))


def _agree(stated: Fact, told: Fact) -> bool:
    if stated in UNSETTLED or told in UNSETTLED or stated == told:
        return True
    if isinstance(stated, bool) or isinstance(told, bool):
        return False
    try:
        return float(stated or 0) == float(told or 0)
    except ValueError:
        return False


Rule = Callable[[Stated, Fact], tuple[str, Fact]]


def _traffic(name: str) -> Rule:
    return lambda stated, _: (f"traffic.{name}", getattr(stated.condition.traffic, name))


def _degree(name: str) -> Rule:
    return lambda stated, _: (f"parallelism.{name}", getattr(stated.condition.parallelism, name))


def _precision(name: str) -> Rule:
    return lambda stated, _: (f"model.{name}", getattr(stated.condition.model, name))


def _model(stated: Stated, told: Fact) -> tuple[str, Fact]:
    """Return the stated model as a file may know it: by its id, how that ends, or the name said."""
    identity = stated.condition.model.id
    known = {identity, identity.rpartition("/")[2], stated.served_as or identity}
    return "model.id", told if told in known else (stated.served_as or identity)


def _concurrency(stated: Stated, told: Fact) -> tuple[str, Fact]:
    """Return the requests in flight; a client without a limit has as many as there are prompts."""
    traffic = stated.condition.traffic
    if told is None and (traffic.load is Load.OPEN or _fits_without_limit(traffic)):
        return "traffic.concurrency", UNLIMITED
    return "traffic.concurrency", traffic.concurrency


def _fits_without_limit(traffic: Traffic) -> bool:
    return traffic.concurrency is None or traffic.prompts <= traffic.concurrency


def _rate(stated: Stated, _: Fact) -> tuple[str, Fact]:
    rate = stated.condition.traffic.rate
    return "traffic.rate", "inf" if rate is None else rate


def _warmup(stated: Stated, _: Fact) -> tuple[str, Fact]:
    return "procedure.warmup_requests", stated.condition.procedure.warmup_requests


def _range_ratio(stated: Stated, told: Fact) -> tuple[str, Fact]:
    lengths = stated.condition.traffic.lengths
    shortest = _shortest(lengths)
    agrees = shortest is not None and _agree(shortest, told)
    return "traffic.lengths", told if agrees else lengths


def _spread(stated: Stated, told: Fact) -> tuple[str, Fact]:
    """Hold a standard deviation of lengths to the stated ones: fixed lengths have none."""
    lengths = stated.condition.traffic.lengths
    return "traffic.lengths", told if _agree(0, told) or _shortest(lengths) is None else lengths


def _shortest(lengths: str) -> float | None:
    """Return the shortest of some lengths as a ratio of the longest; None for other words."""
    if lengths == FIXED:
        return 1.0
    drawn = _UNIFORM.fullmatch(lengths)
    return float(drawn[1]) if drawn else None


def _bounds(traffic: Traffic) -> Callable[[int], tuple[int, int] | None]:
    """Return the shortest and the longest length of one request, for a stated length."""
    low = _shortest(traffic.lengths)
    return lambda longest: None if low is None else (int(longest * low), longest)


# What files tell of a condition, by the name our readers give it, and the field it is held to.
# Whatever else a file tells is kept beside the run and held to nothing.
_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "model": _model,
        "dtype": _precision("dtype"),
        "quantization": _precision("quantization"),
        "kv_dtype": _precision("kv_dtype"),
        "tp": _degree("tp"),
        "pp": _degree("pp"),
        "dp": _degree("dp"),
        "ep": _degree("ep"),
        "load": _traffic("load"),
        "dataset": _traffic("dataset"),
        "input_tokens": _traffic("input_tokens"),
        "output_tokens": _traffic("output_tokens"),
        "range_ratio": _range_ratio,
        "input_tokens_stdev": _spread,
        "output_tokens_stdev": _spread,
        "requests": _traffic("prompts"),
        "ignore_eos": _traffic("ignore_eos"),
        "temperature": _traffic("temperature"),
        "warmup_requests": _warmup,
        "concurrency": _concurrency,
        "request_rate": _rate,
    }
)
