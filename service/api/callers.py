"""What a caller is called in the audit."""

from service.domain.token import Caller

NOBODY_NAMED = "somebody on this machine"


def name_of(caller: Caller, said: str | None) -> str:
    """Return the name of a caller's token, else what they say of themselves."""
    return caller.name or said or NOBODY_NAMED
