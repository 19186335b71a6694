"""What each page of the dashboard asks, as its code asks it, and how long an answer may take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from service.domain.condition import Condition
from tests.bench.web_fill import STACKS, Made, name, run_id, session_id
from tests.bench.web_rows import event_id, job_of_long
from tests.integration.builders import PROTOCOL

# Milliseconds that 95 of 100 answers may take, where nothing else is said.
PAGE_MS, MATRIX_MS, SERIES_MS = 150, 300, 50
# As many stacks as the matrix shows beside each other.
SIDE_BY_SIDE = 6


@dataclass(frozen=True, slots=True)
class Question:
    """What a page asks, and the most that 95 of 100 answers may take, in milliseconds.

    body: of a question that is posted; None for one that is not. of_runs: whether one more run
    changes the answer; of: the condition that it must be of, None for any in the matrix.
    """

    page: str
    name: str
    path: str
    wanted_ms: float = PAGE_MS
    body: Mapping[str, object] | None = None
    of_runs: bool = False
    of: Condition | None = None


def questions(of: Made, known: Mapping[str, str]) -> list[Question]:
    """Return what all pages ask. known: ids and digests that the database alone can tell."""
    return [
        *_overview(),
        *(replace(each, of_runs=True) for each in _matrix(of)),
        *_series(of),
        *_compare(of),
        *_incidents(of),
        *_run(of, known),
        *_compat(of),
        *_rest(known),
    ]


def _overview() -> Iterator[Question]:
    yield Question("overview", "overview", "/overview", of_runs=True)
    yield Question("overview", "open incidents", "/incidents?is_open=true&limit=12")
    yield Question("overview", "newest changes", "/events?since=2026-11-20T00:00:00Z&limit=5")


def _matrix(of: Made) -> Iterator[Question]:
    base, new = of.stacks[0].key, of.stacks[-1].key
    several = "&".join(f"stack={stack.key}" for stack in of.stacks[-SIDE_BY_SIDE:])
    metric = "metric=output_throughput"
    yield Question("matrix", "1,000 cells", f"/matrix?stack={new}&limit=1000", MATRIX_MS)
    yield Question("matrix", "newest stack, 1,000 cells", "/matrix?limit=1000", MATRIX_MS)
    yield Question(
        "matrix", "500 cells × 6 stacks", f"/matrix?{several}&{metric}&limit=1000", MATRIX_MS
    )
    yield Question(
        "matrix", "1,000 cells to a stack", f"/matrix?stack={new}&baseline={base}", MATRIX_MS
    )
    yield Question("matrix", "100 cells", f"/matrix?stack={new}&limit=100")


def _series(of: Made) -> Iterator[Question]:
    def asked(name: str, cell: Condition, more: str, wanted_ms: float) -> Question:
        address = f"condition_key={cell.key}&protocol_key={PROTOCOL.key}&metric=ttft_p50"
        path = f"/series{more.format(asked=address)}"
        return Question("series", name, path, wanted_ms, of_runs=True, of=cell)

    cell, long, longest = of.by_host["h1"][0], *of.long
    yield asked("of a cell", cell, "?{asked}&limit=500", SERIES_MS)
    yield asked("of 500 runs", long, "?{asked}&limit=500", SERIES_MS)
    yield asked("500 runs, one host", long, "?{asked}&host=h3&limit=500", SERIES_MS)
    yield asked("500 of 100,000 runs", longest, "?{asked}&limit=500", PAGE_MS)
    yield asked("outline of 100,000", longest, "/outline?{asked}", PAGE_MS)


def _compare(of: Made) -> Iterator[Question]:
    base, new = of.stacks[0].key, of.stacks[-1].key
    cell = of.by_host["h1"][0]
    first, last = run_id(STACKS - 1, "h1", cell), run_id(STACKS - 1, "h1", cell, launch=1)
    both = f"stack={base}&stack={new}"
    limits = "latency=ttft_p50&latency=tpot_p50&at_most=ttft_p50:1.1&traffic=5000"
    yield Question(
        "compare",
        "two stacks, 1,000 cells",
        f"/comparisons?baseline={base}&candidate={new}",
        of_runs=True,
    )
    yield Question("compare", "two runs", f"/comparisons?baseline={first}&candidate={last}")
    yield Question("compare", "a session", f"/sessions/{session_id(STACKS - 1, 'h1')}/verdicts")
    yield Question("compare", "what differs", f"/stacks/{base}/diff/{new}")
    yield Question(
        "compare",
        "curves, 2 × 1,000 loads",
        f"/curves?{both}&latency=ttft_p50&latency=tpot_p50",
        of_runs=True,
    )
    yield Question("compare", "capacity under limits", f"/curves?{both}&{limits}", of_runs=True)
    yield Question("compare", "scaling, 250 workloads", f"/scaling?stack={new}", of_runs=True)
    yield Question("compare", "stacks to choose from", "/stacks?limit=200")


def _incidents(of: Made) -> Iterator[Question]:
    base, new = of.stacks[0].key, of.stacks[1].key
    cell = of.conditions[0].key
    session = f"session_id={session_id(1, 'h1')}"
    yield Question("incidents", "open", "/incidents?is_open=true&limit=12")
    yield Question("incidents", "record", "/incidents/record")
    yield Question("incident", "of 200 cells", f"/incidents/{name('incident 0')}")
    yield Question("incident", "evidence", f"/runs?stack_key={base}&condition_key={cell}&limit=100")
    yield Question(
        "incident",
        "of a session",
        f"/runs?stack_key={new}&condition_key={cell}&{session}&limit=100",
    )
    yield Question("changes", "page", "/events?limit=100")
    yield Question("changes", "of a host", "/events?host=h1&limit=100")
    yield Question("change", "of 100 cells", f"/events/{event_id(STACKS - 1, 'h1')}")


def _run(of: Made, known: Mapping[str, str]) -> Iterator[Question]:
    cell, new = of.by_host["h1"][0], of.stacks[-1].key
    run, log = run_id(STACKS - 1, "h1", cell), known["server.log"]
    yield Question("run", "run", f"/runs/{run}")
    yield Question("run", "launch", f"/launches/{job_of_long(STACKS - 1)}")
    yield Question("run", "stack", f"/stacks/{new}")
    yield Question("run", "condition", f"/conditions/{cell.key}")
    yield Question("run", "protocol", f"/protocols/{PROTOCOL.key}")
    yield Question("run", "samples of 8 cards", f"/artefacts/{known['cards.csv']}")
    yield Question("run", "log of 20,000 lines", f"/artefacts/{log}/lines?begin=1&limit=200")
    yield Question("run", "log, deep", f"/artefacts/{log}/lines?begin=15000&limit=200")
    yield Question("run", "log, searched", f"/artefacts/{log}/lines?limit=200&search=req: 63")
    yield Question("runs", "page", "/runs?limit=50", of_runs=True)
    yield Question("runs", "of a stack", f"/runs?stack_key={new}&limit=50", of_runs=True)
    yield Question("runs", "of a state", "/runs?state=broken&limit=50", of_runs=True)
    yield Question("runs", "of a host", "/runs?host=h1&limit=50", of_runs=True)


def _compat(of: Made) -> Iterator[Question]:
    upgrade = {"from_stack": of.stacks[0].key, "to_stack": of.stacks[-1].key, "keep": False}
    yield Question("compat", "page", "/compat?limit=100")
    yield Question("compat", "pivot", "/compat/pivot?row=sglang&column=xre")
    yield Question("compat", "constraints", "/compat/constraints")
    yield Question("upgrade", "1,000 cells", "/compat/check", body=upgrade)


def _rest(known: Mapping[str, str]) -> Iterator[Question]:
    yield Question("hosts", "runners", "/runners")
    yield Question("queue", "sessions", "/sessions?limit=100")
    yield Question("queue", "schedules", "/schedules")
    yield Question("queue", "session", f"/sessions/{session_id(STACKS - 1, 'h1')}")
    yield Question("gates", "page", "/gates?limit=50")
    yield Question("gate", "gate", f"/gates/{known['gate']}")
    yield Question("gate", "waivers", "/waivers")
    yield Question("baselines", "page", "/baselines")
    yield Question("baselines", "with history", "/baselines?channel=main&history=true")
    yield Question("baselines", "moves of 1,000 cells", "/baselines/moves?limit=20")
    yield Question("settings", "tokens", "/tokens")
    yield Question("settings", "webhooks", "/webhooks")
    yield Question("settings", "deliveries", "/webhooks/deliveries?limit=20")
    yield Question("search", "sessions", "/sessions?limit=20")
