"""Stored stacks and runs compared: refused by field, and what is said beside a verdict."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.condition import Condition
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.stack import Stack
from service.domain.verdict import Outcome
from service.formats.comparisons import CellsCompared
from service.formats.identities import KeyedProtocol
from service.formats.orders import JobOrder
from service.formats.reports import GateFinding
from service.formats.sessions import SessionOrder
from service.store import stacks
from service.store.database import reading
from service.store.stacks import UnknownStackError
from service.usecases.compare_stored import compare_stored
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD, PROTOCOL
from tests.one_field_apart import one_field_apart

CONDITION = builders.condition()
CONDITIONS = dict(one_field_apart(CONDITION))
PROTOCOLS = dict(one_field_apart(PROTOCOL))
# The domain's rule is held to every field; here, that what is stored keeps each kind of them.
KINDS = (
    "cards.form",
    "cards.occupancy",
    "model.kv_dtype",
    "traffic.prompts",
    "traffic.rate",
    "traffic.ignore_eos",
    "procedure.cache",
    "server_arguments",
    "server_environment",
)


def session_of(
    stack: Stack, condition: Condition = CONDITION, protocol: Protocol = PROTOCOL
) -> SessionOrder:
    """Build a session of one launch of one stack."""
    order = builders.session_order(arms=(stack,), conditions=[condition], baseline=None)
    launches = tuple(
        launch.model_copy(
            update={
                "cells": tuple(
                    cell.model_copy(update={"protocol_key": protocol.key}) for cell in launch.cells
                )
            }
        )
        for launch in order.launches
    )
    return order.model_copy(
        update={"launches": launches, "protocols": (KeyedProtocol.of(protocol),)}
    )


def measure(
    engine: Engine, order: SessionOrder, *, findings: Sequence[GateFinding] = (), **settled: str
) -> None:
    path.submit(engine, order, str(UUID(int=len(settled))) + order.launches[0].stack_key)
    while (job := path.claim(engine)) is not None:
        _do(engine, job, findings, settled)


def compare(engine: Engine) -> CellsCompared:
    with reading(engine) as session:
        return compare_stored(
            session, baseline=OLD.key, candidate=NEW.key, policy=Policy(min_repeats=2)
        )


def _do(
    engine: Engine, job: JobOrder, findings: Sequence[GateFinding], settled: dict[str, str]
) -> None:
    launched = builders.launch_report(job, launch_id=job.job_id)
    path.tell_launch(engine, launched.model_copy(update={"resolution": settled}))
    sent = builders.run_report(job, launch_id=job.job_id)
    path.report(engine, sent.model_copy(update={"findings": tuple(findings)}))
    path.finish(engine, job)


def unknown(code: str) -> GateFinding:
    return GateFinding(code=code, severity="unknown", message="…", observed="unknown", required="…")


def test_a_stack_is_known_by_its_name_and_by_the_first_digits_of_its_key(engine: Engine) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(replace(NEW, name=OLD.name)))

    with reading(engine) as session:
        found = [stacks.read(session, asked).stack.key for asked in (OLD.key, OLD.key[:6])]
        with pytest.raises(UnknownStackError, match="more than one stack") as both:
            stacks.read(session, OLD.name)
        with pytest.raises(UnknownStackError, match="no stack % is stored"):
            stacks.read(session, "%")

    assert found == [OLD.key, OLD.key]
    assert all(key[:12] in str(both.value) for key in (OLD.key, NEW.key))


@pytest.mark.parametrize("name", KINDS)
def test_two_conditions_that_differ_in_one_field_are_refused_and_it_is_named(
    engine: Engine, name: str
) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(NEW, CONDITIONS[name]))

    answer = compare(engine)

    assert answer.outcome is Outcome.NOT_COMPARABLE
    assert [each.field.removesuffix(".added") for each in answer.differences] == [name]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_two_protocols_that_differ_in_one_field_are_refused_and_it_is_named(
    engine: Engine, name: str
) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(NEW, protocol=PROTOCOLS[name]))

    answer = compare(engine)

    assert answer.outcome is Outcome.NOT_COMPARABLE
    assert [each.field for each in answer.differences] == [f"protocol.{name}"]


def test_where_condition_and_protocol_differ_both_are_named(engine: Engine) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(NEW, CONDITIONS["traffic.prompts"], PROTOCOLS["metric_revision"]))

    assert [each.field for each in compare(engine).differences] == [
        "protocol.metric_revision",
        "traffic.prompts",
    ]


def test_what_the_servers_settled_by_themselves_is_said_with_the_verdict(engine: Engine) -> None:
    asking = replace(NEW, server_arguments={"page-size": 64})
    measure(engine, session_of(OLD), attention_backend="fa3", page_size="1")
    measure(engine, session_of(asking), attention_backend="triton", page_size="64")
    with reading(engine) as session:
        answer = compare_stored(
            session, baseline=OLD.key, candidate=asking.key, policy=Policy(min_repeats=2)
        )

    (cell,) = answer.cells
    assert "attention backend: fa3 → triton, not asked for" in cell.comparison.warnings
    assert "page size: 1 → 64, asked for" in cell.comparison.warnings
    assert [each.field for each in cell.resolution] == ["attention_backend", "page_size"]


def test_a_run_of_which_the_result_tells_no_more_is_never_judged(engine: Engine) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(NEW), findings=[unknown("requests_failed"), unknown("card_hot")])

    (cell,) = compare(engine).cells

    assert cell.comparison.outcome is Outcome.INVALID
    assert cell.comparison.verdicts[0].reason == (
        "candidate: incomplete: neither the result nor the server's log settles requests_failed"
    )


def test_what_the_host_withholds_is_said_beside_the_verdict(engine: Engine) -> None:
    measure(engine, session_of(OLD))
    measure(engine, session_of(NEW), findings=[unknown("card_throttled")])

    (cell,) = compare(engine).cells

    assert cell.comparison.comparable
    assert "candidate: not known to hold: card_throttled" in cell.comparison.warnings
