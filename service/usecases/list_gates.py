"""List gates with what each says by now; what was told of one before is not judged again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.formats.ci_gates import GateListed
from service.store import ci_gates, judged, known_incidents, noise, sessions, waivers
from service.store.ci_gates import StoredGate
from service.store.database import ReadSession
from service.store.judged import Judged
from service.store.sessions import StoredSession
from service.usecases.answer_gate import answered, state_word
from service.usecases.gate_cells import GateContent, read_state
from service.usecases.judge_squares import digest

# A large gate takes a while to judge, and whoever looks should not wait for hundreds of them.
JUDGED_AT_ONCE = 40


@dataclass(frozen=True, slots=True)
class Under:
    """What listed gates are told by. rule: whatever else it is, what is kept is told anew."""

    rule: str
    now: datetime


@dataclass(frozen=True, slots=True)
class _Listed:
    """A gate as it lies there, with its session."""

    stored: StoredGate
    content: GateContent
    session: StoredSession

    @property
    def subject(self) -> str:
        """The digest of what is told of it."""
        return digest("gate", str(self.stored.id))

    @property
    def conditions(self) -> frozenset[str]:
        """The conditions that it measures."""
        return frozenset(cell.condition_key for cell in self.content.cells)


def list_gates(
    session: ReadSession, under: Under, *, limit: int
) -> tuple[tuple[GateListed, ...], Sequence[Judged]]:
    """Return gates, the newest asked for first, and what of them had to be judged and may be kept.

    What one says follows from its runs, and from the waivers and incidents of now.
    """
    gates = ci_gates.newest(session, limit=limit)
    under_gates = sessions.by_id(session, {stored.session_id for stored in gates})
    found = [
        _Listed(stored, GateContent.model_validate(stored.content), under_gates[stored.session_id])
        for stored in gates
    ]
    under_way = ci_gates.unended(session, {each.session.id for each in found})
    over = {each.subject: each for each in found if each.session.id not in under_way}
    wanted = _rests_on(session, over, under)
    answers = dict(judged.known(session, wanted))
    unknown = [subject for subject in over if subject not in answers]
    fresh = [
        Judged(subject, wanted[subject], _told(session, over[subject], under.now))
        for subject in unknown[:JUDGED_AT_ONCE]
    ]
    answers |= {each.subject: each.answer for each in fresh}
    return tuple(_read(each, answers.get(each.subject, {})) for each in found), fresh


def _told(session: ReadSession, listed: _Listed, now: datetime) -> Mapping[str, object]:
    answer = answered(session, read_state(session, listed.stored), now=now)
    return {"outcome": answer.outcome.value, "exit_code": answer.exit_code}


def _rests_on(session: ReadSession, over: Mapping[str, _Listed], under: Under) -> Mapping[str, str]:
    """Return what is told of each gate rests on: its runs, what is exempt, and known noise."""
    every = over.values()
    taken = ci_gates.measured(session, {each.session.id for each in every})
    known = known_incidents.by_stack(session, {each.content.base.stack_key for each in every})
    in_force = {
        plan: [str(each.id) for each in waivers.in_force(session, plan, at=under.now)]
        for plan in {each.session.plan for each in every}
    }
    conditions = frozenset[str]().union(*(each.conditions for each in every))
    known_noise = noise.versions(session, conditions) if conditions else {}
    return {
        subject: digest(
            under.rule,
            each.session.state,
            taken.get(each.session.id),
            known[each.content.base.stack_key],
            str(in_force[each.session.plan]),
            *sorted(
                str(version)
                for (cell, _), version in known_noise.items()
                if cell.condition_key in each.conditions
            ),
        )
        for subject, each in over.items()
    }


def _read(listed: _Listed, told: Mapping[str, object]) -> GateListed:
    stored, content, under = listed.stored, listed.content, listed.session
    return GateListed.model_validate(
        {
            "id": stored.id,
            "session_id": stored.session_id,
            "plan": under.plan,
            "candidate": content.candidate.stack_name,
            "base": content.base.stack_name,
            "state": state_word(under.state),
            "asked_by": stored.asked_by,
            "asked_at": stored.asked_at,
            "outcome": told.get("outcome"),
            "exit_code": told.get("exit_code"),
            "finished_at": under.finished_at,
            "mode": "local" if content.mode == "local" else "remote",
            "host": under.host,
            "channel": content.base.channel,
            "base_stack_key": content.base.stack_key,
            "candidate_stack_key": content.candidate.stack_key,
        }
    )
