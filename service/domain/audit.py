"""The audit: who did what to which thing, when and why. Nothing a person decides is lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Act(StrEnum):
    """The closed list of what people do that is audited."""

    IMPORT = "import"
    PIN = "pin"
    UNDO = "undo"
    WITHDRAW = "withdraw"
    RESTORE = "restore"
    DECLARE = "declare"
    RETRACT = "retract"
    QUALIFY = "qualify"
    SCHEDULE = "schedule"
    UNSCHEDULE = "unschedule"
    PAUSE = "pause"
    RESUME = "resume"
    ORDER = "order"
    CANCEL = "cancel"
    DRAIN = "drain"
    GATE = "gate"
    WAIVE = "waive"
    REVOKE = "revoke"
    ISSUE = "issue"
    ROTATE = "rotate"
    OPEN = "open"
    TRIAGE = "triage"
    MERGE = "merge"
    SPLIT = "split"
    REOPEN = "reopen"
    VERIFY = "verify"
    CONFIRM = "confirm"
    ATTRIBUTE = "attribute"


class Noun(StrEnum):
    """The closed list of what it is done to."""

    BASELINE = "baseline"
    CONSTRAINT = "constraint"
    QUALIFICATION = "qualification"
    GATE = "gate"
    INCIDENT = "incident"
    CONFIRM = "confirm"
    RUN = "run"
    RUNNER = "runner"
    SESSION = "session"
    SCHEDULE = "schedule"
    TOKEN = "token"
    RULE = "rule"
    WAIVER = "waiver"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Entry:
    """One act. before, after: what the thing was and became; None for nothing.

    noun_id: the thing's own id as text. actor: a token's name, or what a person called themselves
    where the service asks for no token.
    """

    at: datetime
    actor: str
    act: Act
    noun: Noun
    noun_id: str
    reason: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
