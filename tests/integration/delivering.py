"""A process from which answers are delivered, as far as a delivery sees it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from service.cli.answers.deliver import Step
from service.cli.answers.wanted import Surroundings

NOW_S = 1_796_018_400


@dataclass
class Process:
    """What a delivery has of its process: an environment, a clock that stands, and a log."""

    environ: dict[str, str]
    paused_s: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def around(self) -> Surroundings:
        """Return it as a delivery wants it."""
        return Surroundings(self.environ, lambda: NOW_S + 0.5, self.paused_s.append, self.say)

    def say(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)


def only_step(name: str, found: Iterator[Step]) -> Step:
    """Return the one step of a name."""
    (step,) = (each for each in found if each.name.startswith(name))
    return step
