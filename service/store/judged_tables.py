"""The table of what was judged: kept so that a page need not judge a thousand cells anew."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class JudgedRow(Table):
    """What the rule said of something, and what that rests on; all of it can be told again.

    subject: digest of what was judged. rests_on: digest of the runs and of the rule it was judged
    by; an answer that rests on something else than what is there now counts for nothing.
    """

    __tablename__ = "judged"
    __table_args__ = (Index(None, "judged_at"),)

    subject: Mapped[str] = mapped_column(primary_key=True)
    rests_on: Mapped[str]
    answer: Mapped[dict[str, Any]]
    judged_at: Mapped[datetime]
