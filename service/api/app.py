"""The HTTP application: every route, behind the guard."""

import gc
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import HTMLResponse
from starlette.routing import BaseRoute

from service.api import (
    advice,
    artefacts,
    attributions,
    baselines,
    claimants,
    comparisons,
    compat,
    confirms,
    costs,
    curves,
    errors,
    events,
    gates,
    health,
    imports,
    incidents,
    jobs,
    launches,
    matrix,
    noise,
    overview,
    qualifications,
    runners,
    runs,
    scaling,
    schedules,
    screens,
    series,
    sessions,
    stacks,
    tokens,
    waivers,
    webhooks,
    withdrawals,
)
from service.api.access import LOOPBACK, Remembered
from service.api.dashboard import Dashboard
from service.api.door import Door
from service.api.guard import Guard
from service.api.pieces import KeptPieces
from service.api.straight import Straight
from service.api.unchanged import KeptAnswers
from service.config import Settings, read_settings
from service.formats.problems import MEDIA_TYPE, Problem
from service.formats.reports import RunReport
from service.formats.session_events import SessionChanged, SessionOver
from service.store.artefacts import ArtefactFiles
from service.store.database import create_database
from service.usecases.send_nudges import NudgeSender, create_celery, nobody

PREFIX = "/api/v1"
# After how many things more the garbage is collected, of the young and of those grown old.
COLLECTED_AFTER = (20_000, 20, 20)
# Looked through in this order.
NOUNS = (
    runs,
    jobs,
    launches,
    sessions,
    claimants,
    artefacts,
    baselines,
    comparisons,
    runners,
    stacks,
    imports,
    withdrawals,
    noise,
    costs,
    overview,
    matrix,
    series,
    screens,
    advice,
    compat,
    qualifications,
    events,
    schedules,
    gates,
    waivers,
    confirms,
    incidents,
    attributions,
    webhooks,
    tokens,
    scaling,
    curves,
)
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": words,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, words in (("4XX", "The request is refused."), ("5XX", "The service cannot now."))
}
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Kunline</title>
<h1>Kunline {version}</h1>
<p>The service is running. The dashboard is not built here.</p>
<ul>
<li><a href="/openapi.json">the API, as OpenAPI</a></li>
<li><a href="/api/v1/sessions">sessions</a> · <a href="/api/v1/runs">runs</a> ·
<a href="/api/v1/baselines">baselines</a> · <a href="/api/v1/stacks">stacks</a> ·
<a href="/api/v1/runners">runners</a></li>
<li><a href="/readyz">ready?</a> · <a href="/metrics">metrics</a></li>
</ul>
"""


def create_app(door: Door, *, on_exit: Callable[[], None] = lambda: None) -> FastAPI:
    """Return the application on an open door. on_exit: called when the application ends."""
    storing = runs.storing(door)
    app = FastAPI(
        title="Kunline",
        version=version("kunline"),
        summary="Performance baselines for SGLang on Kunlun cards.",
        lifespan=_lifespan(storing.close, on_exit),
        responses=PROBLEMS,
        # Their pages are loaded from elsewhere, which a closed network does not reach.
        docs_url=None,
        redoc_url=None,
    )
    app.state.door = door
    app.state.remembered = Remembered()
    app.state.storing = storing
    app.state.followed = events.Followed()
    app.state.judging = Lock()
    app.state.kept = KeptAnswers()
    app.state.pieces = KeptPieces()
    app.router.routes.extend(_routes())
    errors.install(app)
    _add_page(app, door.settings.web_dir)
    app.add_middleware(
        Straight,
        method="PUT",
        address=f"{PREFIX}{runs.router.prefix}",
        answer=runs.put,
        errors={
            kind: told for kind, told in app.exception_handlers.items() if kind is not Exception
        },
    )
    app.add_middleware(
        Guard,
        hosts=_hosts(door.settings),
        body_max=door.settings.request_bytes_max,
        version=app.version,
    )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to add to it
    return app


def from_settings() -> FastAPI:
    """Return the application as the environment sets it up: what each server process calls."""
    settings = read_settings()
    sender = (
        NudgeSender(create_celery("kunline", settings.broker_url)) if settings.broker_url else None
    )
    engine = create_database(settings.database, connections=settings.database_connections)
    door = Door(
        settings=settings,
        engine=engine,
        files=ArtefactFiles(str(settings.data_dir.resolve() / "artefacts")),
        announce=sender or nobody,
        now=lambda: datetime.now(UTC),
    )

    def close() -> None:
        if sender is not None:
            sender.close()
        engine.dispose()

    app = create_app(door, on_exit=close)
    # What is there by now stays. To look through all of it for what may go would take a tenth of
    # a second each time, in the middle of an answer; and through what is kept, some hundredths.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    gc.enable()
    return app


@cache
def _routes() -> Sequence[BaseRoute]:
    """Return the routes of every noun: made once in a process, however many applications it has."""
    every = APIRouter(responses=PROBLEMS)
    for noun in NOUNS:
        every.include_router(noun.router, prefix=PREFIX)
    every.include_router(health.router)
    return every.routes


def _lifespan(
    *on_exit: Callable[[], None],
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for end in on_exit:
                end()

    return lifespan


def _hosts(settings: Settings) -> frozenset[str]:
    return LOOPBACK | {settings.host.lower()} | {name.lower() for name in settings.allowed_hosts}


def _add_page(app: FastAPI, web_dir: Path) -> None:
    """Serve the built dashboard, or a plain page where there is none."""
    if (web_dir / "index.html").is_file():
        app.mount("/", GZipMiddleware(Dashboard(directory=web_dir, html=True)), name="web")
        return

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> str:
        return PAGE.format(version=app.version)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the messages that no route's signature names."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        schemas = document["components"]["schemas"]
        for message in (Problem, RunReport, SessionChanged, SessionOver):
            schema = message.model_json_schema(ref_template="#/components/schemas/{model}")
            for name, found in schema.pop("$defs", {}).items():
                schemas.setdefault(name, found)
            schemas[message.__name__] = schema
        app.openapi_schema = document
    return app.openapi_schema
