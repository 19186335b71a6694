"""Changes that the screen saw, and what is measured every night, in a real browser."""

import re

from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look
from tests.browser.stories import SINCE


def test_a_change_says_since_which_stack_and_leads_to_its_series(
    page: Page, look: Look, nights: str
) -> None:
    page.goto(f"{nights}/events")
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


def test_the_queue_says_what_is_measured_every_night(page: Page, look: Look, nights: str) -> None:
    page.goto(f"{nights}/queue")

    table = page.locator("[aria-labelledby=nights-caption]").first
    expect(table).to_contain_text("every-cell")
    expect(table).to_contain_text("02:00 Asia/Shanghai")
    expect(page.locator("h2", has_text=word(look.language, "queue.nights"))).to_be_visible()
