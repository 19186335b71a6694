"""Reports on their way to the service: on this host's disk first, then sent until they arrive."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog
from pydantic import ValidationError

from service.client import RefusedError, ServiceAwayError
from service.formats.reports import LaunchReport, RunReport, Stored

Report = RunReport | LaunchReport

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
# Refusals that say nothing of the report: a wrong token, a rate limit, releases too far apart.
NOT_OF_THE_REPORT = frozenset({401, 403, 429})
RELEASES_APART = "ReleasesApartError"

log = structlog.get_logger()


class Receiver(Protocol):
    """Whoever takes reports: the service's client."""

    def report_run(self, report: RunReport) -> Stored:
        """Store a run."""
        ...

    def report_launch(self, report: LaunchReport) -> None:
        """Store a launch."""
        ...


@dataclass(frozen=True, slots=True)
class Spooled:
    """A report on disk."""

    path: Path
    report: Report


class Spool:
    """A folder of reports not yet delivered, oldest first; a file there is always whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refused = folder / "refused"
        self.corrupt = folder / "corrupt"
        for each in (folder, self.refused, self.corrupt):
            each.mkdir(parents=True, exist_ok=True)
        for half in folder.glob("*.tmp"):
            half.unlink()

    def put(self, report: Report) -> Path:
        """Write a report and return its file; once this returns, a power cut cannot lose it."""
        kind, own_id = _kind_and_id(report)
        path = self.folder / f"{time.time_ns():020d}-{kind}-{own_id}.json"
        half = path.with_suffix(".tmp")
        with half.open("wb") as stream:
            stream.write(report.model_dump_json().encode())
            stream.flush()
            os.fsync(stream.fileno())
        half.rename(path)
        _sync(self.folder)
        return path

    def waiting(self) -> Sequence[Spooled]:
        """Return what is not delivered, oldest first; what cannot be read is set aside."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                found.append(Spooled(path, _read(path)))
            except (ValidationError, ValueError, OSError) as error:
                log.warning("a spooled report cannot be read", file=path.name, error=str(error))
                path.rename(self.corrupt / path.name)
        return found

    def delivered(self, spooled: Spooled) -> None:
        """Forget a report that arrived."""
        spooled.path.unlink()

    def refuse(self, spooled: Spooled, reason: str) -> None:
        """Set a report aside that the service will never take, with its words."""
        spooled.path.rename(self.refused / spooled.path.name)
        why = self.refused / f"{spooled.path.stem}.reason.txt"
        why.write_text(reason + "\n", encoding="utf-8")


class Courier:
    """Brings reports from the spool to the service, in order."""

    def __init__(
        self, spool: Spool, receiver: Receiver, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._spool = spool
        self._receiver = receiver
        self._sleep = sleep

    def deliver(self, report: Report) -> None:
        """Put a report on disk and try to send it; a service that is away gets it later."""
        self._spool.put(report)
        try:
            self.send_waiting()
        except ServiceAwayError as error:
            log.warning("the service is away; reports wait on disk", error=str(error))

    def send_waiting(self) -> None:
        """Send all that waits. Raises ServiceAwayError, and what is left stays on disk."""
        for spooled in self._spool.waiting():
            try:
                self._send(spooled.report)
            except RefusedError as error:
                if not _is_of_the_report(error):
                    raise ServiceAwayError(f"the service refuses this runner: {error}") from error
                log.warning("a report was refused", file=spooled.path.name, reason=str(error))
                self._spool.refuse(spooled, str(error))
            else:
                self._spool.delivered(spooled)

    def drain(self, *, limit_s: float, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Return whether all that waits was sent, tried again and again within a limit.

        given_up: looked at between two tries.
        """
        pause_s, waited_s = FIRST_PAUSE_S, 0.0
        while True:
            try:
                self.send_waiting()
            except ServiceAwayError as error:
                if waited_s >= limit_s or given_up():
                    log.warning("reports stay on disk", error=str(error))
                    return False
                self._sleep(pause_s)
                waited_s += pause_s
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                return True

    def _send(self, report: Report) -> None:
        if isinstance(report, RunReport):
            stored = self._receiver.report_run(report)
            log.info("run delivered", run=str(report.run_id), stored=stored.stored)
        else:
            self._receiver.report_launch(report)
            log.info("launch delivered", launch=str(report.launch_id))


def _kind_and_id(report: Report) -> tuple[str, str]:
    if isinstance(report, RunReport):
        return "run", str(report.run_id)
    return "launch", str(report.launch_id)


def _read(path: Path) -> Report:
    kind = path.name.partition("-")[2].partition("-")[0]
    text = path.read_bytes()
    if kind == "run":
        return RunReport.model_validate_json(text)
    if kind == "launch":
        return LaunchReport.model_validate_json(text)
    raise ValueError(f"no kind of report is called {kind!r}")


def _is_of_the_report(error: RefusedError) -> bool:
    problem = error.problem
    return problem.status not in NOT_OF_THE_REPORT and problem.type != RELEASES_APART


def _sync(folder: Path) -> None:
    """Write the folder's own list of names to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
