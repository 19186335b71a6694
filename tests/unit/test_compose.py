"""The compose file: it fits the Compose specification, and names only settings that exist.

The specification's own schema is somebody else's text. The models below are ours: they hold the
part of it that the file uses, and refuse every other key.
"""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings

from tests.tracked_files import ROOT, text_of

COMPOSE = Path("docker-compose.yml")
EXAMPLE = Path(".env.example")

Duration = Annotated[str, Field(pattern=r"^(?:\d+h)?(?:\d+m)?(?:\d+s)?$", min_length=2)]
Size = Annotated[str, Field(pattern=r"^\d+[bkmg]$")]
Port = Annotated[str, Field(pattern=r"^(?:[^:]+:)?(?:\$\{[^}]+\}|\d+):\d+$")]
Mount = Annotated[str, Field(pattern=r"^(?:[a-z][a-z0-9_-]*|/[^:]+):/[^:]+(?::ro)?$")]
Node = Annotated[str, Field(pattern=r"^/dev/[^:]+:/dev/[^:]+$")]
Image = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._/-]*:[A-Za-z0-9._-]+$")]


class Part(BaseModel):
    """A part of the file; a key that the specification lacks is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Healthcheck(Part):
    test: list[str] = Field(min_length=2)
    interval: Duration
    timeout: Duration
    retries: int = Field(ge=1)
    start_period: Duration | None = None


class Dependency(Part):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Service(Part):
    image: Image
    build: Literal["."] | None = None
    command: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    depends_on: dict[str, Dependency] = Field(default_factory=dict)
    volumes: list[Mount] = Field(default_factory=list)
    ports: list[Port] = Field(default_factory=list)
    networks: list[str] = Field(default_factory=list)
    network_mode: Literal["host"] | None = None
    profiles: list[str] = Field(default_factory=list)
    devices: list[Node] = Field(default_factory=list)
    healthcheck: Healthcheck | None = None
    restart: Literal["no", "always", "on-failure", "unless-stopped"]
    stop_grace_period: Duration | None = None
    init: bool = False
    read_only: bool = False
    tmpfs: list[str] = Field(default_factory=list)
    shm_size: Size | None = None
    cap_drop: list[str] = Field(default_factory=list)
    security_opt: list[str] = Field(default_factory=list)


class Network(Part):
    internal: bool = False


class Compose(Part):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    services: dict[str, Service]
    volumes: dict[str, None]
    networks: dict[str, Network | None]


def document() -> dict[str, Any]:
    """Return the file as YAML, without the extension fields that its anchors stand in."""
    whole = yaml.safe_load(text_of(COMPOSE))
    return {name: part for name, part in whole.items() if not name.startswith("x-")}


def compose() -> Compose:
    """Return the file, read strictly."""
    return Compose.model_validate(document())


def fields_of(module: str) -> set[str]:
    """Return the environment variables that a room's Settings read."""
    settings: type[BaseSettings] = import_module(module).Settings
    prefix = settings.model_config["env_prefix"]
    return {f"{prefix}{name}".upper() for name in settings.model_fields}


SERVICES = compose().services
OURS = {name: service for name, service in SERVICES.items() if service.build is not None}


def test_the_file_holds_the_production_shape() -> None:
    assert {name for name, service in SERVICES.items() if not service.profiles} == {
        *("db", "redis", "migrate", "api", "worker", "scheduler", "runner")
    }


def test_a_runner_host_is_a_profile_of_its_own_that_starts_nothing_of_the_service() -> None:
    host = SERVICES["runner-host"]

    assert host.profiles == ["runner-host"]
    assert (host.depends_on, host.networks, host.network_mode) == ({}, [], "host")
    assert host.environment["KUNLINE_LOCK_DIR"] in {
        mount.split(":")[1] for mount in host.volumes if mount.startswith("/run/")
    }


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_has_networks_or_the_hosts_own(name: str) -> None:
    assert bool(SERVICES[name].networks) is (SERVICES[name].network_mode is None)


def test_a_key_that_the_specification_lacks_is_refused() -> None:
    wrong = document()
    wrong["services"]["api"]["comand"] = ["kunline", "serve"]

    with pytest.raises(ValidationError, match=r"services\.api\.comand"):
        Compose.model_validate(wrong)


def test_what_a_service_refers_to_is_there() -> None:
    read = compose()
    mounted = {
        mount.partition(":")[0]
        for service in SERVICES.values()
        for mount in service.volumes
        if not mount.startswith("/")
    }
    networks = {network for service in SERVICES.values() for network in service.networks}
    needed = {name for service in SERVICES.values() for name in service.depends_on}

    assert mounted == set(read.volumes)
    assert networks == set(read.networks)
    assert needed <= set(SERVICES)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_who_waits_for_health_waits_for_somebody_who_tells_it(name: str) -> None:
    waited_for = {
        other
        for other, dependency in SERVICES[name].depends_on.items()
        if dependency.condition == "service_healthy"
    }

    assert {other for other in waited_for if SERVICES[other].healthcheck is None} == set()


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_an_image_is_pinned_and_names_no_host(name: str) -> None:
    first, slash, _ = SERVICES[name].image.partition("/")

    assert not (slash and re.search(r"[.:]|^localhost$", first))
    assert not SERVICES[name].image.endswith(":latest")


def test_only_the_api_is_published_and_on_loopback_unless_told() -> None:
    published = {name: service.ports for name, service in SERVICES.items() if service.ports}

    assert published == {"api": ["${API_ADDRESS:-127.0.0.1:8000}:8000"]}


def test_database_and_broker_are_reached_from_inside_alone() -> None:
    assert SERVICES["db"].networks == SERVICES["redis"].networks == ["inside"]
    assert compose().networks["inside"] == Network(internal=True)


def test_the_broker_keeps_what_it_has_and_never_evicts() -> None:
    words = SERVICES["redis"].command
    options = dict(zip(words[1::2], words[2::2], strict=True))

    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "everysec"
    assert options["--maxmemory-policy"] == "noeviction"


@pytest.mark.parametrize("name", sorted(OURS))
def test_our_own_services_run_without_privileges(name: str) -> None:
    assert OURS[name].read_only
    assert OURS[name].cap_drop == ["ALL"]
    assert OURS[name].security_opt == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_setting_named_is_one_that_the_process_reads(name: str) -> None:
    room = "runners.config" if name.startswith("runner") else "service.config"
    named = {key for key in OURS[name].environment if key.startswith("KUNLINE_")}

    assert named - fields_of(room) == set()


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_command_is_one_of_ours(name: str) -> None:
    assert OURS[name].command[0] == "kunline"
    assert OURS[name].command[1:] in (
        [["db", "migrate"]]
        if name == "migrate"
        else [[{"api": "serve", "runner-host": "runner"}.get(name, name)]]
    )


def test_the_example_names_every_variable_that_is_filled_in_and_no_other() -> None:
    filled_in = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", text_of(COMPOSE)))
    offered = set(re.findall(r"^([A-Z_]+)=", text_of(EXAMPLE), flags=re.MULTILINE))

    assert offered == filled_in


def test_the_image_installs_what_the_lock_pins_and_runs_as_nobody_special() -> None:
    words = (ROOT / "Dockerfile").read_text(encoding="utf-8")

    assert "--require-hashes" in words
    assert re.findall(r"^USER (.*)$", words, flags=re.MULTILINE) == ["kunline"]


def test_the_image_is_built_with_every_folder_that_the_wheel_holds() -> None:
    copied = re.findall(
        r"^COPY (?:--from=web /)?(\S+) /build/\1$",
        text_of(Path("Dockerfile")),
        flags=re.MULTILINE,
    )
    wheel = tomllib.loads(text_of(Path("pyproject.toml")))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]

    assert {*wheel["only-include"], *wheel["force-include"]} <= set(copied)
