"""What stands beside the runs of the pages' bench: noise, screens, events, incidents, texts."""

import struct
from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import psycopg
import zstandard
from psycopg.types.json import Jsonb
from sqlalchemy import Engine

from service.domain.baseline import Move, MoveKind
from service.domain.cell import Cell
from service.domain.condition import Condition
from service.domain.incident import Answer, Direction, Incident, IncidentCell, Triage
from service.domain.noise import KEPT
from service.store import baseline_moves, compat, incidents
from service.store.baseline_moves import StoredMoved
from service.store.database import writing
from service.store.inserts import insert_new
from service.store.tables import CompatToldRow
from service.usecases.derive_compat import compat_rule, derive_compat
from service.usecases.judge_squares import rule_of
from tests.bench.web_fill import IN_SESSION, LAUNCHES, STACKS, Made, built, name, run_id, session_id
from tests.integration import gating
from tests.integration.builders import NOW, PROTOCOL

INCIDENTS, INCIDENT_CELLS = 500, 200
EVENT_CELLS = 100
GATES = 10
# Of the stacks with a thousand cells, those that the compatibility table tells of.
TOLD = 2
MOVES = 30
WEBHOOKS, DELIVERIES = 5, 2000
LOG_LINES = 20_000
CARDS, SECONDS = 8, 600
METRICS = tuple(metric.name for metric in KEPT)


def keep_gates(engine: Engine) -> None:
    """Ask for gates, and measure them."""
    for number in range(GATES):
        gating.ask(engine, gating.gate_order(), f"gate {number}")
    gating.measure(engine)


def tell_compat(engine: Engine, *, release: str) -> None:
    """Tell the compatibility table of the newest stacks; the others are as good as told."""
    rule = rule_of(release)
    with writing(engine) as session:
        derive_compat(session, rule=rule, limit=TOLD, now=NOW)
        due = compat.due(session, rule=compat_rule(rule), limit=STACKS)
        rows = [{"stack_key": key, "rule": compat_rule(rule), "told_at": NOW} for key in due]
        insert_new(session, CompatToldRow, rows)


def keep_incidents(engine: Engine, of: Made) -> None:
    """Open incidents, one a stack, each of two hundred metrics of cells; some are answered."""
    for number in range(INCIDENTS):
        at = NOW + timedelta(hours=number)
        triage = Triage.OPEN if number % 10 == 0 else Triage.NOISE
        incident = Incident(
            id=name(f"incident {number}"),
            title="ttft_p50 worse",
            direction=Direction.WORSE,
            baseline_stack_key=of.stacks[0].key,
            candidate_stack_key=of.stacks[1 + number % (STACKS - 1)].key,
            opened_at=at,
            opened_by="kunline",
            seen_at=at,
            answer=Answer(triage),
            triaged_at=None if triage is Triage.OPEN else at,
        )
        cells = map(_cell, of.conditions[number : number + INCIDENT_CELLS])
        with writing(engine) as session:
            incidents.keep(
                session,
                incident,
                [IncidentCell(cell, "ttft_p50", 0.05, 0.04, 0.06) for cell in cells],
            )


def keep_moves(engine: Engine, of: Made) -> None:
    """Move all baselines, and again, as each release does."""
    for number in range(MOVES):
        at = NOW + timedelta(hours=number)
        move = Move(name(f"move {number}"), "main", MoveKind.RELEASE, at, "ann", "released")
        moved = [StoredMoved(move.id, _cell(condition)) for condition in of.conditions]
        with writing(engine) as session:
            baseline_moves.keep(session, move, moved)


def insert_noise(connection: psycopg.Connection, of: Made) -> None:
    """Store what each night tells of the noise of each of its cells."""
    columns = (
        "session_id, condition_key, protocol_key, metric, host, launch_squares, launch_freedom, "
        "launch_coefficient, seed_squares, seed_freedom, seed_coefficient, residual_squares, "
        "residual_freedom, launches, run_ids, measured_at"
    )
    told = (0.0002, 1.0, 10.0, 0.0018, 9.0, 2.0, 0.0009, 9.0, LAUNCHES)
    with connection.cursor().copy(f"COPY noise ({columns}) FROM STDIN") as copy:
        for number in range(STACKS):
            for host, under in of.by_host.items():
                for one in under:
                    ids = [str(run_id(number, host, one, launch=n)) for n in range(LAUNCHES)]
                    rests = (*told, Jsonb(ids), built(number))
                    for metric in METRICS:
                        cell = (session_id(number, host), one.key, PROTOCOL.key, metric, host)
                        copy.write_row((*cell, *rests))
    connection.execute(
        "INSERT INTO noise_version (condition_key, protocol_key, host, version) "
        "SELECT condition_key, protocol_key, host, 1 FROM noise GROUP BY 1, 2, 3 "
        "ON CONFLICT DO NOTHING"
    )


def insert_screens(connection: psycopg.Connection, of: Made) -> None:
    """Store a look a night, where the screen stands in each series, and an event a night."""
    # The gates were looked at in some of these series.
    connection.execute("DELETE FROM screen")
    places = {**of.by_host, "h3": of.long[:1]}
    for host, under in places.items():
        looks = [_look(connection, of, number, host) for number in range(STACKS)]
        _insert_standing(connection, host, under, looks)
        for number in range(1, STACKS):
            _insert_event(connection, of, number, host, looks[number])


def insert_rest(connection: psycopg.Connection, of: Made) -> None:
    """Store texts of a run, webhooks and what was sent, waivers, schedules and tokens."""
    run = run_id(STACKS - 1, "h1", of.by_host["h1"][0])
    for title, text in (("server.log", _log()), ("cards.csv", _cards())):
        digest = sha256(text).hexdigest()
        connection.execute(
            "INSERT INTO artefact (digest, size_bytes, zstd, stored_at) VALUES (%s, %s, %s, %s)",
            (digest, len(text), zstandard.ZstdCompressor().compress(text), NOW),
        )
        connection.execute(
            "INSERT INTO held_artefact (holder_id, name, digest, media_type) "
            "VALUES (%s, %s, %s, 'text/plain')",
            (run, title, digest),
        )
    for number in range(WEBHOOKS):
        connection.execute(
            "INSERT INTO webhook (id, name, form, address, kinds, language, made_at, made_by) "
            "VALUES (%s, %s, 'kunline', 'env:KUNLINE_HOOK', '[]', 'en', %s, 'ann')",
            (name(f"webhook {number}"), f"hook-{number}", NOW),
        )
    for number in range(DELIVERIES):
        connection.execute(
            "INSERT INTO delivery (id, webhook_id, notification_id, kind, facts, state, attempts, "
            "made_at, sent_at) VALUES (%s, %s, %s, 'test', '{\"name\": \"hook\"}', 'sent', 1, "
            "%s, %s)",
            (
                name(f"delivery {number}"),
                name(f"webhook {number % WEBHOOKS}"),
                name(f"notification {number}"),
                NOW + timedelta(minutes=number),
                NOW + timedelta(minutes=number),
            ),
        )


def _cell(condition: Condition) -> Cell:
    return Cell(condition.key, PROTOCOL.key)


def _look(connection: psycopg.Connection, of: Made, number: int, host: str) -> int:
    found = connection.execute(
        "INSERT INTO look (host, stack_key, session_id, measured_at, looked_at) "
        "VALUES (%s, %s, %s, %s, %s) RETURNING number",
        (host, of.stacks[number].key, session_id(number, host), built(number), built(number)),
    ).fetchone()
    assert found is not None
    return int(found[0])


def _insert_standing(
    connection: psycopg.Connection, host: str, under: Iterable[Condition], looks: Sequence[int]
) -> None:
    recent = struct.pack(f"<{STACKS}d", *([0.01] * STACKS))
    seen = struct.pack(f"<{STACKS}I", *looks)
    columns = (
        "condition_key, protocol_key, metric, host, recent, looks, age, answer, smallest_effect, "
        "run_id, look, looked_at"
    )
    with connection.cursor().copy(f"COPY screen ({columns}) FROM STDIN") as copy:
        for one in under:
            run = run_id(STACKS - 1, host, one)
            for metric in METRICS:
                series = (one.key, PROTOCOL.key, metric, host)
                told = (recent, seen, STACKS, "no alarm", 0.02, run, looks[-1])
                copy.write_row((*series, *told, built(STACKS - 1)))


def _insert_event(
    connection: psycopg.Connection, of: Made, number: int, host: str, look: int
) -> None:
    event = event_id(number, host)
    connection.execute(
        "INSERT INTO event (id, host, is_host, worse, trigger, metric, change, measured, presumed, "
        "change_look, change_stack_key, before_stack_key, seen_look, seen_at) "
        "VALUES (%s, %s, false, true, 'ttft', 'ttft_p50', 0.05, 1500, '[]', %s, %s, %s, %s, %s)",
        (event, host, look, of.stacks[number].key, of.stacks[number - 1].key, look, built(number)),
    )
    columns = "event_id, condition_key, protocol_key, metric, host, change, evidence, look"
    under = of.long[:1] if host == "h3" else of.by_host[host][:EVENT_CELLS]
    with connection.cursor().copy(f"COPY moved ({columns}) FROM STDIN") as copy:
        for place, one in enumerate(under):
            series = (event, one.key, PROTOCOL.key, "ttft_p50", host)
            copy.write_row((*series, 0.05, 9.0 - place / EVENT_CELLS, look))


def event_id(number: int, host: str) -> UUID:
    """Return the event that a night on a host showed."""
    return name(f"event {number} {host}")


def job_of_long(number: int) -> UUID:
    """Return a launch of the series of 500 runs."""
    return name(f"job {session_id(number, 'h3')} {IN_SESSION - 1}")


def _log() -> bytes:
    lines = (
        f"[2026-11-01 12:{number // 600 % 60:02}:{number // 10 % 60:02}] Decode batch, "
        f"#running-req: {number % 64}, #token: {number * 37 % 90_000}, "
        f"gen throughput (token/s): {number % 977}.5"
        for number in range(LOG_LINES)
    )
    return "\n".join(lines).encode()


def _cards() -> bytes:
    rows = (
        f"{second}.00,{card},{7.1e10:.7g},0.69,0.9,1.45e+09,,{60 + card},{310 + card}"
        for second in range(SECONDS)
        for card in range(CARDS)
    )
    head = "seconds,card,memory_bytes,memory_used,busy,clock_hz,clock,temperature_c,power_w"
    return "\n".join([head, *rows]).encode()
