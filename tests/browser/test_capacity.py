"""Capacity on the comparison's page, and the cards on a run's, in a real browser."""

import re

from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look, Service


def test_limits_that_a_reader_sets_make_a_capacity_and_are_in_the_address(
    page: Page, look: Look, service: Service
) -> None:
    old, new = service.scene.stacks[2:4]
    page.goto(f"{service.url}/compare?baseline={old.key}&candidate={new.key}")
    expect(page.locator(".lines svg").first).to_be_visible()
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
    page.get_by_text(word(look.language, "cards.table"), exact=True).click()
    samples = page.locator("[aria-labelledby=samples-caption] tbody tr")
    expect(samples).to_have_count(100)
    expect(samples.first).to_contain_text("GiB")


def test_a_session_says_what_share_of_its_times_is_communication(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/compare?session={service.scene.sessions[2]}")

    shares = page.locator("[aria-labelledby=messages-caption] tbody tr")
    expect(page.locator("h2", has_text=word(look.language, "messages.title"))).to_be_visible()
    expect(shares.first).to_contain_text("Qwen3-8B")
    expect(shares.first.locator("td").nth(2)).to_have_text(re.compile(r"^(≥ )?\d+%$"))
