"""Fixtures of every test on a real database: SQLite in a file, and PostgreSQL."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
from sqlalchemy import Engine

from service.formats.events import EventRead
from service.store import schema
from service.store.database import create_database, reading
from service.store.events import EventFilter
from service.usecases.read_events import list_events
from tests.integration.databases import Cluster, postgres, redis
from tests.integration.nights import nights_with_a_step, play

# What is done to a migrated database before a test begins.
Scene: TypeAlias = Callable[[Engine], object]

BOTH = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Run one PostgreSQL for the whole session."""
    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """Migrate one database, of which each test's is a copy."""
    name = cluster.create()
    engine = create_database(cluster.url_of(name), connections=1)
    schema.upgrade(engine)
    engine.dispose()
    return name


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """Run one Redis or Valkey for the whole session."""
    with redis() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrate one SQLite file, of which each test's is a copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    engine = create_database(f"sqlite:///{path}", connections=1)
    schema.upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(params=BOTH)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the URL of a database without a table, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    running: Cluster = request.getfixturevalue("cluster")
    name = running.create()
    yield running.url_of(name)
    running.drop(name)


@pytest.fixture(scope="session")
def scene_file(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Scene | None], Path]:
    """Play each scene once into a SQLite file, of which each test's is a copy."""

    @cache
    def played(scene: Scene | None) -> Path:
        if scene is None:
            return migrated_file
        path = tmp_path_factory.mktemp("scene") / "scene.db"
        path.write_bytes(migrated_file.read_bytes())
        play(f"sqlite:///{path}", scene)
        return path

    return played


@pytest.fixture(scope="session")
def scene_template(cluster: Cluster, template: str) -> Callable[[Scene | None], str]:
    """Play each scene once into a database, of which each test's is a copy."""

    @cache
    def played(scene: Scene | None) -> str:
        if scene is None:
            return template
        name = cluster.create(template=template)
        play(cluster.url_of(name), scene)
        return name

    return played


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the URL of a migrated database, on SQLite and on PostgreSQL.

    It is empty but for what the scene did that its test is marked with.
    """
    marked = request.node.get_closest_marker("scene")
    scene: Scene | None = marked.kwargs["played"] if marked else None
    if request.param == "sqlite":
        path: Path = request.getfixturevalue("scene_file")(scene)
        (tmp_path / "kunline.db").write_bytes(path.read_bytes())
        yield f"sqlite:///{tmp_path / 'kunline.db'}"
        return
    running: Cluster = request.getfixturevalue("cluster")
    name = running.create(template=request.getfixturevalue("scene_template")(scene))
    yield running.url_of(name)
    running.drop(name)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """Open such a database."""
    opened = create_database(url, connections=40)
    yield opened
    opened.dispose()


@pytest.fixture(scope="session")
def history_file(scene_file: Callable[[Scene | None], Path]) -> Path:
    """Give a SQLite file with nights that have one step in them, of which each test's is a copy."""
    return scene_file(nights_with_a_step)


@pytest.fixture(scope="session")
def history_template(scene_template: Callable[[Scene | None], str]) -> str:
    """Give a database with nights that have one step in them, of which each test's is a copy."""
    return scene_template(nights_with_a_step)


@pytest.fixture(params=BOTH)
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Open a copy of the nights with one step in them."""
    if request.param == "sqlite":
        path: Path = request.getfixturevalue("history_file")
        (tmp_path / "kunline.db").write_bytes(path.read_bytes())
        opened = create_database(f"sqlite:///{tmp_path / 'kunline.db'}", connections=40)
        yield opened
        opened.dispose()
        return
    running: Cluster = request.getfixturevalue("cluster")
    name = running.create(template=request.getfixturevalue("history_template"))
    opened = create_database(running.url_of(name), connections=40)
    yield opened
    opened.dispose()
    running.drop(name)


@pytest.fixture
def history_copy(history_file: Path, tmp_path: Path) -> Iterator[Engine]:
    """Give a copy of the played history on SQLite alone."""
    (tmp_path / "kunline.db").write_bytes(history_file.read_bytes())
    engine = create_database(f"sqlite:///{tmp_path / 'kunline.db'}", connections=10)
    yield engine
    engine.dispose()


@pytest.fixture
def event(engine: Engine) -> EventRead:
    """Find the one event of the played history, which a module's own engine holds."""
    with reading(engine) as session:
        (found,) = list_events(session, EventFilter(), limit=5, cursor=None).events
    return found
