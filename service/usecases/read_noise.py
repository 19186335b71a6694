"""Read noise: what sessions tell of it together, and the spread that a comparison may expect."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from service.domain.cell import Cell, title
from service.domain.metric import METRICS
from service.domain.noise import Noise, expected_of
from service.formats.noise import NoiseRead
from service.stats.variance import Expected, pooled
from service.store import conditions, noise
from service.store.database import ReadSession
from service.store.noise import NoiseKey, ToldNoise
from service.usecases.tell_hosts_apart import tell_hosts_apart

# As many conditions as are asked for at one time.
BATCH = 200


def list_noise(
    session: ReadSession,
    *,
    condition_keys: Collection[str] = (),
    host: str | None = None,
    session_id: UUID | None = None,
) -> tuple[NoiseRead, ...]:
    """Return what is known of the noise under some conditions, or in the cells of a session.

    host: of that host alone.
    """
    told = None if session_id is None else set(noise.of_session(session, session_id))
    wanted = {key.cell.condition_key for key in told} if told is not None else set(condition_keys)
    known = conditions.by_key(session, wanted)
    found = noise.of_conditions(session, wanted, host=host)
    apart = tell_hosts_apart(session, wanted)
    return tuple(
        NoiseRead.of(
            key.cell,
            noise_of(key, sessions),
            title(known[key.cell.condition_key]),
            {told_by.session_id: told_by.run_ids for told_by in sessions},
            apart=apart.get((key.cell, key.metric)),
        )
        for key, sessions in sorted(found.items(), key=lambda item: _order(item[0]))
        if told is None or key in told
    )


def expected(
    session: ReadSession, cells: Collection[Cell], *, host: str, without_sessions: Collection[UUID]
) -> Mapping[Cell, Mapping[str, Expected]]:
    """Return the spread to expect in some cells, by metric; nothing where none is known.

    without_sessions: those that are being judged, which are not to speak twice.
    """
    wanted = sorted({cell.condition_key for cell in cells})
    by_cell: dict[Cell, dict[str, Expected]] = defaultdict(dict)
    # In batches, for years of nights tell more than should be held at one time.
    for begin in range(0, len(wanted), BATCH):
        found = noise.told_on_host(
            session, wanted[begin : begin + BATCH], host=host, without_sessions=without_sessions
        )
        for key, sessions in found.items():
            metric = METRICS[key.metric]
            by_cell[key.cell][key.metric] = expected_of(metric, noise_of(key, sessions))
    return by_cell


def noise_of(key: NoiseKey, sessions: Sequence[ToldNoise]) -> Noise:
    """Return what sessions tell of one noise together."""
    return Noise(
        metric=key.metric,
        host=key.host,
        estimate=pooled([told.squares for told in sessions]),
        launches=sum(told.launches for told in sessions),
        sessions=len(sessions),
    )


def _order(key: NoiseKey) -> tuple[str, str, str, str]:
    return key.cell.condition_key, key.cell.protocol_key, key.host, key.metric
