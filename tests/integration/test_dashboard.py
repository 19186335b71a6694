"""The built dashboard as it is served: one page for all views, never for the API's addresses."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from service.config import Settings
from tests.integration.serving import application

PAGE = "<!doctype html><title>Kunline</title>"


@pytest.fixture
def http(engine: Engine, tmp_path: Path) -> TestClient:
    web = tmp_path / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text(PAGE)
    (web / "assets/index-a1b2.js").write_text("export {};\n" * 200)
    app = application(engine, tmp_path, settings=Settings(data_dir=tmp_path, web_dir=web))
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.mark.parametrize("path", ["/", "/matrix", "/runs/0a1b", "/matrix?stack=abc"])
def test_every_view_is_answered_with_the_one_page(http: TestClient, path: str) -> None:
    answer = http.get(path)

    assert (answer.status_code, answer.text) == (200, PAGE)


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/assets/old.js", "/missing.svg"])
def test_an_address_that_is_no_view_is_not_found(http: TestClient, path: str) -> None:
    assert http.get(path).status_code == 404


def test_what_is_named_after_its_content_is_kept_and_the_page_is_asked_for_anew(
    http: TestClient,
) -> None:
    kept = http.get("/assets/index-a1b2.js").headers

    assert "immutable" in kept["cache-control"]
    assert kept["content-encoding"] == "gzip"
    assert http.get("/").headers["cache-control"] == "no-cache"


def test_the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(http: TestClient) -> None:
    policy = http.get("/hosts").headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_the_api_answers_beside_the_page(http: TestClient) -> None:
    assert http.get("/api/v1/runs").json() == {"runs": [], "cursor": None}
