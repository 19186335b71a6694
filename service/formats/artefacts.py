"""Texts and files kept byte-exact beside what was read from them."""

from pydantic import NonNegativeInt

from service.formats.identities import Key
from service.formats.messages import Message


class ArtefactRead(Message):
    """One artefact of a run or launch. digest: SHA-256 of its content, which is its address."""

    name: str
    media_type: str
    digest: Key
    size_bytes: NonNegativeInt


class ArtefactStored(Message):
    """The answer to an upload."""

    digest: Key
    stored: bool
