"""Every page in both languages and themes, narrow and wide: nothing moves or overflows.

Pictures are kept: they lie in the folder that KUNLINE_PICTURES names, else in a temporary one.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import WAIT_MS, Everywhere, Look
from tests.browser.looks import MOVED
from tests.browser.places import PLACES, address
from tests.browser.test_manners import settled

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SIZES = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
# What is cut though nothing says so: a word wider than its box that no scroll bar reaches.
CUT = """() => [...document.querySelectorAll("main :is(h1, h2, p, button, dd, label):not(.unseen)")]
  .filter((box) => getComputedStyle(box).overflowX === "hidden")
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the pictures lie."""
    named = os.environ.get("KUNLINE_PICTURES")
    place = Path(named) if named else tmp_path_factory.mktemp("pictures")
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.fixture(scope="module", params=["en", "zh"])
def reader(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Open one page a language, which goes from address to address."""
    look = Look(request.param, "light")
    context = browser.new_context(**look.options())
    context.set_default_timeout(WAIT_MS)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PLACES)
def test_a_page_keeps_still_and_fits_narrow_and_wide_and_is_kept_as_a_picture(
    reader: Page, everywhere: Everywhere, folder: Path, name: str
) -> None:
    language = "zh" if "zh" in reader.evaluate("navigator.language") else "en"
    url = address(reader, everywhere, name)

    faults = []
    for width, size in (("wide", WIDE), ("narrow", NARROW)):
        reader.set_viewport_size(size)  # type: ignore[arg-type]  # a mapping of two numbers
        reader.goto(url)
        settled(reader)
        faults += [f"{width}: {moved}" for moved in reader.evaluate(MOVED)["moved"]]
        whole, shown = reader.evaluate(SIZES)
        faults += [f"{width}: {whole} px in {shown}"] if whole > shown else []
        faults += [f"{width}: {box}" for box in reader.evaluate(CUT)]
        for theme in ("light", "dark"):
            reader.emulate_media(color_scheme=theme)
            path = folder / f"{name}-{language}-{theme}-{width}.png"
            reader.screenshot(path=path, full_page=True, animations="disabled")

    assert faults == []
