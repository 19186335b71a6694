"""Orders as a runner receives them, small and whole, for tests of the runner."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID

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
from service.domain.metric import METRIC_REVISION
from service.domain.protocol import Protocol
from service.domain.stack import Component, Stack, SwapScope
from service.formats.identities import BuildOrder, KeyedCondition, KeyedProtocol, StackOrder
from service.formats.orders import CellOrder, ClientOrder, JobOrder, LaunchOrder, ModelOrder

DIGEST = "a" * 64
PROTOCOL = Protocol("sglang.bench_serving", "0.5.23", DIGEST, METRIC_REVISION)
TRAFFIC = Traffic(
    load=Load.CLOSED,
    dataset="random-ids",
    input_tokens=128,
    output_tokens=32,
    lengths="fixed",
    concurrency=4,
    rate=None,
    prompts=24,
    shared_prefix_tokens=0,
    seeds_digest=DIGEST,
    ignore_eos=True,
    temperature=0.0,
)


def condition(*, cache: str = "flushed", **traffic: object) -> Condition:
    """Return a condition whose traffic differs from TRAFFIC in the fields given."""
    return Condition(
        cards=Cards("core", "shared", 1),
        parallelism=Parallelism(),
        model=ServedModel("tiny", DIGEST, "none", "bfloat16", "auto"),
        traffic=replace(TRAFFIC, **traffic),  # type: ignore[arg-type]  # fields by name
        procedure=Procedure(cache, 2),
    )


def job(
    conditions: Sequence[Condition] = (), *, seeds: tuple[int, ...] = (11, 12), token: int = 1
) -> JobOrder:
    """Return a job of one launch with a cell for each condition."""
    asked = conditions or (condition(),)
    stack = Stack("made-up", (Component("sglang", "0.5.23", Layer.SERVER, SwapScope.PROCESS),))
    return JobOrder(
        job_id=UUID(int=1),
        session_id=UUID(int=2),
        attempt=1,
        fencing_token=token,
        lease_s=45,
        ordinal=0,
        stack=StackOrder(
            key=stack.key,
            stack=stack,
            chip="cpu",
            built_at=date(2026, 10, 30),
            build=BuildOrder(lock=DIGEST),
        ),
        model=ModelOrder(id="tiny", weights_digest=DIGEST, tokenizer_digest=DIGEST, path="/model"),
        client=ClientOrder(
            name="sglang-0.5.23",
            tool="sglang.bench_serving",
            version="0.5.23",
            build=BuildOrder(lock=DIGEST),
        ),
        launch=_launch(stack.key, asked, seeds),
        conditions=tuple(KeyedCondition.of(each) for each in asked),
        protocols=(KeyedProtocol.of(PROTOCOL),),
    )


def _launch(stack_key: str, conditions: Sequence[Condition], seeds: tuple[int, ...]) -> LaunchOrder:
    arguments: Mapping[str, str] = {"device": "cpu"}
    return LaunchOrder(
        stack_key=stack_key,
        model_id="tiny",
        client="sglang-0.5.23",
        server_arguments=dict(arguments),
        server_environment={},
        cards=1,
        cells=tuple(
            CellOrder(condition_key=each.key, protocol_key=PROTOCOL.key, seeds=seeds)
            for each in conditions
        ),
    )
