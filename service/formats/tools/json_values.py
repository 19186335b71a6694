"""One JSON value out of bytes: fast where it is plain JSON, and with NaN and Infinity where not."""

import json
import re
from typing import Any

import orjson

# With more of them in one value the plain way is no slower.
MAX_NOT_FINITE = 8

_NOT_FINITE = re.compile(rb"-?(?:Infinity|NaN)\b")
# A text that no tool writes stands in for each while the fast way reads the rest.
_VALUES = {f"\x00{name}": float(name) for name in ("Infinity", "-Infinity", "NaN")}


def value_in(data: bytes) -> Any:
    """Return the JSON value that bytes hold, all of them.

    NaN, Infinity and -Infinity are taken as Python writes them; a whole number of more than 64 bits
    is a float. Raises ValueError where the bytes
    are no such value, and RecursionError where one is nested beyond reason.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _with_not_finite(data, error.pos)


def _with_not_finite(data: bytes, position: int) -> Any:
    """Return a value whose own fields may be NaN or infinite, at a position in it first.

    SGLang writes an infinite request rate in most lines, so these must be read fast: each is
    replaced where the fast way stumbles over it, and put back in the object's own fields. Whatever
    is otherwise, such as one that is nested, the plain way reads.
    """
    marked = data
    for count in range(1, MAX_NOT_FINITE + 1):
        found = _NOT_FINITE.match(marked, position) or _NOT_FINITE.match(marked, position - 1)
        if found is None:
            break
        mark = b'"\\u0000' + found[0] + b'"'
        marked = marked[: found.start()] + mark + marked[found.end() :]
        try:
            return _put_back(orjson.loads(marked), data, count)
        except orjson.JSONDecodeError as error:
            position = error.pos
    return json.loads(data)


def _put_back(value: object, data: bytes, count: int) -> Any:
    if isinstance(value, dict):
        found = [name for name, held in value.items() if isinstance(held, str) and held in _VALUES]
        if len(found) == count:
            return value | {name: _VALUES[value[name]] for name in found}
    return json.loads(data)
