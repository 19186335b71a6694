"""Weights on a host's own disk: what was copied there, and what is asked and told of it."""

from typing import Literal

from pydantic import NonNegativeInt

from service.formats.identities import Key
from service.formats.messages import Message


class StagedFile(Message):
    """A file as it lies, and as it lay where it came from.

    sha256: of its content, taken while it was copied. inode, mtime_ns: of the copy; none of the
    two survives that it is written to or replaced. source_mtime_ns: of the original.
    """

    size: NonNegativeInt
    sha256: Key
    mtime_ns: int
    inode: int
    source_mtime_ns: int


class StagedWeights(Message):
    """What lies in a folder of staged weights: its note. source: where they came from."""

    version: Literal[1] = 1
    source: str
    files: dict[str, StagedFile]


class StagingQuestion(Message):
    """What is to be done: to stage a folder from a source, or to look at it without one.

    full: read every file again. weights_digest, tokenizer_digest: what they must be; None: any.
    """

    version: Literal[1] = 1
    folder: str
    source: str | None = None
    full: bool = False
    weights_digest: Key | None = None
    tokenizer_digest: Key | None = None


class StagingAnswer(Message):
    """What lies in the folder now. unlike: what is not as it was staged; then no digests are told.

    copied_bytes: by this command.
    """

    folder: str
    files: NonNegativeInt
    size_bytes: NonNegativeInt
    copied_bytes: NonNegativeInt = 0
    unlike: tuple[str, ...] = ()
    weights_digest: Key | None = None
    tokenizer_digest: Key | None = None
