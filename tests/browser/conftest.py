"""A real Chromium on a real service: the pages as a reader sees them."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from sqlalchemy import Engine

from service.config import Settings
from service.store import schema
from service.store.artefacts import ArtefactFiles
from service.store.database import create_database
from tests.browser.scene import Scene, many, play
from tests.browser.stories import attribute, deviate, play_creep, play_gate, play_nights
from tests.integration.serving import Clock, application, served
from tests.tracked_files import ROOT

WEB = ROOT / "web/dist"
WAIT_MS = 15_000
CELLS_MANY = 1000
INSTALL = "apt-get install chromium-headless-shell fonts-noto-cjk"
# The shell draws with the same engine as the whole browser, for a quarter of its processor time.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True, slots=True)
class Look:
    """How a reader has set up the browser."""

    language: str
    theme: str
    width: int = 1440

    def options(self) -> dict[str, Any]:
        """Return it as the browser takes it."""
        return {
            "locale": "zh-CN" if self.language == "zh" else "en-US",
            "color_scheme": self.theme,
            "viewport": {"width": self.width, "height": 900},
            "timezone_id": "Asia/Shanghai",
        }


ENGLISH, CHINESE = Look("en", "light"), Look("zh", "dark")


class RealClock(Clock):
    """The time as it is: the pages count from the browser's own."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Service:
    """A service on a scene. engine, files: for what a runner would do meanwhile."""

    url: str
    scene: Scene
    engine: Engine
    files: ArtefactFiles


@dataclass(frozen=True, slots=True)
class Everywhere:
    """Where the pages are looked at: the scene's service, and the addresses of two others."""

    scene: Service
    nights: str
    gated: str


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here, and skip it where there is no browser, unless CI wants it."""
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    missing = None if browser_path() else f"no Chromium on the PATH; {INSTALL}"
    if not (WEB / "index.html").is_file():
        missing = "the dashboard is not built; ./dev web"
    for item in here:
        item.add_marker(pytest.mark.browser)
        if missing and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(reason=missing))


def browser_path() -> str | None:
    """Return the system's Chromium, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


# The driver's loop lives in this thread, where other tests may run one of their own: it ends
# with this package.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start one browser for all of these tests."""
    path = browser_path()
    assert path is not None, f"CI needs a browser: {INSTALL}"
    # A test machine is shared: what is there at once on one of one's own may take seconds.
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="package")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Scene]:
    """Play the scene once, into a database of which each service has a copy."""
    place = tmp_path_factory.mktemp("played")
    with opened(place) as (engine, files):
        schema.upgrade(engine)
        scene = play(engine, files)
    return place, scene


@contextmanager
def opened(place: Path) -> Iterator[tuple[Engine, ArtefactFiles]]:
    """Open the database and the artefacts of a place."""
    engine = create_database(f"sqlite:///{place / 'kunline.db'}", connections=20)
    try:
        yield engine, ArtefactFiles(str(place / "artefacts"))
    finally:
        engine.dispose()


@contextmanager
def serving(place: Path, scene: Scene) -> Iterator[Service]:
    """Serve what lies at a place, with the built dashboard."""
    with opened(place) as (engine, files):
        settings = Settings(data_dir=place, web_dir=WEB)
        app = application(engine, place, settings=settings, clock=RealClock())
        with served(app) as url:
            yield Service(url, scene, engine, files)


@pytest.fixture(scope="package")
def service(
    played: tuple[Path, Scene], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """Serve the scene, with an incident and its cause in it, to tests that change nothing."""
    place = tmp_path_factory.mktemp("read") / "place"
    shutil.copytree(played[0], place)
    with opened(place) as (engine, _):
        attribute(engine, played[1], deviate(engine, played[1]))
    with serving(place, played[1]) as running:
        yield running


@pytest.fixture
def own_service(played: tuple[Path, Scene], tmp_path: Path) -> Iterator[Service]:
    """Serve a copy of the scene to one test, which may change it."""
    place = tmp_path / "place"
    shutil.copytree(played[0], place)
    with serving(place, played[1]) as running:
        yield running


@pytest.fixture(scope="package")
def nights_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two weeks of nights once, into a database of which a test may have a copy."""
    place = tmp_path_factory.mktemp("nights")
    with opened(place) as (engine, _):
        play_nights(engine)
    return place


@pytest.fixture(scope="package")
def nights(nights_place: Path, played: tuple[Path, Scene]) -> Iterator[str]:
    """Serve the nights to tests that change nothing."""
    with serving(nights_place, played[1]) as running:
        yield running.url


@pytest.fixture
def own_nights(nights_place: Path, played: tuple[Path, Scene], tmp_path: Path) -> Iterator[str]:
    """Serve a copy of the nights to one test, which may change it."""
    place = tmp_path / "nights"
    shutil.copytree(nights_place, place)
    with serving(place, played[1]) as running:
        yield running.url


@pytest.fixture(scope="package")
def gated(played: tuple[Path, Scene], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a gate that found something, a stack that breaks, and three that creep."""
    place = tmp_path_factory.mktemp("gated")
    with opened(place) as (engine, _):
        play_gate(engine)
        play_creep(engine)
    with serving(place, played[1]) as running:
        yield running.url


@pytest.fixture(scope="package")
def everywhere(service: Service, nights: str, gated: str) -> Everywhere:
    """Return every service that tests only look at."""
    return Everywhere(service, nights, gated)


@pytest.fixture(scope="package")
def large_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a night of a thousand cells."""
    place = tmp_path_factory.mktemp("large")
    with opened(place) as (engine, files):
        schema.upgrade(engine)
        many(engine, files, cells=CELLS_MANY)
        app = application(
            engine, place, settings=Settings(data_dir=place, web_dir=WEB), clock=RealClock()
        )
        with served(app) as url:
            yield url


@pytest.fixture(scope="package")
def empty_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a database in which nothing is stored yet."""
    place = tmp_path_factory.mktemp("empty")
    with opened(place) as (engine, _):
        schema.upgrade(engine)
        settings = Settings(data_dir=place, web_dir=WEB)
        app = application(engine, place, settings=settings, clock=RealClock())
        with served(app) as url:
            yield url


@pytest.fixture(params=[ENGLISH, CHINESE], ids=["in-english-light", "in-chinese-dark"])
def look(request: pytest.FixtureRequest) -> Look:
    """Set the browser up in both languages and both themes."""
    found: Look = request.param
    return found


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Iterator[Callable[[Look], BrowserContext]]:
    """Give one context a look to all of these tests: what one has loaded the next has at hand."""
    known: dict[Look, BrowserContext] = {}

    def of(look: Look) -> BrowserContext:
        if look not in known:
            known[look] = browser.new_context(**look.options())
        return known[look]

    yield of
    for context in known.values():
        context.close()


@pytest.fixture
def opener(
    browser: Browser, contexts: Callable[[Look], BrowserContext]
) -> Iterator[Callable[..., Page]]:
    """Open pages that fail the test on an error in the console.

    fresh: in a context of its own, with nothing loaded and nothing remembered.
    """
    opened: list[BrowserContext | Page] = []
    errors: list[str] = []

    def open_page(look: Look = ENGLISH, *, fresh: bool = False, **options: Any) -> Page:
        fresh = fresh or bool(options)
        context = browser.new_context(**look.options(), **options) if fresh else contexts(look)
        page = context.new_page()
        opened.append(context if fresh else page)
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for each in opened:
        each.close()
    assert errors == []


@pytest.fixture
def page(opener: Callable[..., Page], look: Look) -> Page:
    """Open a page in both languages and both themes."""
    return opener(look)


@pytest.fixture
def english(opener: Callable[..., Page]) -> Page:
    """Open a page in English, where the language does not matter."""
    return opener()
