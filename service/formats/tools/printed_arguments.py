"""Arguments as Python programs print them when they start: Namespace(a=1, …) or {'a': 1, …}."""

import ast
import re
import warnings
from collections.abc import Mapping
from types import MappingProxyType

from service.formats.tools.tool import Document

# Longer ones are not printed by any tool that is known.
MOST_CHARACTERS = 200_000
_NAMES: Mapping[str, float] = MappingProxyType({"inf": float("inf"), "nan": float("nan")})
_DEEPEST = 20
# As Python prints what has no other form: <SomeEnum.NAME: 'value'>, <function f at 0x7f>.
_OBJECT = re.compile(r"(?<=[=:,(\[{ ])<[A-Za-z_][^<>]*>(?=[,)\]} ]|$)")


def arguments_in(printed: str) -> Document | None:
    """Return printed arguments by name, or None where the text holds none that can be trusted.

    An argument whose value is no plain one, such as an object in angle brackets, is left out.
    """
    if len(printed) > MOST_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            # Of a damaged text the parser may think aloud: an "invalid decimal literal" in 100and.
            # What kind of warning that is differs between releases of Python.
            warnings.simplefilter("ignore")
            return _mapping(ast.parse(_OBJECT.sub("...", printed.strip()), mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return None


def _mapping(node: ast.expr) -> Document:
    value = _value(node)
    if not isinstance(value, dict):
        message = "arguments are printed as a call or a dictionary"
        raise TypeError(message)
    return value


def _value(node: ast.expr, depth: int = 0) -> object:
    """Return a printed value: plain ones, those of objects with their fields, and infinity."""
    deeper = depth + 1
    match node:
        case _ if depth > _DEEPEST:
            return ...
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Call(args=[]):
            named = ((each.arg, each.value) for each in node.keywords if each.arg)
            return _told({name: _value(each, deeper) for name, each in named})
        case ast.Dict(keys=keys, values=values):
            pairs = ((key, each) for key, each in zip(keys, values, strict=True) if key)
            return _told({ast.literal_eval(key): _value(each, deeper) for key, each in pairs})
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [value for each in elements if (value := _value(each, deeper)) is not ...]
        case _:
            try:
                return ast.literal_eval(node)
            except (TypeError, ValueError):
                return ...


def _told(values: Mapping[str, object]) -> Document:
    return {name: value for name, value in values.items() if value is not ...}
