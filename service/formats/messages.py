"""The shape every message shares: frozen, and strict about fields it does not know."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Frozen, and strict about unknown fields, so a typo fails at the door."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
