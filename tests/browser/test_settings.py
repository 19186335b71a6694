"""Settings in a real browser: tokens made, used and revoked; language and theme."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look, Service


def make(page: Page, look: Look, name: str, *scopes: str) -> None:
    form = page.get_by_role("form", name=word(look.language, "tokens.make"))
    form.get_by_label(word(look.language, "field.name")).fill(name)
    for scope in scopes:
        form.get_by_label(word(look.language, f"token.scope.{scope}"), exact=True).check()
    form.get_by_role("button").click()


def test_a_token_is_made_shown_once_used_given_another_secret_and_revoked(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/settings")
    make(page, look, "ann", "admin")
    secret = page.locator("code.secret")
    expect(secret).to_contain_text("kl_")
    # From the first token on one is needed: this tab takes the one just made.
    page.get_by_role("button", name=word(look.language, "tokens.use_here")).click()
    rows = page.locator("[aria-labelledby=tokens-caption] tbody tr")
    expect(rows).to_have_count(1)

    make(page, look, "dashboard", "read")
    expect(rows).to_have_count(2)
    page.reload()
    expect(rows).to_have_count(2)
    expect(secret).to_have_count(0)
    row = rows.filter(has_text="dashboard")
    row.get_by_role("button", name=word(look.language, "tokens.rotate")).click()
    page.get_by_role("form", name=word(look.language, "tokens.rotate")).get_by_role(
        "button"
    ).click()
    expect(secret).to_contain_text("kl_")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="dashboard~")).to_have_count(1)
    row = rows.filter(has=page.get_by_text("dashboard", exact=True))
    row.get_by_role("button", name=word(look.language, "tokens.revoke")).click()
    page.get_by_role("dialog").get_by_role(
        "button", name=word(look.language, "tokens.revoke")
    ).click()

    expect(row).to_contain_text(word(look.language, "tokens.revoked"))
    expect(row.get_by_role("button")).to_have_count(0)


def test_language_theme_and_times_are_chosen_among_the_settings(
    opener: Callable[..., Page], service: Service
) -> None:
    page = opener(fresh=True)
    page.goto(f"{service.url}/settings")

    page.get_by_role("radio", name="中文").check()
    page.get_by_role("radio", name=word("zh", "theme.dark")).check()
    page.get_by_role("radio", name=word("zh", "times.exact")).check()
    page.reload()

    expect(page.locator("h1")).to_have_text(word("zh", "nav.settings"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{service.url}/runs")
    expect(page.locator("tbody time").first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d"))
