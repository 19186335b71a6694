"""Routes of tokens: list them without secrets, make one, give one another secret, end one."""

import secrets
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Response

from service.api.access import MayAdminister
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.identities import Name
from service.formats.tokens import RotationOrder, TokenIssued, TokenOrder, TokenRead
from service.usecases.hand_out_token import (
    exchange_secret,
    hand_out_token,
    list_handed_out,
    take_back_token,
)

router = APIRouter(prefix="/tokens", tags=["tokens"])

SECRET_BYTES = 32

# A rotated token's name holds a tilde.
TokenName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=~-]{0,160}$")]


@router.get("")
def read_all(door: Opened, _: MayAdminister) -> tuple[TokenRead, ...]:
    """Return every token ever made, by name, without secrets."""
    with door.reading() as session:
        return list_handed_out(session, now=door.now())


@router.post("", status_code=201)
def add(door: Opened, caller: MayAdminister, order: TokenOrder, response: Response) -> TokenIssued:
    """Make a token; its secret is in this answer and nowhere else."""
    response.headers["Cache-Control"] = "no-store"
    who, draw = name_of(caller, None), partial(secrets.token_urlsafe, SECRET_BYTES)
    with door.writing() as session:
        return hand_out_token(session, order, who=who, now=door.now(), draw=draw)


@router.post("/{name}/rotation", status_code=201)
def rotate(
    door: Opened, caller: MayAdminister, name: Name, order: RotationOrder, response: Response
) -> TokenIssued:
    """Give a token another secret; the old one counts on for as long as was asked."""
    response.headers["Cache-Control"] = "no-store"
    who, draw = name_of(caller, None), partial(secrets.token_urlsafe, SECRET_BYTES)
    with door.writing() as session:
        return exchange_secret(session, name, order, who=who, now=door.now(), draw=draw)


@router.post("/{name}/revocation")
def revoke(door: Opened, caller: MayAdminister, name: TokenName) -> TokenRead:
    """End a token at once, and what it was rotated from; once is enough."""
    with door.writing() as session:
        return take_back_token(session, name, who=name_of(caller, None), now=door.now())
