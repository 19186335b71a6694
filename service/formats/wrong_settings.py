"""Wrong settings in words: which variable, what is wrong with it, and never what it holds."""

from pydantic import ValidationError

PREFIX = "KUNLINE_"


def told(error: ValidationError) -> str:
    """Return one line a wrong setting; a value may be a password, so none is shown."""
    return "\n".join(
        f"{_variable(found['loc'])}: {found['msg']}"
        for found in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _variable(place: tuple[int | str, ...]) -> str:
    return PREFIX + str(place[0]).upper() if place else "the settings together"
