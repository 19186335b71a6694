"""Incidents in a real browser: found on the overview, looked into, answered, taken back."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look, Service
from tests.browser.stories import deviate


def answer(page: Page, look: Look, triage: str, why: str) -> None:
    form = page.locator("form", has=page.locator("select[name=triage]"))
    form.locator("select[name=triage]").select_option(triage)
    form.get_by_label(word(look.language, "field.owner")).fill("Chen Wei")
    form.locator("input[name=due]").fill("2026-12-24")
    form.locator("textarea").fill("The new scheduler costs this.")
    sign(form, look, why)


def said(page: Page, look: Look, triage: str) -> Locator:
    """Return the word of an answer where the page's heading says it."""
    return page.locator(".heading .tag", has_text=word(look.language, f"triage.{triage}"))


def sign(form: Locator, look: Look, why: str) -> None:
    """Fill in why and who, and send the form."""
    form.get_by_label(word(look.language, "field.why")).fill(why)
    form.get_by_label(word(look.language, "field.who")).fill("Lin Yue")
    form.get_by_role("button").last.click()


def test_an_open_incident_stands_on_the_overview_and_leads_to_its_evidence(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(service.url)
    page.locator("[aria-labelledby=incidents-caption] tbody th a").click()

    expect(page).to_have_url(re.compile(r"/incidents/[0-9a-f-]{36}$"))
    expect(page.locator("h1")).to_contain_text(service.scene.stacks[3].name)
    # Control and candidate side by side, in the order measured: A B A B.
    arms = page.locator("[aria-labelledby=order-caption] tbody tr td:nth-child(2)")
    expect(arms).to_have_count(4)
    control = word(look.language, "field.control")
    assert [control in text for text in arms.all_text_contents()] == [True, False, True, False]
    expect(page.locator(".lines .tone-1 .mark")).to_have_count(2)
    components = page.get_by_role("table", name=word(look.language, "stack.components"))
    expect(components).to_contain_text("2.10.0")


def test_another_cell_of_an_incident_is_shown_by_its_address(
    english: Page, service: Service
) -> None:
    english.goto(f"{service.url}/incidents")
    english.locator("tbody th a").first.click()
    evidence = english.locator("h2", has_text=word("en", "incident.evidence"))
    expect(evidence).to_be_visible()
    first = evidence.inner_text()

    english.get_by_role("link", name=word("en", "incident.show"), exact=True).last.click()

    expect(english).to_have_url(re.compile("cell="))
    expect(evidence).not_to_have_text(first)


def test_an_incident_is_answered_and_opened_again_and_all_of_it_is_kept(
    own_service: Service, page: Page, look: Look
) -> None:
    incident = deviate(own_service.engine, own_service.scene)
    page.goto(f"{own_service.url}/incidents/{incident}")

    answer(page, look, "noise", "one bad disk")
    expect(
        page.locator(".heading .tag", has_text=word(look.language, "triage.noise"))
    ).to_have_count(1)
    expect(page.locator("main .facts").first).to_contain_text("2026-12-24")
    sign(page.get_by_role("form", name=word(look.language, "incident.undo")), look, "it came back")

    expect(
        page.locator(".heading .tag", has_text=word(look.language, "triage.open"))
    ).to_have_count(1)
    acts = page.locator("[aria-labelledby=history-caption] tbody tr")
    expect(acts).to_have_count(2)
    expect(acts.first).to_contain_text(word(look.language, "act.triage"))
    expect(acts.first).to_contain_text("Chen Wei")
    expect(acts.last).to_contain_text(word(look.language, "act.reopen"))


def test_a_change_becomes_an_incident_and_freezes_baselines(
    own_nights: str, page: Page, look: Look
) -> None:
    page.goto(f"{own_nights}/events")
    page.locator("tbody th a").first.click()

    sign(page.locator("form.stackform"), look, "measured again by hand")

    expect(page).to_have_url(re.compile(r"/incidents/[0-9a-f-]{36}$"))
    expect(page.locator(".heading")).to_contain_text(word(look.language, "incident.frozen"))
    page.goto(f"{own_nights}/incidents")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_cells_with_another_cause_leave_an_incident_and_come_back(
    own_service: Service, page: Page, look: Look
) -> None:
    incident = deviate(own_service.engine, own_service.scene)
    page.goto(f"{own_service.url}/incidents/{incident}")
    page.get_by_text(word(look.language, "regroup.split"), exact=True).first.click()
    form = page.get_by_role("form", name=word(look.language, "regroup.split"))
    form.get_by_role("checkbox").first.check()
    sign(form, look, "another kernel")
    expect(page).not_to_have_url(re.compile(str(incident)))
    expect(page.locator("[aria-labelledby=moved-caption] tbody tr").first).to_be_visible()
    apart = page.url

    page.get_by_text(word(look.language, "regroup.merge"), exact=True).first.click()
    form = page.get_by_role("form", name=word(look.language, "regroup.merge"))
    form.locator("select").select_option(str(incident))
    sign(form, look, "one kernel after all")

    expect(page).to_have_url(re.compile(str(incident)))
    parts = page.locator("main .facts a", has_text=apart.rpartition("/")[2][:8])
    expect(parts).to_have_count(1)
