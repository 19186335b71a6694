"""A newcomer's four questions, each answered from the overview in three clicks or fewer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look, Service

CLICKS = 3


class Walk:
    """A way from the overview, click by click."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page, self.clicks = page, 0
        page.goto(service.url)
        expect(page.locator(".sentence")).to_be_visible()

    def click(self, target: Locator) -> None:
        """Take one more click."""
        target.click()
        self.clicks += 1


def what_got_worse(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    return walk.page.locator("[aria-labelledby=moved-caption] tbody tr").first


def since_when_and_by_which_component(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    expect(walk.page.locator("main .facts time").first).to_be_visible()
    components = walk.page.get_by_role("table", name=word(look.language, "stack.components"))
    return components.locator("tbody tr", has_text="torch")


def may_i_upgrade(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator(".side nav a", has_text=word(look.language, "nav.upgrade")))
    walk.page.locator("select[name=from]").select_option(index=1)
    walk.page.locator("select[name=to]").select_option(index=2)
    walk.click(walk.page.locator("main form button"))
    return walk.page.locator("main .notice").first


def is_this_number_trustworthy(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    walk.click(walk.page.locator("[aria-labelledby=order-caption] tbody a").first)
    return walk.page.locator(".heading", has_text=word(look.language, "trust.yes"))


@pytest.mark.parametrize(
    "question",
    [
        what_got_worse,
        since_when_and_by_which_component,
        may_i_upgrade,
        is_this_number_trustworthy,
    ],
    ids=lambda question: question.__name__.replace("_", " "),
)
def test_a_newcomers_question_is_answered_in_three_clicks(
    page: Page, look: Look, service: Service, question: Callable[[Walk, Look], Locator]
) -> None:
    walk = Walk(page, service)

    answer = question(walk, look)

    expect(answer).to_be_visible()
    assert walk.clicks <= CLICKS
