"""Keep the rules of channels, and pin by them: a first baseline for a cell, and never a second."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.audit import Act, Noun
from service.domain.baseline import Move, MoveKind, Rule, first_accepted
from service.domain.cell import Cell
from service.domain.policy import Policy
from service.formats.baselines import RuleOrder, RuleRead
from service.store import baseline_rules, incidents
from service.store.database import ReadSession, WriteSession
from service.usecases.move_baseline import hold, move_baseline
from service.usecases.note_act import note_act


class RuleTakenError(ValueError):
    """A channel has a rule already."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(
            f"channel {rule.channel} has a rule for {rule.stacks}; "
            f"end it first with `kunline baseline end-rule {rule.id}`"
        )


def make_rule(session: WriteSession, order: RuleOrder, *, who: str, now: datetime) -> RuleRead:
    """Store a channel's rule, pin by it what is measured already, and return it.

    Raises RuleTakenError.
    """
    hold(session, order.channel)
    for known in baseline_rules.in_force(session, order.channel):
        raise RuleTakenError(known)
    rule = Rule(uuid4(), order.channel, order.stacks, order.why, who, now)
    baseline_rules.keep(session, rule)
    what = f"first accepted run of {rule.stacks} in {rule.channel}: {rule.why}"
    note_act(session, Act.DECLARE, Noun.RULE, rule.id, who=who, what=what, now=now)
    _pin(session, rule, session_id=None, now=now)
    return _told(session, rule)


def end_rule(
    session: WriteSession, rule_id: UUID, *, why: str, who: str, now: datetime
) -> RuleRead:
    """End a rule; the baselines that it gave stay. Raises UnknownRuleError."""
    baseline_rules.read(session, rule_id)
    baseline_rules.end(session, rule_id, now=now)
    note_act(session, Act.RETRACT, Noun.RULE, rule_id, who=who, what=why, now=now)
    return _told(session, baseline_rules.read(session, rule_id))


def list_rules(session: ReadSession) -> tuple[RuleRead, ...]:
    """Return every rule, the newest first."""
    pins = baseline_rules.pins(session)
    return tuple(_read(rule, pins) for rule in baseline_rules.newest(session))


def pin_by_rules(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Pin what a session measured first in cells that never had a baseline, where a rule says so.

    What an incident holds waits: its cells get none until a later session, when it is over.
    """
    for rule in baseline_rules.in_force(session):
        _pin(session, rule, session_id=session_id, now=now)


def _pin(session: WriteSession, rule: Rule, *, session_id: UUID | None, now: datetime) -> None:
    named = baseline_rules.stacks_named(session, rule)
    found = baseline_rules.measured(session, named, session_id=session_id)
    keys = {each.cell.condition_key for each in found}
    if {each.cell for each in found} <= baseline_rules.ever_pinned(session, rule.channel, keys):
        return
    hold(session, rule.channel)
    closed = {
        *baseline_rules.ever_pinned(session, rule.channel, keys),
        *incidents.open_of_conditions(session, keys),
    }
    free = [each for each in found if each.cell not in closed]
    firsts: Mapping[Cell, str] = first_accepted(free, min_repeats=Policy().min_repeats)
    if firsts:
        move = Move(
            id=uuid4(),
            channel=rule.channel,
            kind=MoveKind.POLICY,
            made_at=now,
            made_by=rule.actor,
            why=rule.reason,
            rule_id=rule.id,
        )
        move_baseline(session, move, firsts)


def _told(session: ReadSession, rule: Rule) -> RuleRead:
    return _read(rule, baseline_rules.pins(session))


def _read(rule: Rule, pins: Mapping[UUID, int]) -> RuleRead:
    return RuleRead(
        id=rule.id,
        channel=rule.channel,
        stacks=rule.stacks,
        why=rule.why,
        made_by=rule.made_by,
        made_at=rule.made_at,
        ended_at=rule.ended_at,
        pins=pins.get(rule.id, 0),
    )
