"""Capacity on the comparison's page, and the cards on a run's, in a real browser."""

import re

from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import WAIT_MS, Look, Service


def test_limits_that_a_reader_sets_make_a_capacity_and_are_in_the_address(
    page: Page, look: Look, service: Service
) -> None:
    old, new = service.scene.stacks[2:4]
    page.goto(f"{service.url}/compare?baseline={old.key}&candidate={new.key}")
    expect(page.locator(".lines svg").first).to_be_visible(timeout=WAIT_MS)
    expect(page.locator("[aria-labelledby=loads-caption] tbody tr")).to_have_count(6)

    page.get_by_label(word(look.language, "curves.most", metric="TTFT p50"), exact=True).fill("100")
    page.get_by_label(word(look.language, "curves.traffic")).fill("50000")
    page.keyboard.press("Tab")

    expect(page).to_have_url(re.compile("ttft=100&traffic=50000"))
    rows = page.locator("[aria-labelledby=capacity-caption] tbody tr")
    expect(rows.first).to_contain_text("tok/s")
    expect(rows.first.locator("td").last).to_have_text(re.compile(r"\d"))
    page.reload()
    expect(rows.first).to_contain_text("tok/s")


def test_a_run_shows_every_quantity_of_its_cards_on_one_time_axis(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/runs?state=measured")
    page.locator("tbody th a").first.click()

    charts = page.locator(".lines svg")
    expect(charts).to_have_count(5)
    name = word(look.language, "cards.spoken", what=word(look.language, "cards.memory"), cards=2)
    expect(page.get_by_role("img", name=name)).to_be_visible()
