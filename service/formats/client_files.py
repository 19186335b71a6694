"""Client files: the benchmark client, pinned in an environment of its own."""

from types import MappingProxyType
from typing import Literal

from service.domain.condition import Load
from service.domain.metric import METRIC_REVISION
from service.domain.protocol import Protocol
from service.formats.build_sections import BuildSection
from service.formats.identities import Name
from service.formats.lock_files import Lock
from service.formats.messages import Message
from service.formats.orders import ClientOrder

# Fixed batches are sent by another module of the same release, in the same environment.
TOOL_OF_LOAD = MappingProxyType(
    {
        Load.CLOSED: "sglang.bench_serving",
        Load.OPEN: "sglang.bench_serving",
        Load.BATCH: "sglang.bench_one_batch_server",
    }
)


class ClientFile(Message):
    """A client: its tool, the tool's release, and how its environment is built."""

    name: Name
    tool: Literal["sglang.bench_serving"]
    version: str
    build: BuildSection

    def protocol(self, load: Load, *, tokenizer_digest: str) -> Protocol:
        """Return how a number is measured that this client takes under a kind of load."""
        return Protocol(
            client=TOOL_OF_LOAD[load],
            client_version=self.version,
            tokenizer_digest=tokenizer_digest,
            metric_revision=METRIC_REVISION,
        )

    def order(self, lock: Lock) -> ClientOrder:
        """Return the client as a runner is asked for it."""
        return ClientOrder(
            name=self.name,
            tool=self.tool,
            version=self.version,
            build=self.build.order(lock),
        )
