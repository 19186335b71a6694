"""A runner whose servers only stand there: `python -m tests.e2e.standing_runner`.

Everything but the steps on the host is the real runner's: its settings, locks, leases, loop, spool,
messages and keeper. A launch starts a process that sleeps, and a repeat lasts as its prompts do.
Where a card is found with the server of another launch still on it, that is written to twice.log.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners import worker
from runners.benchmarks.repeat import Repeat, RepeatStoppedError
from runners.preflight.layers import Check, Works
from runners.preflight.serving import Answer
from runners.reports import launch_id_of
from runners.run_job import Prepared, Stop, Tell
from runners.stacks.kept import kept
from runners.steps import HostSteps
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.resolution import Fact
from service.formats.orders import JobOrder
from service.formats.reports import GateFinding

# So long a repeat of so many prompts lasts; one of more lasts longer.
REPEAT_S, PROMPTS = 0.8, 8
FOLDER = "STANDING_FOLDER"


class StandingLaunched:
    """A server that stands there."""

    start_up_s = 0.1

    def info(self) -> Mapping[str, Any]:
        return {}

    def resolution(self) -> Mapping[str, Fact]:
        return {"standing": True}

    def texts(self) -> Mapping[str, bytes]:
        return {}

    def capacity(self, conditions: Sequence[Condition]) -> Check:
        return Check(Layer.CAPACITY, lambda _: Works(f"{len(conditions)} cells"))

    def answer(self) -> Answer:
        return Answer(Works("alike"), (-1.0,))

    def answer_under(self, condition: Condition) -> Answer:
        return Answer(Works(f"{condition.traffic.concurrency}"), (-1.0,))

    def probe(self, condition: Condition) -> tuple[GateFinding, ...]:
        return ()

    def repeat(
        self, condition: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        began = time.time()
        lasts_s = REPEAT_S * condition.traffic.prompts / PROMPTS
        while time.time() - began < lasts_s:
            if stopped():
                raise RepeatStoppedError(name)
            time.sleep(0.05)
        values = {"ttft_p50": 0.02, "tpot_p50": 0.005, "output_throughput": 600.0}
        return Repeat(seed, began, time.time(), 0.0, values, (), {})

    def profile(self, condition: Condition, *, name: str, on_cards: bool) -> Mapping[str, bytes]:
        return {}


@dataclass(frozen=True, slots=True)
class StandingSteps:
    """The steps of a host on which nothing is built or measured."""

    host: str
    cards: tuple[str, ...]
    folder: Path

    def prepare(self, order: JobOrder, tell: Tell) -> Prepared:
        observed = dict(order.stack.stack.versions)
        return Prepared(self.folder, self.folder, self.folder, self.folder, observed)

    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        return ()

    @contextmanager
    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> Iterator[StandingLaunched]:
        launch = str(launch_id_of(order))
        with kept(
            ["/bin/sleep", "600"],
            environment=os.environ,
            log=self.folder / f"{launch}.log",
            grace_s=1.0,
        ) as server:
            for card in self.cards:
                self._on_card(card, launch, server.pid)
            yield StandingLaunched()

    def _on_card(self, card: str, launch: str, pid: int) -> None:
        """Note who is on a card, and whether whoever was there before is still there."""
        note = self.folder / f"{self.host}-{card}.on"
        if note.exists() and Path("/proc", note.read_text(encoding="utf-8")).exists():
            with (self.folder / "twice.log").open("a", encoding="utf-8") as log:
                log.write(f"{launch} found {note.read_text()} on {note.name}\n")
        note.write_text(str(pid), encoding="utf-8")

    def let_go(self, idle_s: float) -> None:
        """Nothing stands by here."""

    def server_log(self, prepared: Prepared) -> bytes:
        return b""


def standing(**settled: Any) -> StandingSteps:
    """Return steps in place of a real host's."""
    cards = tuple(str(card.number) for card in settled["cards"])
    return StandingSteps(settled["host"], cards, Path(os.environ[FOLDER]))


if __name__ == "__main__":
    vars(worker)[HostSteps.__name__] = standing  # the one thing that is not real
    code = worker.main()
    sys.stderr.flush()
    os._exit(code)
