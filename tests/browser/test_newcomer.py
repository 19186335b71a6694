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

    def choose(self, target: Locator) -> None:
        """Choose the newest of a list, which is one more click."""
        target.select_option(index=1)
        self.clicks += 1


def what_got_worse(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    moved = walk.page.locator("[aria-labelledby=moved-caption] tbody tr").first
    expect(moved).to_contain_text(word(look.language, "metric.output_throughput"))
    return moved.locator(".worsening", has_text="%")


def since_when_and_by_which_component(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    expect(walk.page.locator("h1")).to_contain_text("p800-sglang-0.5.21")
    expect(walk.page.locator("main .facts time").first).to_be_visible()
    cause = word(look.language, "cause.single")
    told = word(look.language, "attribution.is", cause=cause, named="torch")
    return walk.page.locator(".card .sentence", has_text=told)


def may_i_upgrade_the_driver(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator(".side nav a", has_text=word(look.language, "nav.upgrade")))
    walk.choose(walk.page.locator("select[name=from]"))
    walk.page.locator("input[name=set]").fill("xre=5.0.22")
    walk.click(walk.page.locator("main form button"))
    # Nothing was measured under that driver, and that is what the answer says, with what it takes.
    expect(walk.page.locator("main .facts").first).to_contain_text(
        word(look.language, "scope.host")
    )
    return walk.page.locator("main .notice .tag", has_text=word(look.language, "advice.unknown"))


def is_this_number_trustworthy(walk: Walk, look: Look) -> Locator:
    walk.click(walk.page.locator("[aria-labelledby=incidents-caption] tbody th a").first)
    walk.click(walk.page.locator("[aria-labelledby=order-caption] tbody a").first)
    return walk.page.locator(".heading", has_text=word(look.language, "trust.yes"))


@pytest.mark.parametrize(
    "question",
    [
        what_got_worse,
        since_when_and_by_which_component,
        may_i_upgrade_the_driver,
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
