"""What is asked before a change goes in: gates, the compatibility table, the upgrade advisor."""

import re

from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look
from tests.browser.stories import FINDING, WRONG
from tests.integration.builders import OLD


def test_a_gate_says_its_word_first_and_leads_to_its_session(
    page: Page, look: Look, gated: str
) -> None:
    page.goto(f"{gated}/gates")
    page.locator("[aria-labelledby=gates-caption] tbody th a").first.click()

    expect(page).to_have_url(re.compile(r"/gates/[0-9a-f-]{36}$"))
    expect(page.locator(".heading")).to_contain_text(word(look.language, "outcome.regressed"))
    moved = page.locator("[aria-labelledby=verdicts-caption] tbody tr").first
    expect(moved).to_contain_text(word(look.language, "outcome.regressed"))
    expect(moved).to_contain_text(word(look.language, "counts.counted"))
    page.locator("main .facts a[href^='/queue/']").click()
    expect(page).to_have_url(re.compile(r"/queue/[0-9a-f-]{36}$"))


def test_the_table_says_which_stack_broke_where_and_keeps_its_filter_in_the_address(
    page: Page, look: Look, gated: str
) -> None:
    page.goto(f"{gated}/compat?state=broken")
    rows = page.locator("[aria-labelledby=compat-caption] tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(WRONG.name)
    layer = word(look.language, "layer.server")
    expect(rows.first).to_contain_text(word(look.language, "compat.at", layer=layer))
    expect(rows.first).to_contain_text(FINDING.finding)

    page.locator("main select").first.select_option("")
    expect(page).to_have_url(f"{gated}/compat")
    expect(rows).not_to_have_count(1)


def test_an_upgrade_is_asked_by_a_form_and_its_answer_can_be_sent_as_a_link(
    page: Page, look: Look, gated: str
) -> None:
    page.goto(f"{gated}/upgrade")
    page.locator("select[name=from]").select_option(OLD.key)
    page.locator("select[name=to]").select_option(WRONG.key)
    page.locator("main form button").click()

    expect(page).to_have_url(re.compile(f"from={OLD.key}&to={WRONG.key}"))
    told = page.locator("main .notice").first
    expect(told).to_contain_text(word(look.language, "advice.no"))
    page.reload()
    expect(told).to_contain_text(word(look.language, "advice.no"))
    expect(page.locator("select[name=to]")).to_have_value(WRONG.key)


def test_small_steps_that_add_up_are_told_on_the_overview_and_in_the_comparison(
    page: Page, look: Look, gated: str
) -> None:
    # Each answer judges one more of the sessions that were not told yet.
    while page.request.get(f"{gated}/api/v1/overview").json()["last_night"]["untold"]:
        pass
    page.goto(gated)
    creeping = word(look.language, "overview.creeping", number=1)
    page.locator("[aria-labelledby=sessions-caption] a", has_text=creeping).click()

    row = page.locator("[aria-labelledby=creep-caption] tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("TPOT p50")
    expect(row).to_contain_text("nightly-1")
