"""Follow a session to its end: a progress bar at a terminal, one line a step elsewhere."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from uuid import UUID

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from service.cli.answers.words import Language
from service.cli.session_words import CATALOGUES
from service.client import Client
from service.formats.reasons import progress_in_chinese
from service.formats.sessions import JobRead, SessionRead

POLL_S = 0.5
OVER = frozenset({"finished", "cancelled"})
SETTLED = frozenset({"reported", "given up", "cancelled"})
# A launch's start-up takes about as long as this many repeats; it only shapes the bar.
START_WEIGHT = 8.0
BAR = 20
# What stands beside a description: the bar, a spinner, a share, two times, a word and the gaps.
BESIDE = BAR + 32
# Away from a terminal a line is printed at least for each twentieth of the whole.
STEPS_SAID = 20


def follow(
    client: Client,
    session_id: UUID,
    *,
    tend: Callable[[], None] = lambda: None,
    language: Language = Language.EN,
) -> SessionRead:
    """Return a session once it is over, showing how far it is on stderr meanwhile.

    tend: called with each poll; keeps an embedded service's children running.
    """
    console = Console(stderr=True)
    told = _snapshots(client, session_id, tend)
    if console.is_terminal:
        return _with_bar(told, console, language)
    return _with_lines(told, console, language)


def _with_bar(
    told: Iterator[tuple[SessionRead, float]], console: Console, language: Language
) -> SessionRead:
    words = CATALOGUES[language]
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=BAR),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn(words["left"]),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=300) as bars:
        whole = bars.add_task(words["session"], total=1.0)
        present = bars.add_task(words["nobody"], total=None)
        for session, share in told:
            bars.update(whole, completed=share, description=_counts(session, words))
            fraction = present_fraction(session)
            total = None if fraction is None else 1.0
            line = present_line(session, by_role=True, language=language)
            line = clipped(line, console.width - BESIDE)
            bars.update(present, description=line, completed=fraction or 0.0, total=total)
    return session


def _with_lines(
    told: Iterator[tuple[SessionRead, float]], console: Console, language: Language
) -> SessionRead:
    words = CATALOGUES[language]
    said: tuple[str, int] | None = None
    for session, share in told:
        step = (present_line(session).partition(" (")[0], int(share * STEPS_SAID))
        if step != said:
            said = step
            line = present_line(session, language=language)
            text = f"{share:4.0%} {_counts(session, words)}{words['semicolon']}{line}"
            console.print(text, highlight=False, markup=False, soft_wrap=True)
    return session


def _snapshots(
    client: Client, session_id: UUID, tend: Callable[[], None]
) -> Iterator[tuple[SessionRead, float]]:
    """Yield a session again and again until it is over, with how much of it is done.

    The share never falls: a launch that is lost is measured again, and what was seen stays seen.
    """
    share = 0.0
    while True:
        session = client.session(session_id)
        share = max(share, done(session))
        yield session, share
        if session.state in OVER:
            return
        tend()
        time.sleep(POLL_S)


def clipped(line: str, width: int) -> str:
    """Return a line that leaves the bar its place."""
    if cell_len(line) <= width:
        return line
    return f"{set_cell_size(line, max(width, BAR) - 1)}…"


def done(session: SessionRead) -> float:
    """Return how much of a session is done, 0 to 1, start-ups weighed in."""
    whole = sum(START_WEIGHT + job.repeats for job in session.jobs)
    return sum(_job_done(job) for job in session.jobs) / whole


def present_line(
    session: SessionRead, *, by_role: bool = False, language: Language = Language.EN
) -> str:
    """Return what happens now, for a person.

    by_role: of two stacks say which is the base and which the candidate: their names are long.
    """
    job, words = _present(session), CATALOGUES[language]
    if job is None:
        waiting = any(job.state not in SETTLED for job in session.jobs)
        return words["nobody"] if waiting else _over(session, words)
    role = _role(session, job) if by_role else None
    named = {"number": job.ordinal + 1, "stack": words[role] if role else job.stack_name}
    if job.progress is None:
        return words["claimed"].format(runner=job.runner, **named)
    # A newer runner may have phases and steps of its own.
    phase, text = job.progress.phase, job.progress.text
    line = words["present"].format(phase=words.get(f"phase {phase}", phase), **named)
    if not text:
        return line
    said = progress_in_chinese(text) if language is Language.ZH else text
    return line + words["beside"].format(text=said)


def _role(session: SessionRead, job: JobRead) -> str | None:
    base = session.baseline_stack_key
    if base is None or len({each.stack_key for each in session.jobs}) > len(("base", "candidate")):
        return None
    return "base" if job.stack_key == base else "candidate"


def _over(session: SessionRead, words: Mapping[str, str]) -> str:
    """Return how the launches ended: one that was left out was not measured."""
    left_out = "cancelled" if session.state == "cancelled" else "left out"
    ends = Counter(_end(job, left_out) for job in session.jobs)
    return words["comma"].join(
        words[f"end {end}"].format(count=count) for end, count in ends.items()
    )


def _end(job: JobRead, left_out: str) -> str:
    if job.state == "cancelled":
        return left_out
    if job.state == "given up":
        return "given up"
    return "measured" if job.broken is None else "broken"


def present_fraction(session: SessionRead) -> float | None:
    """Return how far the present step of the present launch is, or None where unknown."""
    job = _present(session)
    return job.progress.fraction if job is not None and job.progress is not None else None


def _counts(session: SessionRead, words: Mapping[str, str]) -> str:
    measured = sum(job.state == "reported" for job in session.jobs)
    return words["counts"].format(plan=session.plan, measured=measured, count=len(session.jobs))


def _present(session: SessionRead) -> JobRead | None:
    return next((job for job in session.jobs if job.state == "claimed"), None)


def _job_done(job: JobRead) -> float:
    if job.state in SETTLED:
        return START_WEIGHT + job.repeats
    measured = job.repeats * job.cells_reported / job.cells
    if job.state != "claimed" or job.progress is None:
        return measured
    fraction = job.progress.fraction or 0.0
    match job.progress.phase:
        case "measure":
            return START_WEIGHT + max(measured, job.repeats * fraction)
        case "start":
            return START_WEIGHT * (0.5 + 0.5 * fraction)
        case _:
            return START_WEIGHT * 0.25
