"""How fast the dashboard's pages are drawn in a real browser, over ten million values.

`python -m tests.bench.drawing`, `./dev bench drawing`. The database and the service are those of
`./dev bench web`. Each page is loaded cold, in a browser that knows nothing yet, again and again:
timed is the first contentful paint, and layout shift is held by its largest. A series of 100,000
runs is drawn as the page asks for it, and once more with an entry a run; timed is from the last
byte of the answer to the frame that shows it. The matrix of 1,000 cells is scrolled and filtered.

Each time is printed as the median of several and as the best of them, and held by the best: others
on the machine can only add to it. Exit code 1 where that, or a shift, is above its bound.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import psycopg
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.bench import web, web_fill
from tests.bench.web_fill import STACKS, name, run_id, session_id
from tests.bench.web_rows import event_id
from tests.browser.conftest import ENGLISH, FLAGS, browser_path
from tests.browser.looks import DRAWN, DRAWN_AFTER, MOVED, SCROLLED
from tests.integration.builders import PROTOCOL
from tests.integration.databases import kept_postgres, postgres

COLD = 7
PAINT_MS, SHIFT, DRAWN_MS = 1000.0, 0.0, 150.0
# Each frame of the scroll draws the whole window anew, in software.
FRAME_MS, FILTER_MS = 50.0, 300.0
LONG_RUNS = 100_000
WAIT_MS = 120_000


@dataclass(frozen=True, slots=True)
class Told:
    """One measured quantity: the middle and the best of several, and the most it may be."""

    what: str
    times: Sequence[float]
    most: float

    def write(self) -> bool:
        """Print it, and return whether it holds."""
        best = min(self.times)
        sys.stdout.write(
            f"{self.what:52} {median(self.times):7.1f}  best {best:7.1f}  (at most {self.most:g})"
            f"{'' if best <= self.most else '  TOO MUCH'}\n"
        )
        sys.stdout.flush()
        return best <= self.most


def main() -> int:
    """Fill, draw, print, and return 0 where everything holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the database there, and fill it once")
    parser.add_argument("--url", help="of a database that is full already")
    asked = parser.parse_args()
    with ExitStack() as left:
        url = asked.url or _filled(left, asked.folder)
        place = left.enter_context(tempfile.TemporaryDirectory())
        service = left.enter_context(web.serving(url, Path(place)))
        driver = left.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        held = [told.write() for told in _all(browser, service.address, url)]
        browser.close()
    return 0 if all(held) else 1


def _filled(left: ExitStack, folder: Path | None) -> str:
    held = postgres if folder is None else partial(kept_postgres, folder)
    return web.filled(left.enter_context(held(settings=web.SETTINGS)))


def _all(browser: Browser, address: str, url: str) -> Iterator[Told]:
    yield from _series(browser, address)
    yield from _matrix(browser, address)
    for page, path in _pages(url).items():
        yield from _cold(browser, page, address + path)


def _pages(url: str) -> dict[str, str]:
    """Return an address of every page, with something on it."""
    of = web_fill.made()
    with psycopg.connect(url) as connection:
        gate = connection.execute("SELECT id FROM gate ORDER BY asked_at LIMIT 1").fetchone()
    base, new = of.stacks[0].key, of.stacks[-1].key
    run = run_id(STACKS - 1, "h1", of.by_host["h1"][0])
    return {
        "overview": "/",
        "incidents": "/incidents",
        "incident": f"/incidents/{name('incident 0')}",
        "events": "/events",
        "event": f"/events/{event_id(STACKS - 1, 'h1')}",
        "matrix": f"/matrix?stack={new}",
        "series": _series_path(of.long[0].key),
        "compare": f"/compare?baseline={base}&candidate={new}",
        "gates": "/gates",
        "gate": f"/gates/{gate[0] if gate else ''}",
        "compat": "/compat",
        "upgrade": f"/upgrade?from={base}&to={new}",
        "runs": "/runs",
        "run": f"/runs/{run}",
        "queue": "/queue",
        "session": f"/queue/{session_id(STACKS - 1, 'h1')}",
        "hosts": "/hosts",
        "baselines": "/baselines",
        "settings": "/settings",
    }


def _series_path(condition: str) -> str:
    return f"/series?condition={condition}&protocol={PROTOCOL.key}&metric=ttft_p50"


def _cold(browser: Browser, page: str, address: str) -> Iterator[Told]:
    """Load a page again and again, each time as one who has never been here."""
    paints, shifts = [], []
    for _ in range(COLD):
        context = browser.new_context(**ENGLISH.options())
        opened = context.new_page()
        opened.goto(address)
        expect(opened.locator(".skeleton, .refreshing, .coming")).to_have_count(0, timeout=WAIT_MS)
        seen = opened.evaluate(MOVED)
        paints.append(seen["paint"])
        shifts.append(seen["shift"])
        context.close()
    yield Told(f"{page}: first paint, ms", paints, PAINT_MS)
    yield Told(f"{page}: layout shift, largest", [max(shifts)], SHIFT)


def _series(browser: Browser, address: str) -> Iterator[Told]:
    path = address + _series_path(web_fill.made().long[1].key)

    def every_run(route: Route) -> None:
        route.continue_(url=f"{route.request.url}&points={LONG_RUNS}")

    for what, dense in (("as the page asks for it", False), ("an entry a run", True)):
        times = []
        for _ in range(COLD):
            context = browser.new_context(**ENGLISH.options())
            page = context.new_page()
            page.add_init_script(DRAWN)
            if dense:
                page.route(re.compile(r"/series/outline\?"), every_run)
            page.goto(path)
            times.append(float(page.evaluate(DRAWN_AFTER)))
            context.close()
        yield Told(f"series of {LONG_RUNS:,} runs, {what}: drawn, ms", times, DRAWN_MS)


def _matrix(browser: Browser, address: str) -> Iterator[Told]:
    context = browser.new_context(**ENGLISH.options())
    page = context.new_page()
    page.goto(f"{address}/matrix")
    rows = page.locator("table.heat tbody tr")
    expect(rows).to_have_count(1000, timeout=WAIT_MS)
    frames, filtered = [], []
    for _ in range(COLD):
        frames.append(float(page.evaluate(SCROLLED)))
        filtered.append(_filtered(page))
        expect(rows).to_have_count(1000, timeout=WAIT_MS)
    yield Told("matrix of 1,000 cells: slowest frame of a scroll, ms", frames, FRAME_MS)
    yield Told("matrix of 1,000 cells: filtered by a word, ms", filtered, FILTER_MS)
    context.close()


def _filtered(page: Page) -> float:
    """Return how long a word typed takes to be shown, by the page's own clock."""
    return float(
        page.evaluate(
            """() => new Promise((done) => {
              const field = document.querySelector("main input[type=search]");
              const begun = performance.now();
              field.value = "concurrency 1";
              field.dispatchEvent(new Event("input", { bubbles: true }));
              requestAnimationFrame(() => setTimeout(() => {
                done(performance.now() - begun);
                field.value = "";
                field.dispatchEvent(new Event("input", { bubbles: true }));
              }));
            })"""
        )
    )


if __name__ == "__main__":
    sys.exit(main())
