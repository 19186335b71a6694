"""How a module that the command line asks says that it gives no answer."""

import sys

from pydantic import ValidationError

from service.formats.wrong_settings import told

REFUSED, WRONG = 1, 2


def refused(error: Exception) -> int:
    """Write why where the answer would be, and return the exit code that says so."""
    return _said(str(error), REFUSED)


def wrong(what: str, error: ValidationError) -> int:
    """Write what is wrong with what was asked or set; no value is shown. Return the exit code.

    what: such as 'these settings or this question'.
    """
    return _said(f"{what} cannot be taken:\n{told(error)}", WRONG)


def _said(why: str, code: int) -> int:
    sys.stdout.buffer.write(why.encode(errors="backslashreplace"))
    return code
