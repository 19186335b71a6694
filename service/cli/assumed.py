"""`--assume-same`: what whoever compares two bare files says of both of them."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from service.domain.assumption import (
    Assumptions,
    UnknownFieldError,
    ValueNotTakenError,
    WrongValueError,
)
from service.domain.resolution import Fact

AssumeSame = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD[=VALUE]",
        help=(
            "Say that both files were measured alike in a field that they do not tell, with its "
            "value or whatever it is; 'all' is every such field. Printed with the verdict; may be "
            "given again."
        ),
    ),
]


def assumptions_of(texts: Sequence[str] | None) -> Assumptions:
    """Return what the option says; a value is a number, true, false or null, else a word.

    Raises typer.BadParameter for a field or a value that cannot be assumed, and for two values.
    """
    pairs = [text.partition("=") for text in texts or ()]
    names = [name.strip() for name, equals, _ in pairs if equals]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise typer.BadParameter(f"--assume-same: {twice} is given two values: say which holds")
    try:
        return Assumptions(
            values={name.strip(): _value(value) for name, equals, value in pairs if equals},
            alike=frozenset(name.strip() for name, equals, _ in pairs if not equals),
        )
    except (UnknownFieldError, ValueNotTakenError, WrongValueError) as error:
        raise typer.BadParameter(f"--assume-same: {error.args[0]}") from error


def _value(text: str) -> Fact:
    try:
        found = json.loads(text, parse_constant=_no_number)
    except ValueError:
        return text.strip()
    return found if isinstance(found, bool | int | float | None) else text.strip()


def _no_number(name: str) -> float:
    """Leave Infinity and NaN words: a rate without a bound is written 'inf' in a condition."""
    raise ValueError(name)
