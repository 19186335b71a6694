"""Orders and reports for tests: small, valid, and different only where a test says so."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from uuid import UUID, uuid4

import zstandard

from service.domain.condition import (
    Cards,
    Condition,
    Load,
    Parallelism,
    Procedure,
    ServedModel,
    Traffic,
)
from service.domain.layer import Layer
from service.domain.protocol import Protocol
from service.domain.stack import Component, Stack, SwapScope
from service.formats.identities import BuildOrder, KeyedCondition, KeyedProtocol, StackOrder
from service.formats.orders import (
    CellOrder,
    Claim,
    ClientOrder,
    JobOrder,
    LaunchOrder,
    ModelOrder,
)
from service.formats.reports import Artefact, Broken, LaunchReport, LoadedAnswer, RunReport
from service.formats.sessions import PolicyOrder, SessionOrder

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DIGEST = "d" * 64
SEEDS = (11, 12, 13)


def condition(*, concurrency: int = 4, tp: int = 1) -> Condition:
    return Condition(
        cards=Cards("cpu", "rank", tp),
        parallelism=Parallelism(tp=tp),
        model=ServedModel("tiny/tiny", DIGEST, "none", "bfloat16", "bfloat16"),
        traffic=Traffic(
            load=Load.CLOSED,
            dataset="random-ids",
            input_tokens=64,
            output_tokens=16,
            lengths="fixed",
            concurrency=concurrency,
            rate=None,
            prompts=8,
            shared_prefix_tokens=0,
            seeds_digest=DIGEST,
            ignore_eos=True,
            temperature=0.0,
        ),
        procedure=Procedure("flushed", 1),
        server_arguments={"mem-fraction-static": 0.5},
    )


PROTOCOL = Protocol("sglang.bench_serving", "0.5.23", DIGEST, 1)


def stack(version: str) -> Stack:
    return Stack(
        name=f"cpu-{version}",
        components=(
            Component("sglang", version, Layer.SERVER, SwapScope.PROCESS),
            Component("torch", "2.9.1", Layer.RUNTIME, SwapScope.PROCESS),
            Component("kernel", "6.1", Layer.DRIVER, SwapScope.HOST, recorded=True),
        ),
    )


OLD, NEW = stack("0.5.18"), stack("0.5.23")


def stack_order(of: Stack) -> StackOrder:
    build = BuildOrder(lock=DIGEST)
    return StackOrder(key=of.key, stack=of, chip="cpu", built_at=date(2026, 10, 1), build=build)


def launch_order(of: Stack, conditions: Sequence[Condition]) -> LaunchOrder:
    cells = tuple(
        CellOrder(condition_key=found.key, protocol_key=PROTOCOL.key, seeds=SEEDS)
        for found in conditions
    )
    return LaunchOrder(
        stack_key=of.key,
        model_id="tiny/tiny",
        client="bench",
        server_arguments={"tp-size": 1},
        server_environment={},
        cards=1,
        cells=cells,
    )


def session_order(
    *,
    arms: Sequence[Stack] = (OLD, NEW, NEW, OLD),
    conditions: Sequence[Condition] | None = None,
    baseline: Stack | None = OLD,
    pool: str = "cpu",
    cards: int = 1,
) -> SessionOrder:
    """Build a session of one launch an arm, each with all the conditions."""
    under = list(conditions or [condition(concurrency=1), condition(concurrency=4)])
    launches = [launch_order(arm, under).model_copy(update={"cards": cards}) for arm in arms]
    return SessionOrder(
        plan="demo",
        pool=pool,
        chip="cpu",
        stacks=tuple(stack_order(arm) for arm in {arm.key: arm for arm in arms}.values()),
        models=(ModelOrder(id="tiny/tiny", weights_digest=DIGEST, tokenizer_digest=DIGEST),),
        clients=(
            ClientOrder(
                name="bench", tool="sglang", version="0.5.23", build=BuildOrder(lock=DIGEST)
            ),
        ),
        conditions=tuple(KeyedCondition.of(found) for found in under),
        protocols=(KeyedProtocol.of(PROTOCOL),),
        launches=tuple(launches),
        policy=PolicyOrder(tolerances={"ttft_p50": 0.1, "output_throughput": 0.05}),
        baseline_stack_key=baseline.key if baseline else None,
    )


def claim(
    runner: str = "r1",
    *,
    host: str = "h1",
    pool: str = "cpu",
    cards: int = 2,
    chips: tuple[str, ...] = ("cpu",),
    incarnation: UUID | None = None,
) -> Claim:
    return Claim(
        runner=runner,
        incarnation=incarnation or UUID(int=1),
        host=host,
        pool=pool,
        chips=chips,
        cards=cards,
        version="0.1.0",
    )


def artefact(text: bytes, name: str = "tool.txt") -> Artefact:
    """Build an artefact as it travels."""
    return Artefact.model_construct(
        name=name,
        media_type="text/plain",
        digest=sha256(text).hexdigest(),
        zstd=zstandard.ZstdCompressor().compress(text),
    )


def run_report(
    order: JobOrder,
    *,
    cell: int = 0,
    launch_id: UUID | None = None,
    scale: float = 1.0,
    text: bytes = b"what the tool said",
) -> RunReport:
    """Build the report of one cell: throughput falls and latency rises with scale."""
    asked = order.launch.cells[cell]
    spread = (0.99, 1.0, 1.01)[: len(asked.seeds)]
    return RunReport(
        run_id=uuid4(),
        job_id=order.job_id,
        launch_id=launch_id or UUID(int=order.ordinal + 1),
        fencing_token=order.fencing_token,
        condition_key=asked.condition_key,
        protocol_key=asked.protocol_key,
        measured_at=NOW,
        finished_at=NOW + timedelta(seconds=10),
        seeds=asked.seeds,
        values={
            "ttft_p50": tuple(0.02 * scale * each for each in spread),
            "tpot_p50": tuple(0.005 * scale * each for each in spread),
            "output_throughput": tuple(600 / scale * each for each in spread),
        },
        overhead_s=tuple(1.0 for _ in spread),
        artefacts=(artefact(text),),
    )


def launch_report(
    order: JobOrder,
    *,
    launch_id: UUID | None = None,
    observed: dict[str, str] | None = None,
    broken: Broken | None = None,
    answer: tuple[float, ...] = (),
    loaded_answer: LoadedAnswer | None = None,
) -> LaunchReport:
    return LaunchReport(
        launch_id=launch_id or UUID(int=order.ordinal + 1),
        job_id=order.job_id,
        fencing_token=order.fencing_token,
        host="h1",
        started_at=NOW,
        observed=observed if observed is not None else dict(order.stack.stack.versions),
        resolution={"attention_backend": "torch_native"},
        answer=answer,
        loaded_answer=loaded_answer,
        broken=broken,
    )


def renamed(of: Stack, name: str) -> Stack:
    return replace(of, name=name)
