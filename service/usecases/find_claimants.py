"""Find who may take a session's launches, and say of each runner of the pool what keeps it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from uuid import UUID

import zstandard

from service.domain.claimant import Needs, Offer, obstacle
from service.domain.job import ENDED, JobState
from service.domain.window import may_be_open
from service.formats.claimants import ClaimantRead, ClaimantsRead
from service.formats.orders import Claim
from service.store import artefacts, jobs, runners, sessions
from service.store.artefacts import Content, Files, Held
from service.store.database import ReadSession, WriteSession
from service.store.runners import StoredRunner

# What a runner's window is called among what this life of it holds.
WINDOW = "window"
TEXT = "text/plain"


def keep_window(session: WriteSession, claim: Claim, *, files: Files, now: datetime) -> None:
    """Keep when a runner begins jobs, where it says that: a life of it has one window."""
    if claim.window is None:
        return
    text = claim.window.encode()
    content = Content(
        sha256(text).hexdigest(), len(text), zstandard.ZstdCompressor().compress(text)
    )
    artefacts.keep(session, files, [content], now=now)
    artefacts.hold(session, claim.incarnation, [Held(WINDOW, content.digest, TEXT)])


def find_claimants(
    session: ReadSession, session_id: UUID, *, files: Files, now: datetime
) -> ClaimantsRead:
    """Return who may take what is left of a session. Raises UnknownSessionError."""
    found = sessions.read(session, session_id)
    left = [job for job in jobs.of_session(session, session_id) if job.state not in ENDED]
    states = {job.state for job in left}
    cards = max((int(job.launch["cards"]) for job in left), default=1)
    needs = Needs(found.pool, found.chip, cards, found.host)
    of_pool = [each for each in runners.by_name(session) if each.capacity.pool == needs.pool]
    windows = _windows(session, of_pool, files)
    return ClaimantsRead(
        pool=needs.pool,
        chip=needs.chip,
        cards=needs.cards,
        host=needs.host,
        waits=JobState.QUEUED in states and JobState.CLAIMED not in states,
        runners=tuple(_read(needs, each, windows, now) for each in of_pool),
    )


def _read(
    needs: Needs, runner: StoredRunner, windows: Mapping[str, str], now: datetime
) -> ClaimantRead:
    capacity = runner.capacity
    begins = windows.get(capacity.incarnation)
    offer = Offer(capacity, runner.state, now - runner.seen_at, may_be_open(begins, now))
    return ClaimantRead(
        runner=capacity.runner,
        host=capacity.host,
        chips=capacity.chips,
        cards=capacity.cards,
        obstacle=obstacle(needs, offer),
        window=begins,
        seen_at=runner.seen_at,
    )


def _windows(
    session: ReadSession, of_pool: Sequence[StoredRunner], files: Files
) -> Mapping[str, str]:
    """Return the windows of runners by the life that told them."""
    lives = {UUID(each.capacity.incarnation) for each in of_pool}
    digests = {
        str(life): held.digest
        for life, holds in artefacts.of_holders(session, lives).items()
        for held in holds
        if held.name == WINDOW
    }
    texts = {digest: _text(session, files, digest) for digest in set(digests.values())}
    return {life: texts[digest] for life, digest in digests.items()}


def _text(session: ReadSession, files: Files, digest: str) -> str:
    found = artefacts.read(session, files, digest)
    return zstandard.ZstdDecompressor().decompress(found.zstd, found.size_bytes).decode()
