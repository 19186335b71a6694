"""How fast the compatibility table answers: `python -m tests.bench.compat` prints it.

Ten thousand stacks of twelve components and fifty cells each on a real PostgreSQL, in the derived
tables as the service keeps them; then the questions a deployment and a page ask, through the HTTP
API in this process, each with other words. Exit code 1 where the 95th percentile of any is above
100 ms.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from service.api.app import create_app
from service.api.door import Door
from service.config import Settings
from service.domain.compat import CompatState
from service.domain.key import canonical_json
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope
from service.formats.compat import CompatCell, CompatTold
from service.store import compat, schema
from service.store.artefacts import ArtefactFiles
from service.store.compat import ToldStack
from service.store.database import WriteSession, create_database, writing
from service.store.inserts import insert_new
from service.store.tables import ConditionRow, ProtocolRow, StackRow
from service.usecases.derive_compat import compat_rule
from service.usecases.judge_squares import rule_of
from tests.integration import builders
from tests.integration.builders import NOW
from tests.integration.databases import postgres

MOST_MS = 100.0
BATCH = 200
MODELS = ("tiny/a", "tiny/b", "tiny/c", "tiny/d", "tiny/e")
COMPONENTS = (
    "kunlun-driver", "xre", "xccl", "torch", "xpytorch", "kunlun-ops", "xspeedgate-ops", "cocopod",
    "sglang-kunlun", "sglang", "transformers", "image",
)  # fmt: skip
FIRST = date(2020, 1, 1)
STATES = tuple(CompatState)
# Half a million cells are made where they are kept: each as the one that is told, under its key.
CELLS = """
INSERT INTO compat
    (stack_key, condition_key, protocol_key, card_model, model, state, told)
SELECT stack, condition, :protocol, 'P800', model, 'works',
    jsonb_set(CAST(:told AS jsonb), '{condition_key}', to_jsonb(condition))
FROM unnest(CAST(:keys AS text[])) AS stack,
    unnest(CAST(:conditions AS text[]), CAST(:models AS text[])) AS under(condition, model)
"""
# Answers before those that count: of each pair the first is one of them.
PAIRS = 5


def main() -> int:
    """Measure, print, and return whether the figure holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stacks", type=int, default=10_000)
    parser.add_argument("--cells", type=int, default=50)
    parser.add_argument("--asks", type=int, default=60, help="of each question")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args()
    with postgres() as cluster, tempfile.TemporaryDirectory() as place:
        engine = create_database(cluster.url_of(cluster.create()))
        schema.upgrade(engine)
        app = create_app(_door(engine, Path(place)))
        began = time.monotonic()
        keys = fill(engine, asked.stacks, asked.cells, release=app.version)
        filled_s = time.monotonic() - began
        with TestClient(app, base_url="http://localhost") as client:
            told = {
                name: percentiles(client, questions(keys), asked.asks)
                for name, questions in QUESTIONS.items()
            }
        engine.dispose()
    told_all = {"stacks": asked.stacks, "cells": asked.cells, "filled_s": filled_s, "ms": told}
    sys.stdout.write(json.dumps(told_all) + "\n" if asked.json else _in_words(told_all))
    return int(any(each["p95"] > MOST_MS for each in told.values()))


def fill(engine: Engine, stacks: int, cells: int, *, release: str) -> Sequence[str]:
    """Fill the tables and return the keys of the stacks."""
    chance = random.Random(10)
    conditions = [builders.condition(concurrency=each + 1) for each in range(cells)]
    with writing(engine) as session:
        insert_new(
            session,
            ConditionRow,
            [{"key": each.key, "content": canonical_json(each)} for each in conditions],
        )
        protocol = builders.PROTOCOL
        content = canonical_json(protocol)
        insert_new(session, ProtocolRow, [{"key": protocol.key, "content": content}])
    under = [each.key for each in conditions]
    keys: list[str] = []
    for begin in range(0, stacks, BATCH):
        made = [stack(chance, each) for each in range(begin, min(begin + BATCH, stacks))]
        with writing(engine) as session:
            _keep(session, made, under, chance, rule=compat_rule(rule_of(release)), begin=begin)
        keys += [each.key for each in made]
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    return keys


def stack(chance: random.Random, number: int) -> Stack:
    """Return a stack of a number, no two alike."""
    versions = {name: f"{chance.randrange(1, 6)}.{chance.randrange(10)}.0" for name in COMPONENTS}
    parts = tuple(
        Component(name, version, Layer.RUNTIME, SwapScope.CONTAINER)
        for name, version in {**versions, "sglang": f"0.5.{number}"}.items()
    )
    return Stack(f"stack-{number:05}", parts)


def _keep(
    session: WriteSession,
    made: Sequence[Stack],
    under: Sequence[str],
    chance: random.Random,
    *,
    rule: str,
    begin: int,
) -> None:
    dates = {each.key: FIRST + timedelta(days=(begin + n) // 5) for n, each in enumerate(made)}
    insert_new(
        session,
        StackRow,
        [
            {
                "key": each.key,
                "name": each.name,
                "chip": "kunlun",
                "built_at": dates[each.key],
                "content": canonical_json(each),
                "first_seen_at": NOW,
            }
            for each in made
        ],
    )
    models = {key: MODELS[place % len(MODELS)] for place, key in enumerate(under)}
    lines = [_line(each, model, dates[each.key], chance) for each in made for model in MODELS]
    compat.keep(session, lines, [], {each.key: each.versions for each in made}, rule=rule, now=NOW)
    chief = _cell(under[0], CompatState.WORKS).model_dump(mode="json")
    session.execute(
        text(CELLS),
        {
            "keys": [each.key for each in made],
            "conditions": under,
            "models": [models[key] for key in under],
            "protocol": builders.PROTOCOL.key,
            "told": json.dumps(chief),
        },
    )


def _cell(key: str, state: CompatState) -> CompatCell:
    return CompatCell(
        condition_key=key, protocol_key=builders.PROTOCOL.key, title="tiny 1×P800 tp1 64→16",
        cards=1, state=state, layer=Layer.SERVER if state is CompatState.BROKEN else None,
        finding="", usable=3, broken=0, spoiled=0, baseline_stack_key=None, outcome=None,
        metric="tpot_p50", worsening=0.1, low=0.05, high=0.15, tolerance=0.03, kv_tokens=16_384,
        distance=0.001, distance_tolerance=0.01, measured_at=NOW, host="h1", run_id=UUID(int=1),
    )  # fmt: skip


def _line(made: Stack, model: str, built_at: date, chance: random.Random) -> ToldStack:
    state = chance.choice(STATES)
    chief = _cell("a" * 64, state)
    line = CompatTold(cells={state: 10}, chief=chief, kv_tokens=16_384)
    return ToldStack(
        stack_key=made.key, name=made.name, chip="kunlun", built_at=built_at, card_model="P800",
        model=model, state=state.value, measured_at=NOW, told=line.model_dump(mode="json"),
    )  # fmt: skip


Asked = tuple[str, str, dict[str, Any]]


def _pages(keys: Sequence[str]) -> Iterator[Asked]:
    for number in range(len(keys)):
        model = MODELS[number % len(MODELS)]
        yield "GET", "/compat", {"model": model, "component": f"xre={number % 5 + 1}"}


def _broken(keys: Sequence[str]) -> Iterator[Asked]:
    for number in range(len(keys)):
        yield "GET", "/compat", {"state": "broken", "component": f"torch={number % 5 + 1}"}


def _cells(keys: Sequence[str]) -> Iterator[Asked]:
    return (("GET", f"/compat/stacks/{key}", {}) for key in keys[::-1])


def _checks(keys: Sequence[str]) -> Iterator[Asked]:
    """Ask few pairs again and again: what was judged for a first answer is not judged anew."""
    for before, after in cycle(list(pairwise(keys))[:PAIRS]):
        yield "POST", "/compat/check", {"from_stack": before, "to_stack": after}


QUESTIONS: dict[str, Callable[[Sequence[str]], Iterator[Asked]]] = {
    "a page of one model and version": _pages,
    "a page of what is broken": _broken,
    "one stack, cell by cell": _cells,
    "may one move from A to B, asked again": _checks,
}


def percentiles(client: TestClient, questions: Iterator[Asked], count: int) -> dict[str, float]:
    """Return the median and the 95th percentile of some answers, in milliseconds."""
    taken = []
    for _ in range(count + PAIRS):
        method, path, asked = next(questions)
        where = {"params" if method == "GET" else "json": asked}
        began = time.perf_counter()
        answer = client.request(method, f"/api/v1{path}", **where)  # type: ignore[arg-type]  # one of two
        taken.append((time.perf_counter() - began) * 1000)
        answer.raise_for_status()
    ordered = sorted(taken[PAIRS:])
    return {
        "p50": round(ordered[len(ordered) // 2], 1),
        "p95": round(ordered[int(len(ordered) * 0.95)], 1),
    }


def _door(engine: Engine, place: Path) -> Door:
    return Door(
        settings=Settings(data_dir=place, web_dir=place / "no-web"),
        engine=engine,
        files=ArtefactFiles(str(place / "artefacts")),
        announce=lambda _: None,
        now=lambda: NOW,
    )


def _in_words(told: dict[str, Any]) -> str:
    head = f"{told['stacks']} stacks × {told['cells']} cells, filled in {told['filled_s']:.0f} s"
    rows = [
        f"{name}: median {each['p50']} ms, 95 % within {each['p95']} ms (at most {MOST_MS:.0f})"
        for name, each in told["ms"].items()
    ]
    return "\n".join([head, *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
