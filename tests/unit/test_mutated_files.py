"""Damaged and doctored files: no reader fails or hangs, no doctored value is taken for real.

2,000 mutations of the samples by default, always the same ones; `KUNLINE_MUTATIONS=20000` is the
long run. A mutation that fails is named by its number, and is made again by `mutated(number)`.
"""

import copy
import faulthandler
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from service.domain.reading import Reading, Readings
from service.domain.validity import Validity
from service.formats.readings import ReadingsRead
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.registry import read_bytes
from tests.results import lines, serving
from tests.shared_data import shared

COUNT = int(os.environ.get("KUNLINE_MUTATIONS", "2000"))
BATCHES = 10
SEED = 20261130
HANG_S = 30
LARGEST_BYTES = 400_000
LONGEST_LIST = 20
# Metrics must not change at all; sums of floats in another order may, in their last digits.
CLOSE = 1e-9

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mutated file; doctored: one value or key of one object was replaced by a wrong one."""

    what: str
    original: bytes
    data: bytes
    doctored: bool


@pytest.fixture(scope="module")
def samples() -> Sequence[tuple[str, bytes]]:
    """Return the name and content of every sample, long lists in them cut short."""
    found = [("own serving", lines([serving(), serving(max_concurrency=16)]))]
    for folder in ("bench", "sglang-cpu"):
        for path in sorted(shared(folder).rglob("*")):
            if path.is_file() and (data := path.read_bytes()):
                found += [(path.name, _shortened(data))]
    return [(name, data) for name, data in found if len(data) <= LARGEST_BYTES]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_mutated_file_makes_a_reader_fail_hang_or_believe_it(
    batch: int, samples: Sequence[tuple[str, bytes]]
) -> None:
    for number in range(batch, COUNT, BATCHES):
        mutation = mutated(number, samples)
        where = f"mutation {number}: {mutation.what}"
        found = _read(mutation.data)

        assert all(part.code in set(ProblemCode) for part in found.unreadable), where
        assert _answered(found), where
        assert all(each.validity is not Validity.VALID for each in found.readings), where
        if mutation.doctored:
            _assert_nothing_new(_read(mutation.original), found, where)


def mutated(number: int, samples: Sequence[tuple[str, bytes]]) -> Mutation:
    """Return one mutation of one sample, always the same for a number."""
    chance = random.Random(SEED + number)
    name, data = chance.choice(samples)
    if chance.random() < 0.5 and (document := _document(data)) is not None:
        return _doctored(name, document, chance)
    change = chance.choice(BYTES)
    packed = chance.random() < 0.1
    changed = change(gzip.compress(data, mtime=0) if packed else data, chance)
    return Mutation(f"{name}, {change.__name__}", data, changed, doctored=False)


def _read(data: bytes) -> Readings:
    # It ends the process with a traceback: a regular expression that runs away heeds no signal.
    faulthandler.dump_traceback_later(HANG_S, exit=True)
    started = time.monotonic()
    try:
        return read_bytes(data, file="mutated")
    finally:
        faulthandler.cancel_dump_traceback_later()
        assert time.monotonic() - started < HANG_S


def _answered(found: Readings) -> bool:
    """Return whether what was read can be told as strict JSON."""
    text = ReadingsRead.of(found).model_dump_json()
    text.encode()
    return isinstance(json.loads(text, parse_constant=_refused), dict)


def _refused(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _assert_nothing_new(original: Readings, found: Readings, where: str) -> None:
    """No reading of a doctored file tells a value that the original does not tell."""
    told = {(name, value) for each in original.readings for name, value in each.metrics.items()}
    for reading in found.readings:
        if reading.validity is not Validity.INVALID:
            assert not list(_new(reading, told)), where


def _new(reading: Reading, told: set[tuple[str, float]]) -> Iterator[str]:
    for name, value in reading.metrics.items():
        same = (old for other, old in told if other == name)
        if not any(abs(value - old) <= CLOSE * abs(old) for old in same):
            yield f"{name}={value}"


# Bytes: what disks, transfers and editors do.


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 10, 100))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _delete(data: bytes, chance: random.Random) -> bytes:
    start, stop = _span(data, chance)
    return data[:start] + data[stop:]


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _double(data: bytes, chance: random.Random) -> bytes:
    start, stop = _span(data, chance)
    return data[:stop] + data[start:]


def _double_whole(data: bytes, chance: random.Random) -> bytes:
    return data + chance.choice((b"", b"\n", b"\r\n", b"\xef\xbb\xbf")) + data


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    odd = (b"\0" * 100, b"\xff\xfe", b"\n", b'"', b"{", b"[", b"}", b"NaN", b"-Infinity", b"1e999")
    return data[:at] + chance.choice((*odd, chance.randbytes(50))) + data[at:]


def _swap_lines(data: bytes, chance: random.Random) -> bytes:
    rows = data.split(b"\n")
    first, second = chance.randrange(len(rows)), chance.randrange(len(rows))
    rows[first], rows[second] = rows[second], rows[first]
    return b"\n".join(rows)


def _cut_then_append(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))] + data


BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip,
    _delete,
    _truncate,
    _double,
    _double_whole,
    _insert,
    _swap_lines,
    _cut_then_append,
)


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, min(len(data), start + chance.choice((1, 10, 1000, 100_000)))


# One object: what hands, scripts and other releases do to keys, units and types.


def _doctored(name: str, document: Any, chance: random.Random) -> Mutation:
    paths = list(_numbers(document))
    if not paths:
        return Mutation(name, b"{}", b"{}", doctored=False)
    path = chance.choice(paths)
    changed = copy.deepcopy(document)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    change = chance.choice(VALUES)
    what = f"{name}, {change.__name__} at {'.'.join(map(str, path))}"
    change(holder, path[-1], chance)
    return Mutation(what, _written(document), _written(changed), doctored=True)


def _rename(holder: Any, key: Any, chance: random.Random) -> None:
    _as(holder, key, chance.choice((f"{key}_", f"x_{key}", str(key).upper(), str(key)[:-1])))


def _change_unit(holder: Any, key: Any, chance: random.Random) -> None:
    spelt = str(key)
    units = (("_ms", "_s"), ("_ms", "_us"), ("(s)", "(min)"), ("(ms)", "(us)"), ("_s_", "_ks_"))
    others = [spelt.replace(unit, other) for unit, other in units if unit in spelt]
    _as(holder, key, chance.choice(others or [f"{key}_ns"]))


def _as_truth(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = chance.choice((True, False))


def _as_list(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = chance.choice(([holder[key]], [], [[holder[key]]]))


def _as_object(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = chance.choice(({"value": holder[key]}, {}))


def _as_words(holder: Any, key: Any, chance: random.Random) -> None:
    odd = ("fast", "", "12 ms", "1,5", "0x10", "1_000", "٣", "\ud800", f"{holder[key]} ms")
    holder[key] = chance.choice(odd)


def _negative(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = -abs(holder[key]) or -1


def _not_finite(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = chance.choice((float("nan"), float("inf"), float("-inf")))


def _null(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = None


VALUES: tuple[Callable[[Any, Any, random.Random], None], ...] = (
    _rename,
    _change_unit,
    _as_truth,
    _as_list,
    _as_object,
    _as_words,
    _negative,
    _not_finite,
    _null,
)


def _as(holder: Any, key: Any, name: str) -> None:
    if isinstance(holder, dict):
        value = holder.pop(key)
        holder[name] = value
    else:
        holder[key] = None


def _numbers(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the way to every number in a document."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield from _numbers(held, (*path, key))
    elif isinstance(value, list):
        for position, held in enumerate(value):
            yield from _numbers(held, (*path, position))
    elif isinstance(value, int | float) and not isinstance(value, bool) and path:
        yield path


def _document(data: bytes) -> Any:
    """Return the first object of a file, or its list, or None where it begins with neither."""
    text = data.decode(errors="replace").lstrip("\ufeff \r\n")
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _written(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode() + b"\n"


def _shortened(data: bytes) -> bytes:
    """Return a file whose one object has no list longer than a few, if it is large."""
    if len(data) <= LARGEST_BYTES or (document := _document(data)) is None:
        return data
    return json.dumps(_cut(document)).encode()


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_cut(held) for held in value[:LONGEST_LIST]]
    return value
