"""Changes that the screen saw, and what is measured every night, in a real browser."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from service.formats.schedules import ScheduleOrder
from service.store import schema
from service.store.database import writing
from service.usecases.keep_schedule import set_schedule
from tests.browser.catalogue import word
from tests.browser.conftest import Look, opened, serving
from tests.browser.scene import Scene
from tests.browser.test_manners import AXE, AXE_ALL, AXE_COLOURS, serious, settled
from tests.integration import builders
from tests.integration.nights import do_nights

NIGHTS = 14
# From this night on every cell is slower by so much.
SINCE, SLOWER = 9, 1.12


@pytest.fixture(scope="module")
def url(played: tuple[Path, Scene], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a history with a change in it, and a schedule."""
    place = tmp_path_factory.mktemp("nights")
    with opened(place) as (engine, _):
        schema.upgrade(engine)
        do_nights(engine, range(NIGHTS), slower=lambda night, _: SLOWER if night >= SINCE else 1.0)
        _schedule(engine)
    with serving(place, played[1]) as running:
        yield running.url


def _schedule(engine: Engine) -> None:
    order = ScheduleOrder(
        at="02:00",
        zone="Asia/Shanghai",
        order=builders.session_order(baseline=None),
        why="nightly",
    )
    with writing(engine) as session:
        set_schedule(session, "every-cell", order, who="li", now=datetime.now(UTC))


def test_a_change_says_since_which_stack_and_leads_to_its_series(
    page: Page, look: Look, url: str
) -> None:
    page.goto(f"{url}/events")
    rows = page.locator("table tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(word(look.language, "direction.worse"))
    expect(rows.first).to_contain_text(f"nightly-{SINCE}")

    rows.first.locator("th a").click()

    expect(page).to_have_url(re.compile(r"/events/[0-9a-f-]{36}$"))
    expect(page.locator("main .facts").first).to_contain_text(f"nightly-{SINCE - 1}")
    # What set the two stacks apart stands on the same page.
    expect(page.get_by_text(f"0.6.{SINCE - 1}", exact=True)).to_be_visible()
    page.locator("[aria-labelledby=moved-caption] tbody th a").first.click()
    expect(page).to_have_url(re.compile(r"/series\?condition="))
    seen = page.locator("[aria-labelledby=seen-caption]").first
    expect(seen).to_contain_text(word(look.language, "direction.worse"))


def test_the_queue_says_what_is_measured_every_night(page: Page, look: Look, url: str) -> None:
    page.goto(f"{url}/queue")

    nights = page.locator("[aria-labelledby=nights-caption]").first
    expect(nights).to_contain_text("every-cell")
    expect(nights).to_contain_text("02:00 Asia/Shanghai")
    expect(page.locator("h2", has_text=word(look.language, "queue.nights"))).to_be_visible()


@pytest.mark.parametrize("name", ["/events", "event", "/queue", "/"])
def test_pages_of_changes_have_no_serious_fault_for_readers_who_do_not_see(
    opener: Callable[..., Page], url: str, name: str
) -> None:
    page = opener(bypass_csp=True)
    if name == "event":
        found = page.request.get(f"{url}/api/v1/events?limit=1").json()["events"]
        name = f"/events/{found[0]['id']}"
    page.goto(url + name)
    settled(page)

    page.add_script_tag(path=AXE)
    assert serious(page.evaluate(AXE_ALL)) == []
    page.emulate_media(color_scheme="dark")
    assert serious(page.evaluate(AXE_COLOURS)) == []
