"""The base of a gate: what is pinned for the merge base, what is pinned now, or a stack by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from service.cli.gate_wheels import git
from service.client import Client
from service.domain.stack import Stack
from service.formats.baselines import BaselineRead
from service.formats.chosen_stacks import ChosenStack, OverrideError, chosen
from service.formats.gate_answers import GateBase
from service.formats.gate_plans import Side
from service.formats.identities import StackOrder
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.stack_files import ComponentSection, StackFile, Verified
from service.formats.yaml_file import YamlFile

CHANNEL, STACK = "channel:", "stack:"
# A commit in a version is at least so many digits, as git shortens it.
COMMIT_DIGITS = 7


class NoBaseError(LookupError):
    """Nothing is pinned that the candidate could be held to."""

    def __init__(self, channel: str, plan: str) -> None:
        super().__init__(
            f"channel {channel} has no baseline in any cell of plan {plan}: pin one with "
            "`kunline baseline pin`, or name a stack with --base stack:NAME"
        )


@dataclass(frozen=True, slots=True)
class BaseAsked:
    """What a person says of the base. text: 'channel:NAME' or 'stack:NAME'; None for the default.

    merge_base: a commit, or None where git is to tell. target: the branch that is merged into.
    """

    text: str | None
    merge_base: str | None
    target: str | None
    source: Path


def require_base(asked: BaseAsked) -> None:
    """Raise OverrideError where what is said of a base contradicts itself."""
    text = asked.text or CHANNEL
    if not text.startswith((CHANNEL, STACK)):
        raise OverrideError(f"--base takes channel:NAME or stack:NAME, not {text!r}")
    if text.startswith(STACK) and asked.merge_base is not None:
        raise OverrideError(
            f"--merge-base looks for what a channel had pinned, and --base {text} is one stack: "
            "leave one of them out"
        )


def base_of(
    client: Client, matrix: Matrix, file: YamlFile[PlanFile], asked: BaseAsked, *, local: bool
) -> tuple[Side, GateBase]:
    """Return the base and how it was found.

    local: the service was started just now, so where it knows no baseline the plan's own will do.
    Raises NoBaseError, OverrideError, UnknownFileError, FileProblemsError, RefusedError.
    """
    require_base(asked)
    text = asked.text or f"{CHANNEL}main"
    if text.startswith(STACK):
        return _named(client, matrix, text.removeprefix(STACK), how="stack")
    channel = text.removeprefix(CHANNEL)
    pins = _pins(client, matrix, file, channel)
    plans_own = file.shape.baseline
    if not pins and local and plans_own and asked.text is None:
        return _named(client, matrix, plans_own, how="plan")
    if not pins:
        raise NoBaseError(channel, file.shape.name)
    return _pinned(client, matrix, pins, asked, channel)


def _named(client: Client, matrix: Matrix, name: str, *, how: str) -> tuple[Side, GateBase]:
    try:
        stack = chosen(matrix, name)
    except UnknownFileError:
        stack = _stored(matrix, client.stack(name))
    words = "named by a person" if how == "stack" else "the plan's own, as nothing is pinned"
    base = GateBase.model_validate(
        {
            "stack_key": stack.stack.key,
            "stack_name": stack.stack.name,
            "channel": None,
            "how": how,
            "found": f"{stack.stack.name}, {words}",
        }
    )
    return Side(stack, {}), base


def _pins(
    client: Client, matrix: Matrix, file: YamlFile[PlanFile], channel: str
) -> Sequence[BaselineRead]:
    """Return what was ever pinned in the channel for the plan's cells, the newest first."""
    cells = {(cell.condition.key, cell.protocol.key) for cell in planned_cells(matrix, file)}
    return [
        pin
        for pin in client.baselines(channel=channel, history=True)
        if (pin.condition_key, pin.protocol_key) in cells
    ]


def _pinned(
    client: Client,
    matrix: Matrix,
    pins: Sequence[BaselineRead],
    asked: BaseAsked,
    channel: str,
) -> tuple[Side, GateBase]:
    in_force = [pin for pin in pins if pin.replaced_at is None]
    tip = _most(in_force or pins[:1])
    merge_base, why = _merge_base(asked)
    of_merge = merge_base and _of_commit(client, pins, merge_base, asked.source)
    pin, found = of_merge or (tip, _tip_in_words(tip, in_force, channel))
    stack = _stored(matrix, client.stack(pin.stack_key))
    base = GateBase(
        stack_key=pin.stack_key,
        stack_name=pin.stack_name,
        channel=channel,
        how="merge base" if of_merge else "tip",
        found=f"{pin.stack_name}, {found}{'' if of_merge else why}",
        merge_base=merge_base,
        pinned_at=pin.pinned_at,
    )
    return Side(stack, {}), base


def _tip_in_words(tip: BaselineRead, in_force: Sequence[BaselineRead], channel: str) -> str:
    """Say since when a stack is the channel's, and where cells are held to others by now."""
    if tip.replaced_at is not None:
        until = f"{tip.replaced_at:%Y-%m-%d}"
        return f"pinned in channel {channel} until {until}, and nothing is pinned there now"
    others = sum(pin.stack_key != tip.stack_key for pin in in_force)
    told = f"; {others} of {len(in_force)} cells have another stack pinned" if others else ""
    return f"pinned in channel {channel} now{told}"


def _most(pins: Sequence[BaselineRead]) -> BaselineRead:
    """Return the newest pin of the stack that most cells are held to."""
    (key, _), *_ = Counter(pin.stack_key for pin in pins).most_common(1)
    return next(pin for pin in pins if pin.stack_key == key)


def _merge_base(asked: BaseAsked) -> tuple[str | None, str]:
    """Return the commit where a branch left its target, and a remark where that is not known."""
    if asked.merge_base is not None:
        try:
            commit = f"{asked.merge_base}^{{commit}}"
            return git(asked.source, "rev-parse", "--verify", "--end-of-options", commit), ""
        except OverrideError:
            return asked.merge_base, "; no baseline is of the merge base"
    if asked.target is None:
        return None, ""
    for target in (asked.target, f"origin/{asked.target}"):
        try:
            return git(asked.source, "merge-base", "HEAD", target), (
                "; no baseline is of the merge base"
            )
        except OverrideError:
            continue
    return None, f"; git does not tell the merge base with {asked.target}"


def _of_commit(
    client: Client, pins: Sequence[BaselineRead], commit: str, source: Path
) -> tuple[BaselineRead, str] | None:
    """Return the pin whose stack names a commit, else the one in force at the commit's time."""
    for key in dict.fromkeys(pin.stack_key for pin in pins):
        if _names_commit(client.stack(key).stack, commit):
            pin = next(pin for pin in pins if pin.stack_key == key)
            return pin, f"which pins the merge base {commit[:12]}"
    try:
        at = datetime.fromtimestamp(
            int(git(source, "show", "--no-patch", "--format=%ct", commit)), UTC
        )
    except OverrideError:
        return None
    in_force = [
        pin
        for pin in pins
        if pin.pinned_at <= at and (pin.replaced_at is None or pin.replaced_at > at)
    ]
    if not in_force:
        return None
    return _most(in_force), f"pinned when the merge base {commit[:12]} was made"


def _names_commit(stack: Stack, commit: str) -> bool:
    words = {
        word.removeprefix("g")
        for component in stack.components
        for word in component.version.replace("+", ".").replace("-", ".").split(".")
    }
    return any(len(word) >= COMMIT_DIGITS and commit.startswith(word) for word in words)


def _stored(matrix: Matrix, order: StackOrder) -> ChosenStack:
    """Return a stored stack to be measured: from the matrix where it has it, else as it was."""
    for name in matrix.stacks.files:
        known = chosen(matrix, name)
        if known.stack.key == order.key:
            return known
    stack = order.stack
    shape = StackFile(
        name=stack.name,
        chip=order.chip,
        built_at=order.built_at,
        components=tuple(
            ComponentSection(
                name=each.name,
                version=each.version,
                layer=each.layer,
                scope=each.scope,
                recorded=each.recorded,
            )
            for each in stack.components
        ),
        launch=order.launch,
        verified=Verified(state="unverified"),
    )
    obstacle = (
        None
        if order.build is not None
        else f"stack {stack.name}: neither the matrix nor the service tells how it is built; "
        "write a stack file with its `build:` section, see docs/adding-a-stack.md"
    )
    file = YamlFile(f"the stored stack {order.key[:12]}", shape, {})
    return ChosenStack(file, stack, order.build, None, obstacle)
