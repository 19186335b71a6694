"""Cards of a host belong to one runner at a time, whatever locks the runners see."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.formats.orders import Claim, Renewal
from service.store.card_leases import CardsLeasedError
from service.store.database import writing
from service.usecases.renew_lease import renew_lease
from tests.integration import builders, path
from tests.integration.builders import NOW

LEASE = path.LEASING.lease


def asking(runner: str, *cards: str, host: str = "h1", life: int = 1) -> Claim:
    found = builders.claim(runner, host=host, incarnation=UUID(int=life))
    return found.model_copy(update={"held": cards})


def test_a_card_that_a_living_runner_holds_is_refused_to_another(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    path.claimed(engine, asking("one", "kunlun-0", "kunlun-1"))

    with pytest.raises(CardsLeasedError, match="kunlun-1 belong to one"):
        path.claim(engine, asking("two", "kunlun-1", "kunlun-2"), now=NOW + LEASE)


def test_what_was_refused_took_no_other_card_either(engine: Engine) -> None:
    path.claim(engine, asking("one", "kunlun-1"))
    with pytest.raises(CardsLeasedError):
        path.claim(engine, asking("two", "kunlun-1", "kunlun-2"))

    assert path.claim(engine, asking("three", "kunlun-2")) is None


@pytest.mark.parametrize(
    "free",
    [
        pytest.param(asking("two", "kunlun-2"), id="another card"),
        pytest.param(asking("two", "kunlun-1", host="h2"), id="a card of another host"),
        pytest.param(asking("one", "kunlun-1", life=2), id="its own, after a restart"),
        pytest.param(asking("two"), id="an older runner, which names no card"),
    ],
)
def test_cards_that_nobody_else_holds_are_leased(engine: Engine, free: Claim) -> None:
    path.claim(engine, asking("one", "kunlun-1"))

    assert path.claim(engine, free) is None


def test_cards_of_a_runner_that_went_quiet_are_leased_to_another(engine: Engine) -> None:
    path.claim(engine, asking("one", "kunlun-1"))
    later = NOW + LEASE + timedelta(seconds=1)

    assert path.claim(engine, asking("two", "kunlun-1"), now=later) is None


def test_a_sign_of_life_keeps_the_cards(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine, asking("one", "kunlun-1"))
    beat, later = NOW + timedelta(seconds=40), NOW + LEASE + timedelta(seconds=1)
    with writing(engine) as session:
        renewal = Renewal(fencing_token=order.fencing_token)
        renew_lease(session, order.job_id, renewal, leasing=path.LEASING, now=beat)

    with pytest.raises(CardsLeasedError):
        path.claim(engine, asking("two", "kunlun-1"), now=later)
