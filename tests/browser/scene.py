"""What the pages are looked at with: months of sessions, made the way a runner would make them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

from sqlalchemy import Engine

from service.domain.condition import Cards, Condition, Parallelism
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope
from service.formats.baselines import BaselinePin
from service.formats.communications import ARTEFACT, CommunicationSeen
from service.formats.orders import JobOrder, Progress, Renewal
from service.formats.reports import Broken, GateFinding, LaunchReport, LayerFinding, RunReport
from service.formats.sessions import SessionOrder
from service.store.artefacts import ArtefactFiles
from service.store.database import writing
from service.usecases.know_runner import register_runner
from service.usecases.pin_baseline import pin_baseline
from service.usecases.renew_lease import renew_lease
from service.usecases.report_launch import report_launch
from service.usecases.report_run import report_runs, whole_run
from tests.integration import builders, path

VERSIONS = ("0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23")
HOSTS = ("kl-01", "kl-02")
# What each stack does to time, against the first: the fourth is slower, the last two faster.
SPEED = (1.0, 1.002, 0.998, 1.081, 0.962, 0.957)
LOG_LINES = 1200
CELLS_OF_A_LAUNCH = 500
# What the runner writes beside a repeat: two cards, once a second.
CARD_COLUMNS = "seconds,card,memory_bytes,memory_used,busy,clock_hz,clock,temperature_c,power_w\n"
CARDS = CARD_COLUMNS + "".join(
    f"{second}.00,{card},{7.1e10 + card * 1e9:.7g},0.69,{0.9 - second / 500:.3f},1.45e+09,,"
    f"{60 + card + second / 10:.1f},{310 + card}\n"
    for second in range(60)
    for card in range(2)
)


# What the runner saw of two cards before a launch: an all-reduce by its size, and their link.
MESSAGES = CommunicationSeen(
    ranks=2,
    hidden=4096,
    layers=36,
    vocabulary=151_936,
    value_bytes=2,
    seconds={1024: 1.2e-5, 1_048_576: 9e-5, 16_777_216: 7e-4},
    links={"0-1": 28e9},
    chunk=8192,
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a test may look for."""

    stacks: tuple[Stack, ...]
    conditions: tuple[Condition, ...]
    sessions: tuple[UUID, ...]
    open_session: UUID
    open_job: JobOrder


def stack(place: int) -> Stack:
    """Build one stack of the row; torch and the driver change on the way."""
    version = VERSIONS[place]
    return Stack(
        name=f"p800-sglang-{version}",
        components=(
            Component("sglang", version, Layer.SERVER, SwapScope.PROCESS),
            Component(
                "torch", "2.9.1" if place < 3 else "2.10.0", Layer.RUNTIME, SwapScope.PROCESS
            ),
            Component("xre", "5.0.21", Layer.DRIVER, SwapScope.HOST),
            Component("kernel", "6.1" if place < 4 else "6.6", Layer.DRIVER, SwapScope.HOST, True),
        ),
        server_arguments={"attention-backend": "torch_native"} if place > 3 else {},
    )


def conditions(count: int) -> tuple[Condition, ...]:
    """Build so many conditions: models, cards, lengths and concurrencies, in that order."""
    base = builders.condition()
    made: list[Condition] = []
    for model in ("Qwen3-8B", "Llama-3.1-70B", *(f"model-{number}" for number in range(60))):
        for tp in (1, 2, 4, 8):
            for tokens in ((128, 64), (1024, 256)):
                for concurrency in (1, 4, 16):
                    made.append(
                        replace(
                            base,
                            model=replace(base.model, id=model),
                            cards=Cards("P800", "OAM", tp),
                            parallelism=Parallelism(tp=tp),
                            traffic=replace(
                                base.traffic,
                                input_tokens=tokens[0],
                                output_tokens=tokens[1],
                                concurrency=concurrency,
                            ),
                        )
                    )
                    if len(made) == count:
                        return tuple(made)
    raise AssertionError(f"there are only {len(made)} conditions")


def play(engine: Engine, files: ArtefactFiles, *, cells: int = 12) -> Scene:
    """Play months of nights into a database, and leave one session running."""
    now = datetime.now(UTC)
    stacks = tuple(stack(place) for place in range(len(VERSIONS)))
    under = conditions(cells)
    random = Random(7)
    sessions = []
    for place in range(1, len(stacks)):
        night = now - timedelta(days=7 * (len(stacks) - place) - 6, hours=2)
        order = _order(stacks[place - 1 : place + 1], under, place)
        sessions.append(_submitted(engine, order, f"night-{place}", night))
        _do_all(engine, files, HOSTS[place % 2], random, night)
        if place == 1:
            _pin(engine, stacks[0], "first release that serves both models", night)
    _pin(engine, stacks[0], "held until 0.5.23 is qualified", now - timedelta(days=3))
    open_session = _submitted(engine, _order(stacks[-2:], under, 5), "tonight", now)
    return Scene(stacks, under, tuple(sessions), open_session, _running(engine, files, random, now))


def many(engine: Engine, files: ArtefactFiles, *, cells: int) -> None:
    """Play one night of very many cells into a database."""
    now = datetime.now(UTC)
    stacks = (stack(0), stack(3))
    under = conditions(cells)
    for begin in range(0, cells, CELLS_OF_A_LAUNCH):
        order = _order(stacks, under[begin : begin + CELLS_OF_A_LAUNCH], 3, launches=2)
        _submitted(engine, order, f"large-{begin}", now)
    _do_all(engine, files, HOSTS[0], Random(7), now)
    _pin(engine, stacks[0], "large", now)


def advance(engine: Engine, scene: Scene, files: ArtefactFiles) -> None:
    """Let the running job of the open session report all of its cells, and end."""
    job, now = scene.open_job, datetime.now(UTC)
    _report(engine, files, job, HOSTS[0], Random(8), now)
    path.finish(engine, job, now=now)


def _order(
    stacks: Sequence[Stack], under: Sequence[Condition], place: int, *, launches: int = 4
) -> SessionOrder:
    old, new = stacks
    order = builders.session_order(
        arms=(old, new, old, new)[:launches], conditions=under, baseline=old, pool="p800"
    )
    built = {
        found.key: date(2026, 1, 1) + timedelta(days=30 * VERSIONS.index(_version(found)))
        for found in stacks
    }
    return order.model_copy(
        update={
            "plan": f"nightly-{place}",
            "stacks": tuple(
                each.model_copy(update={"built_at": built[each.key]}) for each in order.stacks
            ),
        }
    )


def _version(of: Stack) -> str:
    return of.versions["sglang"]


def _submitted(engine: Engine, order: SessionOrder, key: str, now: datetime) -> UUID:
    return path.submit(engine, order, key, now=now)


def _claim(engine: Engine, host: str, now: datetime) -> JobOrder | None:
    wanted = builders.claim(f"{host}-r", host=host, pool="p800", cards=8)
    with writing(engine) as session:
        register_runner(session, wanted, leasing=path.LEASING, now=now)
    return path.claim(engine, wanted, now=now)


def _do_all(
    engine: Engine, files: ArtefactFiles, host: str, random: Random, night: datetime
) -> None:
    at = night
    while (job := _claim(engine, host, at)) is not None:
        _report(engine, files, job, host, random, at)
        at += timedelta(minutes=20)
        path.finish(engine, job, now=at)


def _running(engine: Engine, files: ArtefactFiles, random: Random, now: datetime) -> JobOrder:
    """Leave one job half done: its launch is up, and some cells are reported."""
    job = _claim(engine, HOSTS[0], now)
    assert job is not None
    _report(engine, files, job, HOSTS[0], random, now, cells=1)
    with writing(engine) as session:
        renew_lease(
            session,
            job.job_id,
            Renewal(
                fencing_token=job.fencing_token,
                progress=Progress(phase="measure", text="cell 2 of 12", fraction=0.25),
            ),
            leasing=path.LEASING,
            now=now,
        )
    return job


def _report(
    engine: Engine,
    files: ArtefactFiles,
    job: JobOrder,
    host: str,
    random: Random,
    now: datetime,
    *,
    cells: int | None = None,
) -> None:
    _tell(engine, files, _launch(job, host, now))
    launch = random.gauss(1.0, 0.004)
    asked = range(len(job.launch.cells))[:cells]
    reports = [_run(job, cell, random, now, launch) for cell in asked]
    with writing(engine) as session:
        for answer in report_runs(session, [whole_run(each, now) for each in reports], files=files):
            if isinstance(answer, Exception):
                raise answer


def _tell(engine: Engine, files: ArtefactFiles, sent: LaunchReport) -> None:
    with writing(engine) as session:
        report_launch(session, sent, files=files, now=sent.started_at)


def _launch(job: JobOrder, host: str, now: datetime) -> LaunchReport:
    log = "".join(_log_line(number) for number in range(LOG_LINES)).encode()
    messages = MESSAGES.model_dump_json().encode()
    return builders.launch_report(job, launch_id=job.job_id).model_copy(
        update={
            "host": host,
            "started_at": now,
            "start_up_s": 41.7,
            "resolution": {
                "attention_backend": "torch_native" if "0.5.2" in job.stack.stack.name else "fa3",
                "page_size": 1,
                "max_total_num_tokens": 412_672,
                "mem_fraction_static": 0.875,
            },
            "preflight": (
                LayerFinding(layer=Layer.DEVICE, state="works", finding="8 cards", seconds=0.04),
                LayerFinding(layer=Layer.DRIVER, state="works", finding="5.0.21", seconds=0.01),
                LayerFinding(layer=Layer.MEMORY, state="works", finding="96 GiB", seconds=1.2),
                LayerFinding(
                    layer=Layer.GRAPH,
                    state="skipped",
                    finding="the stack switches graphs off",
                    remedy="none is needed",
                ),
                LayerFinding(layer=Layer.ANSWER, state="works", finding="8 prompts", seconds=3.4),
            ),
            "artefacts": (
                builders.artefact(log, "server.log"),
                builders.artefact(messages, ARTEFACT),
            ),
        }
    )


def _log_line(number: int) -> str:
    level = "WARNING" if number % 97 == 0 else "INFO"
    return (
        f"[2026-11-01 12:{number // 60 % 60:02d}:{number % 60:02d}] {level} decode batch {number}\n"
    )


def _run(job: JobOrder, cell: int, random: Random, now: datetime, launch: float) -> RunReport:
    place = VERSIONS.index(_version(job.stack.stack))
    # The fourth stack loses most where many requests are under way: every third cell.
    slow = SPEED[place] if place != 3 or cell % 3 == 2 else 1 + (SPEED[place] - 1) / 4
    times = [slow * launch * random.gauss(1.0, 0.006) for _ in builders.SEEDS]
    size = 1.0 + cell % 6
    sent = builders.run_report(job, cell=cell, launch_id=job.job_id).model_copy(
        update={
            "run_id": uuid4(),
            "measured_at": now + timedelta(seconds=60 * cell),
            "finished_at": now + timedelta(seconds=60 * cell + 55),
            "values": {
                "ttft_p50": tuple(0.021 * size * time for time in times),
                "tpot_p50": tuple(0.0052 * (1 + (time - 1) / 3) for time in times),
                "output_throughput": tuple(640 * size / time for time in times),
            },
        }
    )
    cards = builders.artefact(CARDS.encode(), "repeat-1.cards.csv")
    sent = sent.model_copy(update={"artefacts": (*sent.artefacts, cards)})
    return sent.model_copy(update=_flaw(place, cell, job.ordinal))


def _flaw(place: int, cell: int, ordinal: int) -> dict[str, object]:
    """Return what is wrong with a few of the runs, so that pages have it to show."""
    if place == 4 and cell == 1:
        return {
            "findings": (
                GateFinding(
                    code="requests_done",
                    severity="failure",
                    message="not every request was answered",
                    observed="7",
                    required="8",
                ),
            )
        }
    if place == 5 and cell == 3:
        broken = Broken(
            layer=Layer.CAPACITY, finding="no room for 4,096 tokens", remedy="serve on more cards"
        )
        return {"broken": broken, "values": {}, "seeds": (), "overhead_s": ()}
    if place == 5 and cell == 0 and ordinal == 1:
        return {
            "findings": (
                GateFinding(
                    code="client_cpu",
                    severity="warning",
                    message="the client used most of a core",
                    observed="91 %",
                    required="below 80 %",
                ),
            )
        }
    return {}


def _pin(engine: Engine, of: Stack, why: str, now: datetime) -> None:
    wanted = BaselinePin(stack_key=of.key, why=why)
    with writing(engine) as session:
        pin_baseline(session, wanted, who="Lin Yue", now=now)
