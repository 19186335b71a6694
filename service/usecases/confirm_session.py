"""The session of a confirm: launches of both stacks in turn, as each was measured before."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from service.domain.confirm import Arm, Design, Draw, arms
from service.domain.plan import latin_row
from service.formats.identities import KeyedCondition, KeyedProtocol
from service.formats.orders import CellOrder, LaunchOrder
from service.formats.sessions import SessionOrder
from service.store import conditions, protocols, sessions
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession
from service.usecases.confirm_suspects import Measurable, Ordered
from service.usecases.session_content import asked_of

# The plan that a confirm's session is of.
PLAN = "confirm"


def order_of(
    session: ReadSession,
    confirm: StoredConfirm,
    planned: Design,
    found: Sequence[Measurable],
    *,
    draw: Draw,
) -> SessionOrder:
    """Return the session of a confirm, bound to the host that the suspicion is of.

    A cell that is judged by two metrics is measured once. Both arms of a block measure the same
    seeds in the same order; seeds turn from block to block. Tolerances and limits are those that
    the candidate was measured with.
    """
    first = found[0]
    candidate = sessions.read(session, first.candidate.session_id)
    baseline = sessions.read(session, first.baseline.session_id)
    asked, before = asked_of(candidate), asked_of(baseline)
    keys = {each.suspect.cell.condition_key for each in found}
    measured = {each.suspect.cell.protocol_key for each in found}
    return SessionOrder(
        plan=PLAN,
        pool=candidate.pool,
        chip=candidate.chip,
        stacks=(
            *(each for each in before.stacks if each.key == confirm.baseline_stack_key),
            *(each for each in asked.stacks if each.key == confirm.candidate_stack_key),
        ),
        models=tuple({each.id: each for each in (*before.models, *asked.models)}.values()),
        clients=tuple({each.name: each for each in (*before.clients, *asked.clients)}.values()),
        conditions=tuple(map(KeyedCondition.of, conditions.by_key(session, keys).values())),
        protocols=tuple(map(KeyedProtocol.of, protocols.by_key(session, measured).values())),
        launches=_launches(planned, [*{each.suspect.cell: each for each in found}.values()], draw),
        policy=asked.policy,
        limits=asked.limits,
        baseline_stack_key=confirm.baseline_stack_key,
        host=confirm.host,
    )


def _launches(planned: Design, found: Sequence[Measurable], draw: Draw) -> tuple[LaunchOrder, ...]:
    sides: Mapping[Arm, Sequence[Ordered]] = {
        Arm.BASELINE: [each.baseline for each in found],
        Arm.CANDIDATE: [each.candidate for each in found],
    }
    seeds = [each.candidate.cell.seeds for each in found]
    return tuple(
        _launch(sides[arm], seeds, block)
        for block, pair in groupby(enumerate(arms(planned, draw)), key=lambda each: each[0] // 2)
        for _, arm in pair
    )


def _launch(side: Sequence[Ordered], seeds: Sequence[Sequence[int]], block: int) -> LaunchOrder:
    cells = tuple(
        CellOrder(
            condition_key=each.cell.condition_key,
            protocol_key=each.cell.protocol_key,
            seeds=latin_row(sorted(of_cell), block),
        )
        for each, of_cell in zip(side, seeds, strict=True)
    )
    return side[0].launch.model_copy(update={"cells": cells})
