"""Routes of runners: each says that it is here; a person lets it work, pauses or drains it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from fastapi import APIRouter, Path

from service.api.access import MayAdminister, MayIngest, MayRead
from service.api.callers import name_of
from service.api.door import Opened
from service.api.errors import PathMismatchError
from service.domain.audit import Act, Noun
from service.formats.orders import Claim
from service.formats.runners import RunnerRead, RunnerState, RunnerStateOrder
from service.usecases.find_claimants import keep_window
from service.usecases.know_runner import list_runners, register_runner, set_runner_state
from service.usecases.note_act import note_act

router = APIRouter(prefix="/runners", tags=["runners"])

ACTS: Mapping[RunnerState, Act] = MappingProxyType(
    {"active": Act.RESUME, "paused": Act.PAUSE, "draining": Act.DRAIN}
)
RunnerName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


@router.put("/{name}")
def put(door: Opened, _: MayIngest, name: RunnerName, claim: Claim) -> RunnerRead:
    """Store what a runner says of itself; what an earlier life of it held is lost at once."""
    if name != claim.runner:
        raise PathMismatchError(path=name, body=claim.runner)
    with door.writing() as session:
        keep_window(session, claim, files=door.files, now=door.now())
        return register_runner(session, claim, leasing=door.settings.leasing, now=door.now())


@router.get("")
def read_all(door: Opened, _: MayRead) -> tuple[RunnerRead, ...]:
    """Return every runner that was ever heard of."""
    with door.reading() as session:
        return list_runners(session)


@router.post("/{name}/state")
def set_state(
    door: Opened, caller: MayAdminister, name: RunnerName, order: RunnerStateOrder
) -> RunnerRead:
    """Let a runner work, pause it or drain it."""
    with door.writing() as session:
        read = set_runner_state(session, name, order.state)
        who = name_of(caller, None)
        note_act(
            session,
            ACTS[order.state],
            Noun.RUNNER,
            name,
            who=who,
            what=f"{order.state} from now on",
            now=door.now(),
        )
        return read
