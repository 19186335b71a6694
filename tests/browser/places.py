"""Every page of the dashboard, and an address of it with something on it."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import Everywhere
from tests.integration.builders import NEW, OLD, PROTOCOL

# Returns where a page is; what it needs the id of is asked for.
Finder = Callable[[Page, Everywhere], str]


def _of_scene(path: str) -> Finder:
    return lambda _, on: on.scene.url + path


def _of_nights(path: str) -> Finder:
    return lambda _, on: on.nights + path


def _of_gate(path: str) -> Finder:
    return lambda _, on: on.gated + path


def _matrix(_: Page, on: Everywhere) -> str:
    return f"{on.scene.url}/matrix?stack={on.scene.scene.stacks[3].key}"


def _series(_: Page, on: Everywhere) -> str:
    condition = on.scene.scene.conditions[2].key
    return f"{on.scene.url}/series?condition={condition}&protocol={PROTOCOL.key}"


def _compare(_: Page, on: Everywhere) -> str:
    old, new = on.scene.scene.stacks[2:4]
    return f"{on.scene.url}/compare?baseline={old.key}&candidate={new.key}"


def _session(_: Page, on: Everywhere) -> str:
    return f"{on.scene.url}/queue/{on.scene.scene.open_session}"


def _run(page: Page, on: Everywhere) -> str:
    found = _asked(page, on.scene.url, "runs?limit=1&state=measured")
    return f"{on.scene.url}/runs/{found['runs'][0]['id']}"


def _incident(page: Page, on: Everywhere) -> str:
    found = _asked(page, on.scene.url, "incidents?limit=1")
    return f"{on.scene.url}/incidents/{found['incidents'][0]['id']}"


def _event(page: Page, on: Everywhere) -> str:
    found = _asked(page, on.nights, "events?limit=1")
    return f"{on.nights}/events/{found['events'][0]['id']}"


def _gate(page: Page, on: Everywhere) -> str:
    return f"{on.gated}/gates/{_asked(page, on.gated, 'gates')[0]['id']}"


def _asked(page: Page, url: str, what: str) -> Any:
    return page.request.get(f"{url}/api/v1/{what}").json()


PLACES: dict[str, Finder] = {
    "overview": _of_scene("/"),
    "incidents": _of_scene("/incidents"),
    "incident": _incident,
    "events": _of_nights("/events"),
    "event": _event,
    "matrix": _matrix,
    "series": _series,
    "compare": _compare,
    "gates": _of_gate("/gates"),
    "gate": _gate,
    "compat": _of_gate("/compat"),
    "upgrade": _of_gate(f"/upgrade?from={OLD.key}&to={NEW.key}"),
    "runs": _of_scene("/runs"),
    "run": _run,
    "queue": _of_nights("/queue"),
    "session": _session,
    "hosts": _of_scene("/hosts"),
    "baselines": _of_scene("/baselines?history=1"),
    "settings": _of_scene("/settings"),
}


def address(page: Page, on: Everywhere, name: str) -> str:
    """Return where a page is with something on it."""
    return PLACES[name](page, on)
