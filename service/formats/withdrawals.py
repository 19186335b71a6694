"""Withdrawals: a run taken out of every judgement by a person, and taken back."""

import re
from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from service.domain.withdrawal import Withdrawal
from service.formats.messages import Message

_NO_WORDS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _one_line(text: str) -> str:
    if _NO_WORDS.search(text):
        raise ValueError("a reason is one line of words, without control characters")
    return text


# Something must be said: a reason of spaces is none.
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    AfterValidator(_one_line),
]
Who = Annotated[str | None, Field(min_length=1, max_length=128)]


class WithdrawalOrder(Message):
    """Why a run is withdrawn. replaced_by: the run that stands in its place, where there is one.

    who: a person's name; a token's name is kept where there is one.
    """

    reason: Reason
    replaced_by: UUID | None = None
    who: Who = None


class RestorationOrder(Message):
    """Why a withdrawal is taken back, and who says so."""

    reason: Reason
    who: Who = None


class WithdrawalRead(Message):
    """Who withdrew a run, when and why, and which run stands in its place."""

    run_id: UUID
    withdrawn_at: AwareDatetime
    withdrawn_by: str
    reason: str
    replaced_by: UUID | None

    @classmethod
    def of(cls, withdrawal: Withdrawal) -> Self:
        """Return a withdrawal as it is read."""
        return cls(
            run_id=withdrawal.run_id,
            withdrawn_at=withdrawal.withdrawn_at,
            withdrawn_by=withdrawal.withdrawn_by,
            reason=withdrawal.reason,
            replaced_by=withdrawal.replaced_by,
        )
