"""What is asked before a change goes in: gates, the compatibility table, the upgrade advisor."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from service.domain.layer import Layer
from service.formats.reports import Broken
from service.store import schema
from tests.browser.catalogue import word
from tests.browser.conftest import Look, opened, serving
from tests.browser.scene import Scene
from tests.browser.test_manners import AXE, AXE_ALL, AXE_COLOURS, serious, settled
from tests.integration import builders, gating, path
from tests.integration.builders import NEW, OLD
from tests.integration.pages import dated, pin

SLOWER = 1.3
WRONG = builders.stack("0.5.20")
FINDING = Broken(layer=Layer.SERVER, finding="ImportError: transformers.AutoProcessor")


def seed(engine: Engine) -> None:
    """Measure two stacks, pin one, gate the other, which is slower, and break a third."""
    schema.upgrade(engine)
    path.do_session(engine, dated(builders.session_order(arms=(OLD, NEW) * 2)))
    pin(engine, OLD)
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    path.tell_launch(engine, builders.launch_report(job, launch_id=job.job_id, broken=FINDING))
    path.finish(engine, job)
    gating.ask(engine, gating.gate_order(), "gate")
    gating.measure(engine, lambda stack, _, turn: SLOWER if stack == NEW.name else 1 + turn / 1000)


@pytest.fixture(scope="module")
def url(played: tuple[Path, Scene], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a gate that found something, and a stack that breaks."""
    place = tmp_path_factory.mktemp("gated")
    with opened(place) as (engine, _):
        seed(engine)
    with serving(place, played[1]) as running:
        yield running.url


def test_a_gate_says_its_word_first_and_leads_to_its_session(
    page: Page, look: Look, url: str
) -> None:
    page.goto(f"{url}/gates")
    page.locator("[aria-labelledby=gates-caption] tbody th a").first.click()

    expect(page).to_have_url(re.compile(r"/gates/[0-9a-f-]{36}$"))
    expect(page.locator(".heading")).to_contain_text(word(look.language, "outcome.regressed"))
    moved = page.locator("[aria-labelledby=verdicts-caption] tbody tr").first
    expect(moved).to_contain_text(word(look.language, "outcome.regressed"))
    expect(moved).to_contain_text(word(look.language, "counts.counted"))
    page.locator("main .facts a[href^='/queue/']").click()
    expect(page).to_have_url(re.compile(r"/queue/[0-9a-f-]{36}$"))


def test_the_table_says_which_stack_broke_where_and_keeps_its_filter_in_the_address(
    page: Page, look: Look, url: str
) -> None:
    page.goto(f"{url}/compat?state=broken")
    rows = page.locator("[aria-labelledby=compat-caption] tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(WRONG.name)
    expect(rows.first).to_contain_text(word(look.language, "compat.broken"))
    expect(rows.first).to_contain_text(FINDING.finding)

    page.locator("main select").first.select_option("")
    expect(page).to_have_url(f"{url}/compat")
    expect(rows).not_to_have_count(1)


def test_an_upgrade_is_asked_by_a_form_and_its_answer_can_be_sent_as_a_link(
    page: Page, look: Look, url: str
) -> None:
    page.goto(f"{url}/upgrade")
    page.locator("select[name=from]").select_option(OLD.key)
    page.locator("select[name=to]").select_option(WRONG.key)
    page.locator("main form button").click()

    expect(page).to_have_url(re.compile(f"from={OLD.key}&to={WRONG.key}"))
    told = page.locator("main .notice").first
    expect(told).to_contain_text(word(look.language, "advice.no"))
    page.reload()
    expect(told).to_contain_text(word(look.language, "advice.no"))
    expect(page.locator("select[name=to]")).to_have_value(WRONG.key)


@pytest.mark.parametrize("name", ["/gates", "gate", "/compat", "advice"])
def test_pages_before_a_change_have_no_serious_fault_for_readers_who_do_not_see(
    opener: Callable[..., Page], url: str, name: str
) -> None:
    page = opener(bypass_csp=True)
    if name == "gate":
        name = f"/gates/{page.request.get(f'{url}/api/v1/gates').json()[0]['id']}"
    if name == "advice":
        name = f"/upgrade?from={OLD.key}&to={NEW.key}"
    page.goto(url + name)
    settled(page)

    page.add_script_tag(path=AXE)
    assert serious(page.evaluate(AXE_ALL)) == []
    page.emulate_media(color_scheme="dark")
    assert serious(page.evaluate(AXE_COLOURS)) == []
