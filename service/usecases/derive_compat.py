"""Derive the compatibility table: tell stacks anew about which something changed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.domain.answer import LaunchAnswer, quality
from service.domain.cell import Cell, title
from service.domain.compat import (
    KV_TOKENS,
    CellCompat,
    CompatState,
    Seen,
    Served,
    Worst,
    state_of,
    together,
    tower,
)
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.formats.compat import CompatCell, CompatTold
from service.formats.matrix_view import MetricVerdict
from service.stats.interval import Interval
from service.store import baselines, compat, conditions, judged, launches, measured, runs, stacks
from service.store.compat import ToldCell, ToldStack
from service.store.database import ReadSession, WriteSession
from service.store.runs import StoredRun
from service.store.stacks import StoredStack
from service.usecases.judge_squares import Answers, Place, Squares, judge_squares
from service.usecases.sides import NamedStack

# Raised when the table may say something else of the same runs within one release.
COMPAT_REVISION = 2
CHANNEL = "main"
# As many runs of one stack, squares of some stacks, and pins as are looked at.
RUNS = 20_000
SQUARES = 100_000
PINS = 5000

ByCell = Mapping[Cell, Sequence[StoredRun]]


@dataclass(frozen=True, slots=True)
class Reference:
    """What the table holds stacks to: the pins in force, their conditions, and their answers."""

    pins: Mapping[Cell, NamedStack]
    conditions: Mapping[str, Condition]
    answers: Mapping[tuple[str, Cell], Sequence[LaunchAnswer]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was judged of some stacks' cells, by stack and cell."""

    places: Mapping[tuple[str, Cell], Place]
    answers: Answers

    def of(self, stack_key: str, cell: Cell) -> tuple[Outcome | None, Worst | None]:
        """Return the outcome and the metric that worsened most; nothing where none was judged."""
        place = self.places.get((stack_key, cell))
        if place is None:
            return None, None
        answer = self.answers[place.subject]
        verdicts = [MetricVerdict.model_validate(each) for each in answer["verdicts"]]
        return Outcome(answer["outcome"]), _worst(verdicts)


def compat_rule(rule: str) -> str:
    """Return what the table is told by. rule: what verdicts are judged by."""
    return f"{rule} {COMPAT_REVISION}"


def derive_compat(session: WriteSession, *, rule: str, limit: int, now: datetime) -> int:
    """Tell some stacks anew, the newest built first, and return how many.

    rule: a text that is another one whenever verdicts may say something else.
    """
    compat.hold(session)
    keys = compat.due(session, rule=compat_rule(rule), limit=limit)
    if not keys:
        return 0
    found = stacks.by_key(session, keys)
    of_stack = {key: _by_cell(runs.of_stack(session, key, limit=RUNS)) for key in keys}
    reference = _reference(session, of_stack)
    judgement = _judged(session, found, of_stack, reference, rule=rule, now=now)
    answers = _answers(session, (run for each in of_stack.values() for run in _all(each)))
    cells = {
        key: [
            _cell(key, cell, its_runs, reference, judgement, answers)
            for cell, its_runs in of_stack[key].items()
        ]
        for key in keys
    }
    compat.keep(
        session,
        [each for key in keys for each in _told_stacks(found[key], cells[key], reference)],
        [_told_cell(key, cell, reference) for key in keys for cell in cells[key]],
        {key: tower(found[key].stack) for key in keys},
        rule=compat_rule(rule),
        now=now,
    )
    return len(keys)


def _by_cell(found: Iterable[StoredRun]) -> ByCell:
    by_cell: dict[Cell, list[StoredRun]] = defaultdict(list)
    for run in found:
        by_cell[run.cell].append(run)
    return by_cell


def _all(by_cell: ByCell) -> Iterable[StoredRun]:
    return (run for found in by_cell.values() for run in found)


def _reference(session: ReadSession, of_stack: Mapping[str, ByCell]) -> Reference:
    pinned = baselines.stacks_in_force(session, CHANNEL, limit=PINS)
    names = stacks.names(session, pinned.values())
    pins = {cell: NamedStack(key, names[key]) for cell, key in pinned.items()}
    cells = {cell for by_cell in of_stack.values() for cell in by_cell}
    under = {cell.condition_key for cell in cells | pins.keys()}
    wanted: dict[str, set[str]] = defaultdict(set)
    for cell in cells & pins.keys():
        wanted[pins[cell].key].add(cell.condition_key)
    held = [
        run
        for key, keys in wanted.items()
        for run in runs.of_stack(session, key, conditions=sorted(keys), limit=RUNS)
    ]
    known = _answers(session, held)
    answers: dict[tuple[str, Cell], dict[UUID, LaunchAnswer]] = defaultdict(dict)
    for run in held:
        if run.may_be_judged and run.launch_id in known:
            answers[run.stack_key, run.cell][run.launch_id] = known[run.launch_id]
    return Reference(
        pins=pins,
        conditions=conditions.by_key(session, under),
        answers={name: list(each.values()) for name, each in answers.items()},
    )


def _answers(session: ReadSession, found: Iterable[StoredRun]) -> Mapping[UUID, LaunchAnswer]:
    return launches.answers(session, {run.launch_id for run in found if run.may_be_judged})


def _judged(
    session: WriteSession,
    found: Mapping[str, StoredStack],
    of_stack: Mapping[str, ByCell],
    reference: Reference,
    *,
    rule: str,
    now: datetime,
) -> Judgement:
    """Judge every cell with a run that counts against its pin, unless that is the stack itself."""
    held = {stack.key for stack in reference.pins.values()}
    squares = Squares.of(measured.of_stacks(session, of_stack.keys() | held, limit=SQUARES))
    places = {
        (key, cell): squares.place(cell, NamedStack(key, found[key].stack.name), pin)
        for key, by_cell in of_stack.items()
        for cell, its_runs in by_cell.items()
        if (pin := reference.pins.get(cell)) is not None
        and pin.key != key
        and any(run.may_be_judged for run in its_runs)
    }
    answers, fresh = judge_squares(session, list(places.values()), rule=rule)
    if fresh:
        judged.keep(session, fresh, now=now)
    return Judgement(places, answers)


def _worst(verdicts: Collection[MetricVerdict]) -> Worst | None:
    """Return the metric that worsened most for its tolerance; a regressed one before any other."""
    found = [
        (each.outcome is Outcome.REGRESSED, Worst(each.metric, interval, each.tolerance))
        for each in verdicts
        if (interval := _interval(each)) is not None
    ]
    ranked = sorted(found, key=lambda each: (each[0], each[1].weight))
    return ranked[-1][1] if ranked else None


def _interval(verdict: MetricVerdict) -> Interval | None:
    if verdict.low is None or verdict.worsening is None or verdict.high is None:
        return None
    return Interval(verdict.low, verdict.worsening, verdict.high)


def _cell(
    key: str,
    cell: Cell,
    its_runs: Sequence[StoredRun],
    reference: Reference,
    judgement: Judgement,
    answers: Mapping[UUID, LaunchAnswer],
) -> CellCompat:
    usable = [run for run in its_runs if run.may_be_judged]
    broken = [run for run in its_runs if run.broken is not None and run.withdrawal is None]
    seen = Seen(len(usable), len(broken), len(its_runs) - len(usable) - len(broken))
    outcome, worst = judgement.of(key, cell)
    pin = reference.pins.get(cell)
    newest = (broken or usable or its_runs)[-1]
    rooms = [room for run in usable if isinstance(room := run.resolution.get(KV_TOKENS), int)]
    own = dict.fromkeys(run.launch_id for run in usable)
    held = reference.answers.get((pin.key, cell), ()) if pin and pin.key != key else ()
    return CellCompat(
        cell=cell,
        state=state_of(seen, outcome),
        layer=_layer(newest),
        finding=_finding(newest, seen),
        seen=seen,
        baseline_stack_key=pin.key if pin else None,
        outcome=outcome,
        worst=worst,
        kv_tokens=min(rooms, default=None),
        quality=quality(held, [answers[launch] for launch in own if launch in answers]),
        measured_at=its_runs[-1].measured_at,
        host=newest.host,
        run_id=newest.id,
    )


def _layer(run: StoredRun) -> Layer | None:
    return None if run.broken is None else Layer(run.broken["layer"])


def _finding(newest: StoredRun, seen: Seen) -> str:
    """Return where it broke and how often, or why runs of a cell count for nothing."""
    if newest.broken is not None:
        of_all = seen.broken + seen.usable
        often = f" ({seen.broken} of {of_all} runs broke)" if of_all > seen.broken else ""
        return f"{newest.broken['finding']}{often}"
    if seen.usable:
        return ""
    if newest.withdrawal is not None:
        return newest.withdrawal.sentence
    if newest.drift:
        return f"stack drift: {', '.join(map(_drifted, newest.drift))}"
    codes = [each["code"] for each in newest.findings if each["severity"] == "failure"]
    return f"{newest.state}: {', '.join(dict.fromkeys(codes))}" if codes else newest.state


def _drifted(each: Mapping[str, object]) -> str:
    return f"{each['field']} {each['baseline']} ≠ {each['candidate']}"


def _told_cell(key: str, found: CellCompat, reference: Reference) -> ToldCell:
    condition = reference.conditions[found.cell.condition_key]
    return ToldCell(
        stack_key=key,
        condition_key=found.cell.condition_key,
        protocol_key=found.cell.protocol_key,
        card_model=condition.cards.model,
        model=condition.model.id,
        state=found.state.value,
        told=_read(found, reference).model_dump(mode="json"),
    )


def _read(found: CellCompat, reference: Reference) -> CompatCell:
    condition = reference.conditions[found.cell.condition_key]
    return CompatCell.of(found, title=title(condition), cards=condition.cards.count)


def _told_stacks(
    stored: StoredStack, cells: Sequence[CellCompat], reference: Reference
) -> Sequence[ToldStack]:
    groups: dict[Served, list[CellCompat]] = defaultdict(list)
    for cell in cells:
        groups[_served(cell.cell, reference)].append(cell)
    if not groups:
        return [_told_stack(stored, Served("", ""), CompatState.UNTESTED, None, CompatTold())]
    measured_in = {cell.cell for cell in cells}
    unmeasured = [cell for cell in reference.pins if cell not in measured_in]
    found = []
    for served, its_cells in groups.items():
        expected = sum(_served(cell, reference) == served for cell in unmeasured)
        whole = together(served, its_cells, expected=expected)
        idle, loaded = whole.quality.idle, whole.quality.loaded
        told = CompatTold(
            cells=dict(whole.cells),
            chief=_read(whole.chief, reference),
            kv_tokens=whole.kv_tokens,
            distance=idle.distance if idle else None,
            distance_tolerance=idle.tolerance if idle else None,
            loaded_distance=loaded.distance if loaded else None,
            loaded_tolerance=loaded.tolerance if loaded else None,
            loaded_concurrency=whole.quality.concurrency,
        )
        found.append(_told_stack(stored, served, whole.state, whole.measured_at, told))
    return found


def _served(cell: Cell, reference: Reference) -> Served:
    condition = reference.conditions[cell.condition_key]
    return Served(condition.cards.model, condition.model.id)


def _told_stack(
    stored: StoredStack,
    served: Served,
    state: CompatState,
    measured_at: datetime | None,
    told: CompatTold,
) -> ToldStack:
    return ToldStack(
        stack_key=stored.stack.key,
        name=stored.stack.name,
        chip=stored.chip,
        built_at=stored.built_at,
        card_model=served.card_model,
        model=served.model,
        state=state.value,
        measured_at=measured_at,
        told=told.model_dump(mode="json"),
    )
