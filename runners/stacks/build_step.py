"""One command of a build: kept, limited in time, its output in the build's log."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.stacks.kept import kept, tail

# What is being done, and how much of it is over (0 to 1, or None where unknown). It is called
# often while something runs, and may raise to stop it.
Progress = Callable[[str, float | None], None]

# What would make a command look at the runner's own Python instead of the one it is given.
_OF_THE_RUNNER = frozenset(
    {
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "PYTHONHOME",
        "UV_PYTHON",
        "UV_PROJECT_ENVIRONMENT",
        "UV_SYSTEM_PYTHON",
    }
)
# The runner's own settings, its token and the broker's password among them.
_OWN_SETTINGS = "KUNLINE_"
_LOOK_S = 0.3


class BuildStepError(RuntimeError):
    """A command of a build failed or took too long; the log's last lines are in the message."""

    def __init__(self, what: str, why: str, log: Path) -> None:
        super().__init__(f"{what}: {why}; the whole log is {log}\n{tail(log)}")


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where commands of one build run: their environment, their log, who is told of progress.

    folder: where they run unless told otherwise. A project file there or above it would be read.
    """

    variables: Mapping[str, str]
    log: Path
    progress: Progress
    folder: Path

    def run(
        self,
        what: str,
        command: Sequence[str | Path],
        *,
        limit_s: float,
        extra: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Run one command to its end, passing on what it says of downloads.

        what: said in errors. extra: variables for this command alone. folder: where it runs.
        Raises BuildStepError when it fails or is not done after limit_s seconds.
        """
        words = [str(word) for word in command]
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(words)}\n")
        variables = {
            name: value
            for name, value in self.variables.items()
            if name not in _OF_THE_RUNNER and not name.startswith(_OWN_SETTINGS)
        }
        variables.update(extra or {})
        heard, latest = self.log.stat().st_size, what
        with kept(
            words, environment=variables, log=self.log, folder=folder or self.folder
        ) as child:
            deadline = time.monotonic() + limit_s
            while True:
                try:
                    code = child.wait(_LOOK_S)
                    break
                except subprocess.TimeoutExpired:
                    heard, latest = self._heard(heard, latest)
                    self.progress(latest, None)
                if time.monotonic() >= deadline:
                    raise BuildStepError(what, f"not done after {limit_s:.0f} s", self.log)
        if code != 0:
            raise BuildStepError(what, f"exit code {code}", self.log)

    def _heard(self, heard: int, latest: str) -> tuple[int, str]:
        """Return how far the log is read, and the newest download that the command wrote of."""
        with self.log.open("rb") as log:
            log.seek(heard)
            new = log.read()
        for line in reversed(new.decode(errors="replace").splitlines()):
            if line.strip().startswith(("Downloading", "Downloaded", "Prepared", "Installed")):
                latest = line.strip()
                break
        return heard + len(new), latest
