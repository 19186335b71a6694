"""What a host shows of itself to whoever is to correct Kunline for it: texts by file name."""

from typing import Annotated, Literal

from pydantic import Field

from service.formats.messages import Message

Text = Annotated[str, Field(max_length=2_000_000)]


class HostEvidence(Message):
    """Files without secrets, serial numbers and addresses, and what is amiss, a sentence each."""

    version: Literal[1] = 1
    files: dict[str, Text] = Field(max_length=200)
    amiss: tuple[str, ...] = Field(default=(), max_length=100)
