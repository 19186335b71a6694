"""What went wrong, as every error of the API says it (RFC 9457, problem details)."""

from pydantic import Field

from service.formats.messages import Message
from service.formats.verdicts import DifferenceRead

MEDIA_TYPE = "application/problem+json"


class FieldProblem(Message):
    """One field of a request that does not fit, and why."""

    field: str
    message: str


class Problem(Message):
    """One error. type: its name. title: its own words, a whole sentence a person can act on."""

    type: str
    title: str
    status: int = Field(ge=400, le=599)
    fields: tuple[FieldProblem, ...] = ()
    differences: tuple[DifferenceRead, ...] = ()
