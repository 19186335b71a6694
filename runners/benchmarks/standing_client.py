"""The benchmark client between launches: its imports are paid for once, not at every launch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from runners.benchmarks.client import Client, Tool, client, client_environment

HOME, LOG = "client", "client.log"


class StandingClient:
    """At most one client process, that stands by for the next launch with such tools."""

    def __init__(self) -> None:
        self._process = ExitStack()
        self._python: Path | None = None
        self._tools: frozenset[Tool] = frozenset()
        self._client: Client | None = None
        self._free_since = 0.0

    @contextmanager
    def taken(
        self,
        python: Path,
        tools: Sequence[Tool],
        folder: Path,
        *,
        variables: Mapping[str, str],
        ready: Callable[[Client], None],
    ) -> Iterator[Client]:
        """Give a client that is ready, and let it stand by on leaving; after an error it is ended.

        It is ready before anything else is started, so that its imports are in nobody's way.
        python: of the client's environment. folder: of the launch; a client that is started has
        its home and its log there, and is started anew once they are gone. variables: the runner's
        own. ready: waits for the imports. Raises ClientBrokenError.
        """
        wanted = frozenset(tools)
        imported = self._tools if python == self._python else frozenset()
        if self._client is None or not wanted <= imported or not self._client.lives:
            self.end()
            home = folder / HOME
            home.mkdir()
            environment = client_environment(variables, home=home)
            # What it had goes along, so that launches that take turns need no new one each.
            self._python, self._tools = python, wanted | imported
            every = sorted(self._tools, key=lambda tool: tool.name)
            self._client = self._process.enter_context(
                client(python, every, environment=environment, log=home / LOG)
            )
        try:
            if not self._client.ready:
                ready(self._client)
            yield self._client
        except BaseException:
            self.end()
            raise
        self._free_since = time.monotonic()

    def end_where_idle(self, seconds: float) -> None:
        """End a client that nobody took for so long: it holds memory of the host."""
        if time.monotonic() - self._free_since >= seconds:
            self.end()

    def end(self) -> None:
        """Leave no process."""
        self._client = self._python = None
        self._process.close()
