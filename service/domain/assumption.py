"""What two bare files must tell to be compared, and what may be assumed where they do not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import inf, isfinite
from types import MappingProxyType
from typing import TypeGuard

from service.domain.difference import Difference, text_of
from service.domain.key import canonical_json
from service.domain.resolution import Fact

# Every field of the condition, and those of the protocol that a file's own tool and definition do
# not settle: the name by which files tell it, and the field it stands for.
NEEDED = MappingProxyType(
    {
        "card_model": "cards.model",
        "card_form": "cards.form",
        "card_count": "cards.count",
        "occupancy": "cards.occupancy",
        "tp": "parallelism.tp",
        "pp": "parallelism.pp",
        "dp": "parallelism.dp",
        "ep": "parallelism.ep",
        "model": "model.id",
        "weights": "model.weights_digest",
        "quantization": "model.quantization",
        "dtype": "model.dtype",
        "kv_dtype": "model.kv_dtype",
        "load": "traffic.load",
        "dataset": "traffic.dataset",
        "input_tokens": "traffic.input_tokens",
        "output_tokens": "traffic.output_tokens",
        "range_ratio": "traffic.lengths",
        "concurrency": "traffic.concurrency",
        "request_rate": "traffic.rate",
        "requests": "traffic.prompts",
        "shared_prefix_tokens": "traffic.shared_prefix_tokens",
        "seeds": "traffic.seeds_digest",
        "ignore_eos": "traffic.ignore_eos",
        "temperature": "traffic.temperature",
        "cache": "procedure.cache",
        "warmup_requests": "procedure.warmup_requests",
        "server_arguments": "server_arguments",
        "server_environment": "server_environment",
        "client_version": "protocol.client_version",
        "tokenizer": "protocol.tokenizer_digest",
    }
)
REQUESTS = "requests"
ARGUMENTS = "server_arguments"
# Not a field: that the gates hold which a file leaves open. It is assumed like one.
GATES = "gates"
# What may be assumed: each field above, the gates, or whatever of them turns out to be needed.
ALL = "all"
NOT_TOLD = "(not told)"

# A rate and a concurrency say by themselves how requests reach the server.
_IMPLIED_BY = MappingProxyType({"load": "request_rate"})
# A fixed batch is sent at once, as many requests as it is large, all of one length.
_NOT_OF_A_BATCH = frozenset({"range_ratio", "request_rate", REQUESTS})

_COUNTS = frozenset(
    {
        "card_count",
        "tp",
        "pp",
        "dp",
        "ep",
        "input_tokens",
        "output_tokens",
        "concurrency",
        REQUESTS,
        "shared_prefix_tokens",
        "warmup_requests",
    }
)
_NUMBERS = frozenset({"range_ratio", "request_rate", "temperature"})
# Where a tool writes null for what was not asked for.
_MAY_BE_NONE = frozenset({"input_tokens", "output_tokens", "concurrency", *_NUMBERS})

Told = Mapping[str, Fact]


class UnknownFieldError(LookupError):
    """An assumption is about a field that no comparison asks for."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name, (*NEEDED, GATES, ALL), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join((*NEEDED, GATES))}"
        super().__init__(f"nothing called {name!r} can be assumed; {hint}")


class ValueNotTakenError(ValueError):
    """A value is given to something that has none."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is assumed as it is, without a value")


class WrongValueError(ValueError):
    """A value is none that the field can have."""

    def __init__(self, name: str, value: Fact, wanted: str) -> None:
        super().__init__(f"{name} is {wanted}, and {text_of(value)} is none")


class OverruledError(ValueError):
    """An assumption says otherwise than a file tells."""

    def __init__(self, name: str, assumed: Fact, told: Fact, side: str) -> None:
        super().__init__(
            f"{name} is assumed to be {text_of(assumed)}, and the {side} tells {text_of(told)}: "
            f"an assumption never overrules a file"
        )


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What whoever compares says of both sides.

    values: by field. alike: fields said to be the same, whatever they are; may hold GATES and ALL.
    Raises UnknownFieldError, ValueNotTakenError and WrongValueError.
    """

    values: Mapping[str, Fact] = field(default_factory=dict)
    alike: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in (*self.values, *self.alike):
            if name not in NEEDED and name not in {GATES, ALL}:
                raise UnknownFieldError(name)
        for name, value in self.values.items():
            if name in {GATES, ALL}:
                raise ValueNotTakenError(name)
            _require_value(name, value)

    def cover(self, name: str) -> bool:
        """Return whether a field is assumed to be the same on both sides."""
        return name in self.values or not self.alike.isdisjoint({name, ALL})


NOTHING_ASSUMED = Assumptions()


@dataclass(frozen=True, slots=True)
class Assumed:
    """One assumption that a comparison rests on; value is None where only sameness is assumed."""

    field: str
    value: str | None

    def __str__(self) -> str:
        return self.field if self.value is None else f"{self.field} = {self.value}"


@dataclass(frozen=True, slots=True)
class Settled:
    """Both sides once the assumptions are put in; untold: what is still needed and not known."""

    baseline: Told
    candidate: Told
    assumed: tuple[Assumed, ...]
    untold: tuple[Difference, ...]


def settled(baseline: Told, candidate: Told, assumptions: Assumptions) -> Settled:
    """Return what is known of both sides, with what they do not tell taken from the assumptions.

    What both tell is left as it is, alike or not: an assumption fills gaps and settles no
    difference. Raises OverruledError.
    """
    _require_no_overruling(baseline, candidate, assumptions)
    left, right = dict(baseline), dict(candidate)
    assumed: list[Assumed] = []
    untold: list[Difference] = []
    for name in _needed(baseline, candidate):
        if name in left and name in right:
            continue
        if not assumptions.cover(name):
            untold.append(Difference(name, _shown(left, name), _shown(right, name)))
            continue
        known = _known(name, left, right, assumptions.values)
        for fact in known:
            left[name] = right[name] = fact
        assumed.append(Assumed(name, text_of(known[0]) if known else None))
    return Settled(left, right, tuple(assumed), tuple(untold))


def _known(name: str, *sources: Told) -> list[Fact]:
    return [source[name] for source in sources if name in source]


def _needed(baseline: Told, candidate: Told) -> list[str]:
    batch = "batch" in {baseline.get("load"), candidate.get("load")}
    return [
        name
        for name in NEEDED
        if not (batch and name in _NOT_OF_A_BATCH)
        and not all(_IMPLIED_BY.get(name) in side for side in (baseline, candidate))
    ]


def _require_no_overruling(baseline: Told, candidate: Told, assumptions: Assumptions) -> None:
    for name, value in assumptions.values.items():
        for side, told in (("baseline", baseline), ("candidate", candidate)):
            if name in told and canonical_json(told[name]) != canonical_json(value):
                raise OverruledError(name, value, told[name], side)


def _require_value(name: str, value: Fact) -> None:
    """Raise WrongValueError for a value that the field cannot have: gates are asked by it."""
    if name in _COUNTS:
        wanted, fits = "a whole number, not below 0", _is_number(value) and value == int(value)
    elif name in _NUMBERS:
        wanted, fits = "a number, not below 0, or inf", value == "inf" or _is_number(value)
    elif name == "ignore_eos":
        wanted, fits = "true or false", isinstance(value, bool)
    else:
        wanted = "a word or a number"
        fits = value != "" and not (isinstance(value, float) and not isfinite(value))
    if not fits and not (value is None and name in _MAY_BE_NONE):
        raise WrongValueError(name, value, wanted)


def _is_number(value: Fact) -> TypeGuard[int | float]:
    """Return whether a value is a finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < inf


def _shown(told: Told, name: str) -> str:
    return text_of(told[name]) if name in told else NOT_TOLD
