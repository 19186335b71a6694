"""The protocol: how a number was measured."""

from dataclasses import dataclass
from functools import cached_property

from service.domain.key import content_key

# Raised only when a change of ours may change a measured number.
MEASURING_REVISION = 1


@dataclass(frozen=True)
class Protocol:
    """Client, tokenizer and definitions behind a measured value.

    client: the benchmark tool, such as 'sglang.bench_serving'. client_version: its release.
    tokenizer_digest: SHA-256 of the tokenizer's files. metric_revision: see METRIC_REVISION.
    A difference starts a new series; it is never a regression.
    """

    client: str
    client_version: str
    tokenizer_digest: str
    metric_revision: int
    measuring_revision: int = MEASURING_REVISION

    @cached_property
    def key(self) -> str:
        """The content key: SHA-256 of the protocol's canonical JSON."""
        return content_key(self)
