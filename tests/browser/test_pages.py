"""Each page's main act, in both languages and both themes."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.catalogue import word
from tests.browser.conftest import Look, Service
from tests.browser.scene import LOG_LINES, advance
from tests.integration.builders import PROTOCOL

PERCENT = re.compile(r"[+−]?\d+(\.\d+)?%")
SQUARE = re.compile(r"[+−]?\d+\.\d+%\s*\[[+−]?\d+(\.\d+)?%, [+−]?\d+(\.\d+)?%\]")


def slower(service: Service) -> str:
    """Return the key of the stack that is slower than its baseline."""
    return service.scene.stacks[3].key


def test_the_overview_says_the_last_night_in_one_sentence(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(service.url)

    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text(word(look.language, "overview.sentence", cells=12, calm=10))
    expect(sentence).to_contain_text(word(look.language, "outcome.broken"))


def test_from_the_overview_to_what_broke_is_one_click(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(service.url)

    page.locator(".squares a").filter(has_text=word(look.language, "outcome.broken")).click()

    expect(page).to_have_url(re.compile(r"/compare\?session="))
    expect(page.locator("#unjudged-caption")).to_have_count(1)
    expect(page.get_by_text("capacity")).to_have_count(1)


def test_a_square_of_the_matrix_has_a_number_an_interval_a_sign_and_a_word(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/matrix?stack={slower(service)}")

    square = page.locator("td.square").filter(has_text=word(look.language, "outcome.regressed"))
    expect(square.first).to_have_text(SQUARE)
    expect(square.first).to_contain_text("▲")


def test_a_filter_of_the_matrix_is_in_the_address_and_leads_back(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/matrix?stack={slower(service)}")
    rows = page.locator("table.heat tbody tr")
    expect(rows).to_have_count(12)

    page.get_by_label(word(look.language, "field.tp"), exact=True).select_option("2")

    expect(rows).to_have_count(6)
    expect(page).to_have_url(re.compile("tp=2"))
    page.go_back()
    expect(rows).to_have_count(12)


def test_from_a_square_to_its_series_is_one_click(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/matrix?stack={slower(service)}")

    page.locator("td.square a").first.click()

    expect(page).to_have_url(re.compile(r"/series\?condition=\w{64}&protocol=\w{64}&metric="))
    expect(page.locator(".chart canvas")).to_be_visible()


def test_the_matrix_shows_one_metric_of_many_stacks(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/matrix")

    page.get_by_label(word(look.language, "matrix.view"), exact=True).select_option("stacks")

    expect(page.locator("table.heat thead th")).to_have_count(8)


def series_url(service: Service) -> str:
    condition = service.scene.conditions[2].key
    return f"{service.url}/series?condition={condition}&protocol={PROTOCOL.key}"


def test_a_series_tells_exact_values_where_the_pointer_is(page: Page, service: Service) -> None:
    page.goto(series_url(service))
    chart = page.locator(".chart .u-over")

    chart.hover(position={"x": 60, "y": 100})

    expect(page.locator(".hovered strong")).to_have_text(re.compile(r"[\d,.]+ tok/s"))


def test_a_brush_zooms_a_series_and_back_leads_out_again(page: Page, service: Service) -> None:
    page.goto(series_url(service))
    box = page.locator(".chart .u-over").bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 90, steps=4)
    page.mouse.up()

    expect(page).to_have_url(re.compile(r"zoom=\d+-\d+"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("zoom="))


def test_two_runs_clicked_in_a_series_are_compared(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(series_url(service))
    over = page.locator(".chart .u-over")
    box = over.bounding_box()
    assert box is not None

    over.click(position={"x": box["width"] * 0.1, "y": 100})
    over.click(position={"x": box["width"] * 0.6, "y": 100})
    page.get_by_role("link", name=word(look.language, "series.compare")).click()

    expect(page).to_have_url(re.compile(r"/compare\?baseline=[\w-]{36}&candidate=[\w-]{36}"))
    expect(page.locator("#verdicts-caption, #unjudged-caption").first).to_be_attached()


def test_behind_the_chart_of_a_series_is_a_table_of_every_run(page: Page, service: Service) -> None:
    page.goto(series_url(service))

    runs = page.get_by_role("table", name=re.compile("Every run|全部运行"))
    expect(runs.locator("tbody tr")).to_have_count(20)
    expect(page.locator("#changes-caption")).to_have_count(1)


def test_an_incident_is_marked_in_its_series_and_is_one_click_away(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(series_url(service))

    expect(page.locator(".figure .legend")).to_contain_text(
        word(look.language, "kind.incident").lower()
    )
    page.locator("[aria-labelledby=incidents-caption] tbody th a").click()
    expect(page).to_have_url(re.compile(r"/incidents/[0-9a-f-]{36}$"))


def test_a_comparison_of_stacks_begins_with_their_components(
    page: Page, look: Look, service: Service
) -> None:
    old, new = service.scene.stacks[2:4]
    page.goto(f"{service.url}/compare?baseline={old.key}&candidate={new.key}")

    components = page.get_by_role("table", name=word(look.language, "stack.components"))
    expect(components).to_contain_text("torch")
    expect(components).to_contain_text("2.10.0")


def test_a_comparison_lists_the_largest_change_first(page: Page, service: Service) -> None:
    old, new = service.scene.stacks[2:4]
    page.goto(f"{service.url}/compare?baseline={old.key}&candidate={new.key}")
    cells = page.locator("table[aria-labelledby=verdicts-caption] .worsening > :first-child")
    expect(cells.first).to_have_text(PERCENT)

    sizes = [abs(float(text.replace("−", "-").strip("%"))) for text in cells.all_text_contents()]

    # Each is shown with as many digits as its interval leaves it.
    assert all(before >= after - 0.1 for before, after in pairwise(sizes))
    assert sizes[0] > 5


def test_two_runs_of_unlike_conditions_are_refused_by_field(
    page: Page, look: Look, service: Service
) -> None:
    ids = [run_of(page, service, place) for place in (0, 1)]

    page.goto(f"{service.url}/compare?baseline={ids[0]}&candidate={ids[1]}")

    expect(page.get_by_role("heading", name=word(look.language, "compare.refused"))).to_have_count(
        2
    )
    expect(page.get_by_text("traffic.concurrency").first).to_be_visible()


def run_of(page: Page, service: Service, place: int) -> str:
    """Return the id of a run under one of the conditions."""
    key = service.scene.conditions[place].key
    answer = page.request.get(f"{service.url}/api/v1/runs?condition_key={key}&limit=1")
    return str(answer.json()["runs"][0]["id"])


def test_a_run_says_whether_it_is_to_be_trusted_and_why(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/runs?state=invalid")
    page.locator("tbody th a").first.click()

    expect(page.locator(".heading")).to_contain_text(word(look.language, "trust.no"))
    findings = page.get_by_role("table", name=word(look.language, "run.findings"))
    expect(findings).to_contain_text("requests_done")
    preflight = page.get_by_role("table", name=word(look.language, "run.preflight"))
    expect(preflight.locator("tbody tr")).to_have_count(5)


def test_the_log_of_a_run_is_paged_searched_and_saved(
    page: Page, look: Look, service: Service
) -> None:
    page.goto(f"{service.url}/runs?state=measured")
    page.locator("tbody th a").first.click()
    page.get_by_label(word(look.language, "run.text"), exact=True).select_option(
        label=str(page.locator("option", has_text="server.log").text_content())
    )
    expect(page.locator(".log tr")).to_have_count(200)

    page.get_by_role("link", name=word(look.language, "run.next_lines")).click()
    expect(page.locator(".log th").first).to_have_text("201")
    page.get_by_label(word(look.language, "run.find")).fill("warning")
    expect(page.locator(".log tr")).to_have_count(LOG_LINES // 97 + 1)

    with page.expect_download() as saved:
        page.get_by_role("button", name=word(look.language, "run.download")).click()
    assert saved.value.path().read_text().count("\n") == LOG_LINES


def test_a_run_is_withdrawn_and_counts_again_and_both_are_kept(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/runs/{run_of(page, own_service, 0)}")
    trust = page.locator(".heading")
    for act, words in (("withdraw", "trust.withdrawn"), ("restore", "trust.yes")):
        form = page.get_by_role("form", name=word(look.language, f"decision.{act}"))
        form.get_by_label(word(look.language, "field.why")).fill("measured beside a build")
        form.get_by_label(word(look.language, "field.who")).fill("Chen Wei")
        form.get_by_role("button").click()
        expect(trust).to_contain_text(word(look.language, words))

    acts = page.locator("[aria-labelledby=history-caption] tbody tr")
    expect(acts).to_have_count(2)
    expect(acts.last).to_contain_text(word(look.language, "act.restore"))


def test_runs_are_filtered_by_state(page: Page, look: Look, service: Service) -> None:
    page.goto(f"{service.url}/runs")

    page.get_by_label(word(look.language, "field.state")).select_option("broken")

    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile("state=broken"))


def test_a_runner_is_paused_and_let_work_again(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/hosts")
    row = page.locator("tbody tr").filter(has_text="kl-01-r")

    row.get_by_role("button", name=word(look.language, "hosts.pause")).click()
    expect(row).to_contain_text(word(look.language, "state.paused"))
    row.get_by_role("button", name=word(look.language, "hosts.activate")).click()

    expect(row).to_contain_text(word(look.language, "state.active"))


def test_a_session_is_followed_without_a_reload(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/queue")
    page.locator(".card h3 a").click()
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("1 / 12")
    expect(page.locator(".live.live")).to_be_visible()

    advance(own_service.engine, own_service.scene, own_service.files)

    expect(first).to_contain_text("12 / 12")
    expect(first).to_contain_text(word(look.language, "state.reported"))


def test_a_session_is_cancelled_after_a_question(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/queue/{own_service.scene.open_session}")

    page.get_by_role("button", name=word(look.language, "session.cancel")).click()
    page.get_by_role("dialog").get_by_role(
        "button", name=word(look.language, "session.cancel")
    ).click()

    expect(page.locator("tbody tr").last).to_contain_text(word(look.language, "state.cancelled"))


def test_a_stack_is_pinned_and_the_pin_before_it_stays_in_the_history(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/baselines")
    form = page.get_by_role("form", name=word(look.language, "baselines.pin"))

    form.locator("select").select_option(own_service.scene.stacks[1].key)
    form.get_by_label(word(look.language, "field.why")).fill("qualified")
    form.get_by_label(word(look.language, "field.who")).fill("Chen Wei")
    form.get_by_role("button").click()

    expect(form).to_contain_text(word(look.language, "baselines.pinned", cells=12))
    expect(page.locator("tbody tr").first).to_contain_text("Chen Wei")
    page.get_by_label(word(look.language, "baselines.history")).check()
    expect(page.locator("tbody tr.past")).to_have_count(24)


def test_a_rule_gives_a_channel_its_first_baselines_until_it_is_ended(
    own_service: Service, page: Page, look: Look
) -> None:
    page.goto(f"{own_service.url}/baselines")
    form = page.get_by_role("form", name=word(look.language, "rules.add"))
    form.locator("input[name=channel]").fill("release-1")
    form.locator("input[name=stacks]").fill("p800-*")
    form.get_by_label(word(look.language, "field.why")).fill("what we deliver")
    form.get_by_label(word(look.language, "field.who")).fill("Chen Wei")
    form.get_by_role("button").click()
    row = page.locator("[aria-labelledby=rules-caption] tbody tr")
    expect(row).to_contain_text("p800-*")
    expect(row.locator("td").nth(1)).to_have_text("12")

    row.get_by_role("button").click()
    form = page.get_by_role("form", name=word(look.language, "rules.end"))
    form.get_by_label(word(look.language, "field.why")).fill("delivered")
    form.get_by_label(word(look.language, "field.who")).fill("Chen Wei")
    form.get_by_role("button").click()

    expect(row).to_contain_text(word(look.language, "rules.ended"))
    expect(row.get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize(
    "path",
    ["/", "/matrix", "/series", "/runs", "/hosts", "/queue", "/baselines"],
    ids=lambda path: path.strip("/") or "overview",
)
def test_an_empty_service_says_on_each_page_which_command_fills_it(
    page: Page, path: str, empty_url: str
) -> None:
    page.goto(empty_url + path)

    expect(page.locator(".empty code").first).to_contain_text("kunline ")
